/* Fixed-point arithmetic for the operations that NNAPI defines by integer steps.
 *
 * A word of w bits with m integer bits stands for q * 2^(m + 1 - w): 16 bits with none are Q0.15,
 * with three Q3.12.  Products of two words keep the upper half, rounded to nearest with halves
 * upwards (the doubling multiplication of vector processors); right shifts round halves away from
 * zero; what does not fit saturates.  Exponential, logistic and hyperbolic tangent are short series
 * and Newton steps on such words, without tables: the public definition of these operations is the
 * result bit by bit. */
#ifndef GOLDEN_FIXED_POINT_H
#define GOLDEN_FIXED_POINT_H

#include <stdint.h>

/* A real factor: mantissa * 2^(shift - 31), the mantissa 0 or in [2^30, 2^31). */
struct fixed_factor {
    int32_t mantissa;
    int shift;
};

/* The factor nearest to a real number >= 0: 0 if it is below 2^-32, 2^62 if it is above. */
struct fixed_factor fixed_factor_of(double real);
/* x times the factor, rounded. */
int32_t fixed_scale(int32_t x, struct fixed_factor f);
/* 1 / sqrt(x); x <= 0 counts as 1. */
struct fixed_factor fixed_inverse_root(int32_t x);

/* x / 2^bits, halves away from zero; bits 0..31. */
int32_t fixed_shift_right(int32_t x, int bits);
/* A sum of products that was exact, as an accumulator of 32 bits holds it: it wraps. */
int32_t fixed_accumulator(double exact);

int16_t fixed_saturate_16(int32_t x);
int8_t fixed_saturate_8(int32_t x);
/* Product of words of 16 bits; the integer bits add up. */
int16_t fixed_multiply_16(int16_t a, int16_t b);

/* Q3.12 to Q0.15. */
int16_t fixed_logistic(int16_t x);
/* From a word with that many integer bits, 0..6, to Q0.15. */
int16_t fixed_tanh(int16_t x, int integer_bits);

#endif
