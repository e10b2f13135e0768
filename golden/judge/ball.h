/* Values with their errors, for operations in which errors pass through several steps.
 *
 * A struct near is a value and how far an implementation may be from it.  Each function computes
 * as the reference does and carries the errors of its arguments through, to first order or by
 * interval, adding what arithmetic of roundoff u may add.  u = 0: errors are not asked for, and e
 * says nothing. */
#ifndef GOLDEN_NEAR_H
#define GOLDEN_NEAR_H

#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"

struct near {
    double x, e;
};

/* An array of them; e NULL: exact, or not asked for. */
struct near_array {
    double *x, *e;
};

static inline struct near near_at(const struct near_array *a, size_t i)
{
    return (struct near){ a->x[i], a->e ? a->e[i] : 0 };
}

static inline void near_put(const struct near_array *a, size_t i, struct near y)
{
    a->x[i] = y.x;
    if (a->e)
        a->e[i] = bound_clean(y.e);
}

static inline struct near_array near_from(const struct near_array *a, size_t i)
{
    return (struct near_array){ a->x + i, a->e ? a->e + i : NULL };
}

static inline struct near near_sum(struct near a, struct near b, double u)
{
    double x = a.x + b.x;

    return (struct near){ x, bound_clean(a.e + b.e + u * fabs(x)) };
}

static inline struct near near_difference(struct near a, struct near b, double u)
{
    return near_sum(a, (struct near){ -b.x, b.e }, u);
}

static inline struct near near_product(struct near a, struct near b, double u)
{
    double x = a.x * b.x;

    return (struct near){ x, bound_clean(bound_scaled(a.x, b.e) + bound_scaled(b.x, a.e) +
                                         a.e * b.e + u * fabs(x) + (u > 0 ? bound_tiny(u) : 0)) };
}

static inline struct near near_quotient(struct near a, struct near b, double u)
{
    double q = a.x / b.x, room = fabs(b.x) - b.e;

    if (!(room > 0)) /* the divisor may be zero */
        return (struct near){ q, INFINITY };
    return (struct near){ q, bound_clean((a.e + bound_scaled(q, b.e)) / room + u * fabs(q) +
                                         (u > 0 ? bound_tiny(u) : 0)) };
}

static inline struct near near_exp(struct near a, double u)
{
    double y = elementary_exp(a.x), grown = a.e > 0 ? elementary_expm1(a.e) : 0;

    return (struct near){ y, bound_clean(y * (grown + (u > 0 ? bound_exp(u, a.x) : 0))) };
}

/* The larger and the smaller one; NaN if one is, of which nothing is known then. */
static inline struct near near_max(struct near a, struct near b)
{
    double x = a.x > b.x || isnan(a.x) ? a.x : b.x;
    double lo = bound_larger(a.x - a.e, b.x - b.e), hi = bound_larger(a.x + a.e, b.x + b.e);

    return (struct near){ x, isnan(x) ? INFINITY : bound_interval(x, lo, hi) };
}

static inline struct near near_min(struct near a, struct near b)
{
    double x = a.x < b.x || isnan(a.x) ? a.x : b.x;
    double lo = bound_smaller(a.x - a.e, b.x - b.e), hi = bound_smaller(a.x + a.e, b.x + b.e);

    return (struct near){ x, isnan(x) ? INFINITY : bound_interval(x, lo, hi) };
}

static inline struct near near_exact(double x)
{
    return (struct near){ x, 0 };
}

/* Element i of operand `arg`; quantised ones are scaled by implementations in their own precision.
 */
static inline struct near near_operand(const struct call *c, int arg, size_t i)
{
    double x = c->x[arg][i], e = c->ex[arg] ? c->ex[arg][i] : 0;

    return (struct near){ x, c->arg[arg]->scale != 0 ? e + c->unit * fabs(x) : e };
}

/* Whether a comparison of the two comes out the same in every right implementation.  Equal numbers
 * are undecided even if exact: NNAPI seldom says on which side of a limit the limit lies. */
static inline bool near_decided(struct near a, struct near b)
{
    return fabs(a.x - b.x) > a.e + b.e;
}

/* Into lo..hi. */
struct near near_clamp(struct near a, double lo, double hi);
/* Into -limit..limit; limit 0: as it is. */
struct near near_clip(struct near a, double limit);

struct near near_logistic(struct near a, double u);
struct near near_tanh(struct near a, double u);

/* In place: (x - mean) / deviation over n values that follow each other.  A variance of zero, where
 * the quotient has no value, is kept away by an epsilon of 1e-8, as implementations do in one way
 * or another.  scratch: room for n numbers, where errors are asked for. */
void near_normalise(const struct near_array *a, size_t n, double u, double dot_factor,
                    double *scratch);

#endif
