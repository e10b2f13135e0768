/* Reductions over several axes; inputs: the tensor, a tensor of axes and the keep_dims scalar.
 *
 * Axes may be negative (from the end) and repeated.  Reduced dimensions stay as 1 if keep_dims is
 * positive; if no dimension is left, the output has shape [1].  Every output folds its inputs in
 * row-major order; without inputs it is the fold's start value. */
#ifndef GOLDEN_REDUCE_H
#define GOLDEN_REDUCE_H

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/ops/shared/elementwise/broadcast.h"

#define REDUCE_INLINE static inline __attribute__((always_inline))

/* Roles, form and typing rows of the reductions. */
enum { REDUCE_INPUT, REDUCE_AXES, REDUCE_KEEP };
extern const struct role reduce_in[3], reduce_out[1];
extern const struct form reduce_forms[1];
extern const struct typing reduce_floats[2], reduce_bools[1], reduce_ordered[4];

/* infer(): sets the shape of output 0, if axes and keep_dims are known. */
int reduce_infer(struct call *c, struct why *w);

/* draw(): 1..rank different axes, sometimes one of them twice. */
bool reduce_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* Input 0's shape with every reduced dimension replaced by 1. */
struct shape reduce_kept_shape(const struct call *c);

/* Number of inputs folded into one output. */
size_t reduce_count(const struct call *c);

/* For bound(): one double per output, in scratch memory.  NULL with the reason: out of memory. */
double *reduce_scratch(const struct call *c, struct why *w);

/* bound() of a sum: the inputs' errors add up, and the additions round.  Roundings are a random
 * walk if the inputs vary; those of equal inputs may all have the same sign. */
int reduce_bound_sum(struct call *c, struct why *w);

/* y = f(...f(f(start, x0), x1)...) for every output; x has the shape of input 0. */
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

/* bound() of a fold that is monotone in every input: the folds of the lower and of the upper ends
 * of the inputs' intervals.  INFINITY for a NaN result: NNAPI does not specify effects of NaN. */
REDUCE_INLINE int reduce_bound_monotone(struct call *c, double start,
                                        double (*f)(double acc, double x), struct why *w)
{
    size_t n = tensor_count(c->out[0]), inputs = tensor_count(c->arg[REDUCE_INPUT]);
    const double *x = c->x[REDUCE_INPUT], *ex = c->ex[REDUCE_INPUT];
    double *end[] = { reduce_scratch(c, w), reduce_scratch(c, w) }, *y = c->y[0];
    double *shifted = arena_alloc_raw(c->scratch, inputs + 1, sizeof(double));

    if (!end[0] || !end[1] || !shifted)
        return why_no_memory_for(w, "%s: %zu elements", c->op->name, inputs);
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
