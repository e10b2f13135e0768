/* Rounding to an integer type as tensor_narrow() does, without branches, so that loops can be
 * vectorised. */
#ifndef GOLDEN_ROUNDING_H
#define GOLDEN_ROUNDING_H

#include <math.h>

/* The range of a type's integers minus the zero point.  Quotients saturate to it before the zero
 * point is added, which gives the same result as saturating afterwards. */
struct rounding_range {
    double lo, hi;
};

/* Saturates x and adds almost a half, away from zero; truncating the result rounds x half away from
 * zero.  With 0.5 itself, the largest number below a tie would be rounded up in the sum.  NaN gives
 * 0, which represents real zero. */
static inline double round_half_away(double x, struct rounding_range r)
{
    const double almost_half = 0x1.fffffffffffffp-2;
    double v = x < r.lo ? r.lo : x;

    v = v > r.hi ? r.hi : v;
    v = isnan(v) ? 0 : v;
    return v + copysign(almost_half, v);
}

#endif
