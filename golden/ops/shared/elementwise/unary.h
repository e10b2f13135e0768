/* Element-wise operations of one operand that keep its shape: input 0, output 0. */
#ifndef GOLDEN_UNARY_H
#define GOLDEN_UNARY_H

#include "golden/judge/bounds.h"
#include "golden/model/op.h"

#define UNARY_INLINE static inline __attribute__((always_inline))

/* Parts of these records: an input of any shape, an output of the same shape, scale and zero point;
 * unary_floats: fp16 and fp32 from level 3 on; unary_clamped: the types of the level 1 clamps
 * (RELU, ...). */
extern const struct role unary_in[1], unary_out[1];
extern const struct form unary_forms[1];
extern const struct typing unary_floats[2], unary_clamped[4];

/* eval(): y = f(x) */
UNARY_INLINE void unary_eval(struct call *c, double (*f)(double x))
{
    size_t n = tensor_count(c->arg[0]);
    const double *x = c->x[0];
    double *y = c->y[0];

    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* The same with a function of n numbers. */
UNARY_INLINE void unary_eval_all(struct call *c,
                                 void (*f)(const double *x, size_t n, double *ret_y))
{
    f(c->x[0], tensor_count(c->arg[0]), c->y[0]);
}

/* eval_int(): the same on TENSOR_INT32 data. */
UNARY_INLINE void unary_eval_int(struct call *c, int32_t (*f)(int32_t x))
{
    size_t n = tensor_count(c->arg[0]);
    const int32_t *x = c->arg[0]->data;
    int32_t *y = c->out[0]->data;

    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* bound(): ey = error(x, y, e, u), where e is the error of x */
UNARY_INLINE void unary_bound(struct call *c,
                              double (*error)(double x, double y, double e, double u))
{
    size_t n = tensor_count(c->arg[0]);

    for (size_t i = 0; i < n; i++) {
        double e = c->ex[0] ? c->ex[0][i] : 0;
        c->ey[0][i] = bound_clean(error(c->x[0][i], c->y[0][i], e, c->unit));
    }
}

/* The error of y = f(x) for a monotone f, from its values at both ends of x's error interval.
 * INFINITY where the interval leaves f's domain, in which f gives NaN. */
UNARY_INLINE double unary_carry_monotone(double (*f)(double x), double x, double y, double e)
{
    double p, q;

    if (!(e > 0))
        return 0;
    if (e == INFINITY) /* x may be NaN, and so f(x) */
        return INFINITY;
    p = f(x - e);
    q = f(x + e);
    return isnan(p) || isnan(q) ? INFINITY
                                : bound_interval(y, bound_smaller(p, q), bound_larger(p, q));
}

/* bound(): the same for all elements, plus local(x, y, u), the error of computing f in arithmetic
 * that may flush a subnormal argument to zero.  local NULL: f is computed exactly. */
UNARY_INLINE void unary_bound_monotone(struct call *c, double (*f)(double x),
                                       double (*local)(double x, double y, double u))
{
    size_t n = tensor_count(c->arg[0]);

    for (size_t i = 0; i < n; i++) {
        double x = c->x[0][i], y = c->y[0][i], e = c->ex[0] ? c->ex[0][i] : 0;
        if (local && fabs(x) < bound_tiny(c->unit))
            e = bound_larger(e, fabs(x));
        double own = local && !isnan(y) ? local(x, y, c->unit) : 0;
        c->ey[0][i] = bound_clean(own + unary_carry_monotone(f, x, y, e));
    }
}

/* bound(): the same for an increasing f that is computed exactly and is so cheap that the loop
 * evaluates it for every element. */
UNARY_INLINE void unary_bound_clamp(struct call *c, double (*f)(double x))
{
    size_t n = c->ex[0] ? tensor_count(c->arg[0]) : 0;
    const double *restrict x = c->x[0], *restrict y = c->y[0], *restrict ex = c->ex[0];
    double *restrict ey = c->ey[0];

    for (size_t i = 0; i < n; i++) {
        double e = ex[i], lo = f(x[i] - e), hi = f(x[i] + e);
        double reach = bound_interval(y[i], lo, hi);
        reach = (isnan(lo) | isnan(hi) | (e == INFINITY)) ? INFINITY : reach;
        ey[i] = e > 0 ? reach : 0;
    }
}

/* bound() of operations that only change signs: the error of the input.  INFINITY for the smallest
 * TENSOR_INT32, whose negation is not representable. */
int unary_bound_carried(struct call *c, struct why *w);

#endif
