/* Values with error bounds, for operations in which errors propagate through several steps.
 *
 * A struct ball is the reference's value x and an upper bound e of the difference of any correct
 * implementation's value.  Each function computes the value as the reference does and propagates
 * the errors of its arguments, to first order or by interval, adding the rounding of arithmetic
 * with unit roundoff u.  u = 0: errors are not computed, and e is meaningless. */
#ifndef GOLDEN_BALL_H
#define GOLDEN_BALL_H

#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"

struct ball {
    double x, e;
};

/* An array of them; e NULL: exact, or errors are not computed. */
struct ball_array {
    double *x, *e;
};

static inline struct ball ball_at(const struct ball_array *a, size_t i)
{
    return (struct ball){ a->x[i], a->e ? a->e[i] : 0 };
}

static inline void ball_put(const struct ball_array *a, size_t i, struct ball y)
{
    a->x[i] = y.x;
    if (a->e)
        a->e[i] = bound_clean(y.e);
}

static inline struct ball_array ball_from(const struct ball_array *a, size_t i)
{
    return (struct ball_array){ a->x + i, a->e ? a->e + i : NULL };
}

static inline struct ball ball_sum(struct ball a, struct ball b, double u)
{
    double x = a.x + b.x;

    return (struct ball){ x, bound_clean(a.e + b.e + u * fabs(x)) };
}

static inline struct ball ball_difference(struct ball a, struct ball b, double u)
{
    return ball_sum(a, (struct ball){ -b.x, b.e }, u);
}

static inline struct ball ball_product(struct ball a, struct ball b, double u)
{
    double x = a.x * b.x;

    return (struct ball){ x, bound_clean(bound_scaled(a.x, b.e) + bound_scaled(b.x, a.e) +
                                         a.e * b.e + u * fabs(x) + (u > 0 ? bound_tiny(u) : 0)) };
}

static inline struct ball ball_quotient(struct ball a, struct ball b, double u)
{
    double q = a.x / b.x, room = fabs(b.x) - b.e;

    if (!(room > 0)) /* the divisor may be zero */
        return (struct ball){ q, INFINITY };
    return (struct ball){ q, bound_clean((a.e + bound_scaled(q, b.e)) / room + u * fabs(q) +
                                         (u > 0 ? bound_tiny(u) : 0)) };
}

static inline struct ball ball_exp(struct ball a, double u)
{
    double y = elementary_exp(a.x), grown = a.e > 0 ? elementary_expm1(a.e) : 0;

    return (struct ball){ y, bound_clean(y * (grown + (u > 0 ? bound_exp(u, a.x) : 0))) };
}

/* The larger and the smaller of two; NaN with error INFINITY if one of the values is NaN. */
static inline struct ball ball_max(struct ball a, struct ball b)
{
    double x = a.x > b.x || isnan(a.x) ? a.x : b.x;
    double lo = bound_larger(a.x - a.e, b.x - b.e), hi = bound_larger(a.x + a.e, b.x + b.e);

    return (struct ball){ x, isnan(x) ? INFINITY : bound_interval(x, lo, hi) };
}

static inline struct ball ball_min(struct ball a, struct ball b)
{
    double x = a.x < b.x || isnan(a.x) ? a.x : b.x;
    double lo = bound_smaller(a.x - a.e, b.x - b.e), hi = bound_smaller(a.x + a.e, b.x + b.e);

    return (struct ball){ x, isnan(x) ? INFINITY : bound_interval(x, lo, hi) };
}

static inline struct ball ball_exact(double x)
{
    return (struct ball){ x, 0 };
}

/* Element i of operand `arg`; for quantised operands with the rounding of dequantisation. */
static inline struct ball ball_operand(const struct call *c, int arg, size_t i)
{
    double x = c->x[arg][i], e = c->ex[arg] ? c->ex[arg][i] : 0;

    return (struct ball){ x, c->arg[arg]->scale != 0 ? e + c->unit * fabs(x) : e };
}

/* Whether comparing the two gives the same result in every correct implementation.  Equal numbers
 * are undecided even if exact: NNAPI rarely specifies whether a limit is inclusive. */
static inline bool ball_decided(struct ball a, struct ball b)
{
    return fabs(a.x - b.x) > a.e + b.e;
}

/* Clamps to lo..hi. */
struct ball ball_clamp(struct ball a, double lo, double hi);
/* Clamps to -limit..limit; limit 0: returns a. */
struct ball ball_clip(struct ball a, double limit);

struct ball ball_logistic(struct ball a, double u);
struct ball ball_tanh(struct ball a, double u);
/* to[i] = ball_logistic(a[i], u), for n values */
void ball_logistic_all(const struct ball_array *a, size_t n, double u, const struct ball_array *to);

/* Normalises n consecutive values in place: (x - mean) / standard deviation.  An epsilon of 1e-8
 * is added to the variance, which may be zero; the error covers other ways in which implementations
 * avoid the division by zero.  scratch: [n], if u is not 0. */
void ball_normalise(const struct ball_array *a, size_t n, double u, double dot_factor,
                    double *scratch);

#endif
