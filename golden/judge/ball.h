/* Values with error bounds, for operations in which errors propagate through several steps.
 *
 * A struct near is the reference's value x and an upper bound e of the difference of any correct
 * implementation's value.  Each function computes the value as the reference does and propagates
 * the errors of its arguments, to first order or by interval, adding the rounding of arithmetic
 * with unit roundoff u.  u = 0: errors are not computed, and e is meaningless. */
#ifndef GOLDEN_NEAR_H
#define GOLDEN_NEAR_H

#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"

struct near {
    double x, e;
};

/* An array of them; e NULL: exact, or errors are not computed. */
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

/* The larger and the smaller of two; NaN, with error INFINITY, if the value of one is. */
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

/* Element i of operand `arg`; for quantised operands with the rounding of dequantisation. */
static inline struct near near_operand(const struct call *c, int arg, size_t i)
{
    double x = c->x[arg][i], e = c->ex[arg] ? c->ex[arg][i] : 0;

    return (struct near){ x, c->arg[arg]->scale != 0 ? e + c->unit * fabs(x) : e };
}

/* Whether comparing the two gives the same result in every correct implementation.  Equal numbers
 * are undecided even if exact: NNAPI rarely specifies whether a limit is inclusive. */
static inline bool near_decided(struct near a, struct near b)
{
    return fabs(a.x - b.x) > a.e + b.e;
}

/* Clamps to lo..hi. */
struct near near_clamp(struct near a, double lo, double hi);
/* Clamps to -limit..limit; limit 0: returns a. */
struct near near_clip(struct near a, double limit);

struct near near_logistic(struct near a, double u);
struct near near_tanh(struct near a, double u);

/* Normalises n consecutive values in place: (x - mean) / standard deviation.  An epsilon of 1e-8
 * is added to the variance, which may be zero; the error covers other ways in which implementations
 * avoid the division by zero.  scratch: [n], if u is not 0. */
void near_normalise(const struct near_array *a, size_t n, double u, double dot_factor,
                    double *scratch);

#endif
