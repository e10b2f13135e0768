/* Arithmetic on error bounds, shared by the operations' bound() functions.
 *
 * A bound e of a value y means that a correct implementation's value lies in [y - e, y + e].
 * Bounds are never NaN; INFINITY means that any value is correct.  u is the unit roundoff of the
 * arithmetic being judged (struct call: unit), so that one ulp of y is at most 2 * u * |y|. */
#ifndef GOLDEN_BOUNDS_H
#define GOLDEN_BOUNDS_H

#include <float.h>
#include <math.h>

#include "golden/model/op.h"

/* Formulas give NaN for infinite values (inf - inf): no bound is known then. */
static inline double bound_clean(double e)
{
    return e >= 0 ? e : INFINITY;
}

/* The error of x * f where f has error e: 0 for an exact factor, even if x is infinite. */
static inline double bound_scaled(double x, double e)
{
    return e > 0 ? fabs(x) * e : 0;
}

/* fmax() and fmin(), inlined and without branches: given NaN and a number, they return the
 * number. */
static inline double bound_larger(double a, double b)
{
    double larger = a > b ? a : b;
    return isnan(b) ? a : larger;
}

static inline double bound_smaller(double a, double b)
{
    double smaller = a < b ? a : b;
    return isnan(b) ? a : smaller;
}

/* Distance from y to the farther end of [lo, hi], the interval of all correct values. */
static inline double bound_interval(double y, double lo, double hi)
{
    return bound_clean(bound_larger(bound_larger(hi - y, y - lo), 0));
}

/* Whether unit roundoff u is that of half precision. */
static inline bool bound_is_half(double u)
{
    return u > 0x1p-16;
}

/* The largest finite number. */
static inline double bound_largest(double u)
{
    return bound_is_half(u) ? 65504 : (double) FLT_MAX;
}

/* Whether x, with error e > 0, may exceed the largest finite number: it may then be infinite, and
 * results computed from it NaN. */
static inline bool bound_overflows(double x, double e, double u)
{
    return e > 0 && !(fabs(x) + e <= bound_largest(u));
}

/* The error e of a sum whose terms' magnitudes have this sum: INFINITY where a partial sum may
 * exceed the largest finite number.  */
static inline double bound_partial_sums(double e, double magnitudes, double u)
{
    return magnitudes > bound_largest(u) ? INFINITY : e;
}

/* Smallest normal number: below it implementations may flush to zero or lose precision. */
static inline double bound_tiny(double u)
{
    return bound_is_half(u) ? 0x1p-14 : FLT_MIN;
}

/* Relative error of exp(x) as implementations compute it: 3 + 2|x| ulps in single precision, where
 * the last term is the rounding of the argument when it is reduced (TOSA specification). */
static inline double bound_exp(double u, double x)
{
    return 2 * u * ((bound_is_half(u) ? 1 : 3) + 2 * fabs(x));
}

/* Error of y = tanh(x), without that of storing it.  As 1 - 2 / (1 + exp(2x)): the relative error
 * of the exponential is multiplied by (1 - y^2) / 2; the difference has an error of up to 2 ulps of
 * 1, even for a small result.  As a quotient of two polynomials: 5 roundings of values near y. */
static inline double bound_tanh(double u, double x, double y)
{
    return (1 - y * y) / 2 * bound_exp(u, 2 * x) + (4 + fabs(y)) * u;
}

/* Adds to ey[0] the error of requantising operands to the output's scale: half a step, since
 * implementations may truncate instead of rounding. */
void bound_requantisation(struct call *c);

/* Error of a sum of k terms whose absolute values sum to `magnitude`: the roundings are a random
 * walk (docs/judging.md). */
static inline double bound_sum(const struct call *c, size_t k, double magnitude)
{
    return c->dot_factor * sqrt((double) k) * c->unit * magnitude;
}

/* The same as a multiple of u * magnitude, for sums that have no whole-tensor tests: in a short sum
 * no term is rounded more often than there are terms, plus two for storing and reloading the
 * result. */
static inline double bound_roundings(double dot_factor, size_t k)
{
    return fmin(dot_factor * sqrt((double) k), (double) k + 2);
}

#endif
