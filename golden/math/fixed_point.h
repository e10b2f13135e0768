/* Fixed-point arithmetic for the operations that the public reference computes in integer steps.
 *
 * A word q of w bits with m integer bits represents q * 2^(m + 1 - w): 16 bits with none are Q0.15,
 * with three Q3.12.  The product of two words is their doubled product's upper half, rounded to
 * nearest with ties upwards (as the doubling multiplications of vector processors); right shifts
 * round half away from zero; results saturate.  Exponential, logistic and hyperbolic tangent are
 * short series and Newton iterations on such words, without tables: the public definition of these
 * operations prescribes the result bit by bit. */
#ifndef GOLDEN_FIXED_POINT_H
#define GOLDEN_FIXED_POINT_H

#include <stdint.h>

/* A real factor mantissa * 2^(shift - 31); the mantissa is 0 or in [2^30, 2^31). */
struct fixed_factor {
    int32_t mantissa;
    int shift;
};

/* The factor nearest to a real number >= 0; numbers below 2^-32 give 0, above 2^62 give 2^62. */
struct fixed_factor fixed_factor_of(double real);
/* x times the factor, rounded and saturated. */
int32_t fixed_scale(int32_t x, struct fixed_factor f);
/* 1 / sqrt(x), with a relative error below 2^-16; for x <= 0, that of 1. */
struct fixed_factor fixed_inverse_root(int32_t x);

/* x / 2^bits, rounded half away from zero; bits 0..31. */
int32_t fixed_shift_right(int32_t x, int bits);
/* An exact sum of products as held by a 32-bit accumulator: modulo 2^32. */
int32_t fixed_accumulator(double exact);

int16_t fixed_saturate_16(int32_t x);
int8_t fixed_saturate_8(int32_t x);
/* Product of 16-bit words; the result has the sum of their integer bits. */
int16_t fixed_multiply_16(int16_t a, int16_t b);

/* Logistic function, Q3.12 to Q0.15. */
int16_t fixed_logistic(int16_t x);
/* Hyperbolic tangent of a word with that many integer bits, 0..6, to Q0.15. */
int16_t fixed_tanh(int16_t x, int integer_bits);
/* Their results are not monotone: the most by which one is less than that of a smaller argument. */
enum { FIXED_ACTIVATION_DROP = 16 };

#endif
