/* Arithmetic of error bounds, shared by the bound() of operations.
 *
 * A bound e of a value y says: a right implementation's value lies in [y - e, y + e].  Bounds are
 * never NaN; INFINITY means that any value is right.  u is the unit roundoff of the arithmetic that
 * is judged (struct call: unit), so that one ulp of y is at most 2 * u * |y|. */
#ifndef GOLDEN_BOUNDS_H
#define GOLDEN_BOUNDS_H

#include <float.h>
#include <math.h>

#include "golden/model/op.h"

/* Infinite values make NaN of honest formulas (inf - inf): nothing can be said then. */
static inline double bound_clean(double e)
{
    return e >= 0 ? e : INFINITY;
}

/* The error of the factor e in a product with x: 0 for an exact factor, even if x is infinite. */
static inline double bound_scaled(double x, double e)
{
    return e > 0 ? fabs(x) * e : 0;
}

/* fmax() and fmin(), in place: of a NaN and a number the number. */
static inline double bound_larger(double a, double b)
{
    return a > b || isnan(b) ? a : b;
}

static inline double bound_smaller(double a, double b)
{
    return a < b || isnan(b) ? a : b;
}

/* Distance from y to the farther end of the interval that holds all right values. */
static inline double bound_interval(double y, double lo, double hi)
{
    return bound_clean(bound_larger(bound_larger(hi - y, y - lo), 0));
}

/* Whether arithmetic of that roundoff is half precision. */
static inline bool bound_is_half(double u)
{
    return u > 0x1p-16;
}

/* Whether x, off by e, may have left the range of the arithmetic: it may be infinite then, and what
 * is made of it no number. */
static inline bool bound_overflows(double x, double e, double u)
{
    return e > 0 && !(fabs(x) + e <= (bound_is_half(u) ? 65504 : (double) FLT_MAX));
}

/* Smallest normal number: below it implementations flush to zero or lose digits. */
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

/* Adds to ey[0] what bringing operands to the result's scale costs: implementations may cut off the
 * fraction of a step instead of rounding it. */
void bound_requantised(struct call *c);

/* Sum of k terms whose absolute values sum to `magnitude`: a random walk of roundings (DESIGN.md,
 * section 4). */
static inline double bound_sum(const struct call *c, size_t k, double magnitude)
{
    return c->dot_factor * sqrt((double) k) * c->unit * magnitude;
}

/* The same as a factor, for sums of which no statistics are made: no term of a short sum is rounded
 * more often than there are terms, but for the result's being stored and taken up again. */
static inline double bound_roundings(double dot_factor, size_t k)
{
    return fmin(dot_factor * sqrt((double) k), (double) k + 2);
}

#endif
