/* Reductions over several axes: input 0 and a tensor of axes to output 0.
 *
 * Axes may be negative (from the end) and repeated.  Reduced dimensions stay as 1 if the keep-dims
 * scalar is positive; when none is left the result has shape [1].  Every output folds its inputs in
 * row-major order. */
#ifndef GOLDEN_REDUCE_H
#define GOLDEN_REDUCE_H

#include "golden/bounds.h"
#include "golden/broadcast.h"

#define REDUCE_INLINE static inline __attribute__((always_inline))

/* For infer(): shape of output 0, where the axes and keep-dims are known. */
int reduce_infer(struct call *c, int axes_role, int keep_role, struct why *w);

/* For draw(): 1 to rank different axes. */
bool reduce_draw_axes(const struct call *c, struct drawer *d, struct tensor *to);

/* Input 0's shape with a 1 in place of every reduced dimension. */
struct shape reduce_kept_shape(const struct call *c, int axes_role);

/* Inputs that go into one output. */
size_t reduce_count(const struct call *c);

/* y = f(...f(f(start, x0), x1)...) of [n] values x[] shaped as input 0, for every output. */
REDUCE_INLINE void reduce_fold(const struct call *c, int axes_role, const double *x, double start,
                               double (*f)(double acc, double x), double *y)
{
    struct broadcast it;
    struct shape kept = reduce_kept_shape(c, axes_role);
    size_t n = shape_count(&kept);

    for (size_t i = 0; i < n; i++)
        y[i] = start;
    for (bool more = broadcast_first(&it, &c->arg[0]->shape, &kept); more;
         more = broadcast_next(&it)) {
        const double *from = x + it.a;
        double *to = y + it.b, acc = *to;
        if (it.step_b)
            for (size_t i = 0; i < it.run; i++)
                to[i] = f(to[i], from[i]);
        else {
            for (size_t i = 0; i < it.run; i++)
                acc = f(acc, from[i]);
            *to = acc;
        }
    }
}

#endif
