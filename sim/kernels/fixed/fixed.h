/* Fixed-point arithmetic as integer hardware does it: real factors are a 32-bit mantissa and a
 * shift, computed when a model is compiled; what runs is integer. */
#ifndef SIM_FIXED_H
#define SIM_FIXED_H

#include "sim/kernels/kernel.h"

/* mantissa * 2^-shift; mantissa in [2^30, 2^31), or 0. */
struct factor {
    int64_t mantissa;
    int shift;
};
/* The factor nearest to a real number >= 0. */
struct factor factor_of(double real);

/* value * 2^-shift, halves away from zero; with truncate towards zero.  shift may be negative (then
 * it saturates) or large. */
int64_t shift_round(int64_t value, int shift, bool truncate);

/* x * factor rounded to an integer; |x| < 2^32. */
int64_t factor_apply(int64_t x, struct factor f, bool truncate);

/* Two factors with one shift, so that a * m[0] + b * m[1] is one sum. */
struct factor_pair {
    int64_t mantissa[2];
    int shift;
};
struct factor_pair factor_pair_of(double a, double b);

/* floor(sqrt(x)) */
uint64_t integer_root(uint64_t x);

/* ---- operands of 8-bit kernels */

/* Element i without its zero point. */
static inline int32_t fixed_at(const struct tensor *t, size_t i)
{
    int32_t q = t->dtype == DT_U8 ? ((const uint8_t *) t->data)[i] : ((const int8_t *) t->data)[i];

    return q - t->zero;
}

/* What a result may be, zero point not yet added: range of the type and of the fused activation. */
struct fixed_range {
    int32_t lo, hi;
};
struct fixed_range fixed_range(const struct kernel_call *k, const struct tensor *out);

/* Clamps, adds the zero point, stores. */
void fixed_put(struct tensor *t, size_t i, int64_t q, struct fixed_range r);

#endif
