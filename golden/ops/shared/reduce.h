/* Reductions over several axes: input 0, a tensor of axes and a keep-dims scalar to output 0.
 *
 * Axes may be negative (from the end) and repeated.  Reduced dimensions stay as 1 if the keep-dims
 * scalar is positive; when none is left the result has shape [1].  Every output folds its inputs in
 * row-major order; without inputs it is what the fold starts from. */
#ifndef GOLDEN_REDUCE_H
#define GOLDEN_REDUCE_H

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/ops/shared/elementwise/broadcast.h"

#define REDUCE_INLINE static inline __attribute__((always_inline))

/* The roles of all reductions, and what most of their records share. */
enum { REDUCE_INPUT, REDUCE_AXES, REDUCE_KEEP };
extern const struct role reduce_in[3], reduce_out[1];
extern const struct form reduce_forms[1];
extern const struct typing reduce_floats[2], reduce_bools[1], reduce_ordered[4];

/* infer(): shape of output 0, where the axes and keep-dims are known. */
int reduce_infer(struct call *c, struct why *w);

/* draw(): 1 to rank different axes. */
bool reduce_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* Input 0's shape with a 1 in place of every reduced dimension. */
struct shape reduce_kept_shape(const struct call *c);

/* Inputs that go into one output. */
size_t reduce_count(const struct call *c);

/* For bound(): one double an output, in scratch memory; NULL after why_fail(). */
double *reduce_scratch(const struct call *c, struct why *w);

/* bound() of the sum of the inputs: their errors add, and the additions round.  Roundings are a
 * random walk where the inputs vary; equal inputs may all round to the same side. */
int reduce_bound_sum(struct call *c, struct why *w);

/* y = f(...f(f(start, x0), x1)...) of [n] values x[] shaped as input 0, for every output. */
REDUCE_INLINE void reduce_fold(const struct call *c, const double *x, double start,
                               double (*f)(double acc, double x), double *y)
{
    struct broadcast it;
    struct shape kept = reduce_kept_shape(c);
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

/* bound() of a fold that grows with every input: the fold of either end of their intervals.  NNAPI
 * does not say what a NaN does to it. */
REDUCE_INLINE int reduce_bound_monotone(struct call *c, double start,
                                        double (*f)(double acc, double x), struct why *w)
{
    size_t n = tensor_count(c->out[0]), inputs = tensor_count(c->arg[REDUCE_INPUT]);
    const double *x = c->x[REDUCE_INPUT], *ex = c->ex[REDUCE_INPUT];
    double *end[] = { reduce_scratch(c, w), reduce_scratch(c, w) }, *y = c->y[0];
    double *shifted = arena_alloc_raw(c->scratch, inputs + 1, sizeof(double));

    if (!end[0] || !end[1] || !shifted)
        return why_fail(w, WHY_MEMORY, "%s: no memory for %zu elements", c->op->name, inputs);
    for (int k = 0; k < 2 && ex; k++) {
        for (size_t i = 0; i < inputs; i++)
            shifted[i] = k ? x[i] + ex[i] : x[i] - ex[i];
        reduce_fold(c, shifted, start, f, end[k]);
    }
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = isnan(y[i]) ? INFINITY : ex ? bound_interval(y[i], end[0][i], end[1][i]) : 0;
    return 0;
}

#endif
