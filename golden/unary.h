/* Element-wise operations of one operand that keep its shape: input 0, output 0. */
#ifndef GOLDEN_UNARY_H
#define GOLDEN_UNARY_H

#include "golden/bounds.h"
#include "golden/op.h"

#define UNARY_INLINE static inline __attribute__((always_inline))

/* y = f(x) */
UNARY_INLINE void unary_eval(struct call *c, double (*f)(double x))
{
    size_t n = tensor_count(c->arg[0]);
    const double *x = c->x[0];
    double *y = c->y[0];

    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
}

/* The error of a monotone f: that of its value at both ends of the argument's interval, plus the
 * error of computing it, local(x, y, u); local NULL: it is computed exactly. */
UNARY_INLINE void unary_bound_monotone(struct call *c, double (*f)(double x),
                                       double (*local)(double x, double y, double u))
{
    size_t n = tensor_count(c->arg[0]);

    for (size_t i = 0; i < n; i++) {
        double x = c->x[0][i], y = c->y[0][i], e = c->ex[0] ? c->ex[0][i] : 0;
        double ey = local ? local(x, y, c->unit) : 0;
        if (e > 0) {
            double p = f(x - e), q = f(x + e);
            ey += bound_interval(y, fmin(p, q), fmax(p, q));
        }
        c->ey[0][i] = bound_clean(ey);
    }
}

#endif
