/* Rounding to the integers of a type, as tensor_narrow() does; for loops that are compiled for
 * vectors: no branches. */
#ifndef GOLDEN_ROUNDING_H
#define GOLDEN_ROUNDING_H

#include <math.h>

/* Quotients that the zero point may be added to: they saturate first, to whole numbers, which gives
 * the same as saturating last. */
struct rounding_range {
    double lo, hi;
};

/* Round half away from zero: what lies below a tie by one bit stays below it in the sum, which is
 * to be cut off.  NaN becomes 0, which the zero point stands for. */
static inline double round_half_away(double x, struct rounding_range r)
{
    const double almost_half = 0x1.fffffffffffffp-2;
    double v = x < r.lo ? r.lo : x;

    v = v > r.hi ? r.hi : v;
    v = isnan(v) ? 0 : v;
    return v + copysign(almost_half, v);
}

#endif
