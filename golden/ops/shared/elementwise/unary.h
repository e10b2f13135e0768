/* Element-wise operations of one operand that keep its shape: input 0, output 0. */
#ifndef GOLDEN_UNARY_H
#define GOLDEN_UNARY_H

#include "golden/judge/bounds.h"
#include "golden/model/op.h"

#define UNARY_INLINE static inline __attribute__((always_inline))

/* What most of these records share: an input of any shape, a result of the same shape, scale and
 * zero point; fp16 and fp32 from level 3 on; the types of the clamps of level 1. */
extern const struct role unary_in[1], unary_out[1];
extern const struct form unary_forms[1];
extern const struct typing unary_floats[2], unary_clamped[4];

/* y = f(x) */
UNARY_INLINE void unary_eval(struct call *c, double (*f)(double x))
{
    size_t n = tensor_count(c->arg[0]);
    const double *x = c->x[0];
    double *y = c->y[0];

    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* The same on raw TENSOR_INT32. */
UNARY_INLINE void unary_eval_int(struct call *c, int32_t (*f)(int32_t x))
{
    size_t n = tensor_count(c->arg[0]);
    const int32_t *x = c->arg[0]->data;
    int32_t *y = c->out[0]->data;

    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* ey = error(x, y, e, u), e being that of x */
UNARY_INLINE void unary_bound(struct call *c,
                              double (*error)(double x, double y, double e, double u))
{
    size_t n = tensor_count(c->arg[0]);

    for (size_t i = 0; i < n; i++) {
        double e = c->ex[0] ? c->ex[0][i] : 0;
        c->ey[0][i] = bound_clean(error(c->x[0][i], c->y[0][i], e, c->unit));
    }
}

/* The error of a monotone f at y = f(x): that of its value at both ends of the argument's interval.
 * It is NaN outside f's domain, and certain only for a certain argument. */
UNARY_INLINE double unary_carry_monotone(double (*f)(double x), double x, double y, double e)
{
    double p, q;

    if (!(e > 0))
        return 0;
    if (e == INFINITY) /* what may be anything may be no number, which f leaves so */
        return INFINITY;
    p = f(x - e);
    q = f(x + e);
    return isnan(p) || isnan(q) ? INFINITY : bound_interval(y, fmin(p, q), fmax(p, q));
}

/* The same for all elements, plus the error of computing f, local(x, y, u), whose arithmetic may
 * flush a subnormal argument to zero; local NULL: it is computed exactly. */
UNARY_INLINE void unary_bound_monotone(struct call *c, double (*f)(double x),
                                       double (*local)(double x, double y, double u))
{
    size_t n = tensor_count(c->arg[0]);

    for (size_t i = 0; i < n; i++) {
        double x = c->x[0][i], y = c->y[0][i], e = c->ex[0] ? c->ex[0][i] : 0;
        if (local && fabs(x) < bound_tiny(c->unit))
            e = fmax(e, fabs(x));
        double own = local && !isnan(y) ? local(x, y, c->unit) : 0;
        c->ey[0][i] = bound_clean(own + unary_carry_monotone(f, x, y, e));
    }
}

/* bound() of what only changes signs: the error of the input, on the other side or not.  The
 * smallest TENSOR_INT32 has no counterpart: nothing is certain of it. */
int unary_bound_carried(struct call *c, struct why *w);

#endif
