/* Fixed-point arithmetic of 8-bit kernels, as integer hardware does it: a real factor is an integer
 * mantissa and a shift, derived from scales in double; the elements are computed in integers. */
#ifndef SIM_FIXED_H
#define SIM_FIXED_H

#include "sim/kernels/kernel.h"

/* The real number mantissa * 2^-shift; mantissa in [2^30, 2^31), or 0. */
struct factor {
    int64_t mantissa;
    int shift;
};
/* The factor nearest to `real`, which is finite and >= 0. */
struct factor factor_of(double real);

/* value * 2^-shift, rounded half away from zero; with truncate, towards zero.  A negative shift
 * multiplies and saturates at +-2^40; a shift above 62 gives 0. */
int64_t shift_round(int64_t value, int shift, bool truncate);

/* x * f, rounded as shift_round() does; |x| < 2^32. */
int64_t factor_apply(int64_t x, struct factor f, bool truncate);

/* Factors of two operands with a common shift, so that a sum of both is rounded once:
 * (x * mantissa[0] + y * mantissa[1]) * 2^-shift. */
struct factor_pair {
    int64_t mantissa[2];
    int shift;
};
struct factor_pair factor_pair_of(double a, double b);

/* floor(sqrt(x)) */
uint64_t integer_root(uint64_t x);

/* ---- operands of 8-bit kernels */

/* Element i minus its zero point; DT_U8 is unsigned, every other type signed. */
static inline int32_t fixed_at(const struct tensor *t, size_t i)
{
    int32_t q = t->dtype == DT_U8 ? ((const uint8_t *) t->data)[i] : ((const int8_t *) t->data)[i];

    return q - t->zero;
}

/* Limits of a result before its zero point is added: the type's range in steps of out's scale;
 * fused: cut by the call's fused activation (ROLE_ACTIVATION). */
struct fixed_range {
    int32_t lo, hi;
};
struct fixed_range fixed_range(const struct tensor *out);
struct fixed_range fixed_fused_range(const struct kernel_call *k, const struct tensor *out);

/* Clamps q to r, adds the zero point and stores it as element i. */
void fixed_store(struct tensor *t, size_t i, int64_t q, struct fixed_range r);

#endif
