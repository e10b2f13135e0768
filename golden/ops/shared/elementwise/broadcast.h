/* Iteration over two operands that broadcast against each other.
 *
 * Shapes align at their last dimension; a dimension of 1 (or a missing one) repeats.  The iteration
 * visits the result in row-major order, in runs along which each operand either advances by one
 * element or repeats: equal shapes are one run, a scalar and a tensor are one run, a row added to
 * every row of a matrix is one run per row.  Adjacent dimensions that both operands treat alike are
 * merged, so that runs are as long as possible and no index is divided per element. */
#ifndef GOLDEN_BROADCAST_H
#define GOLDEN_BROADCAST_H

#include "golden/model/op.h"

/* The broadcast shape of a and b.  Fails where a dimension differs and is 1 in neither. */
int broadcast_shape(const struct shape *a, const struct shape *b, struct shape *ret_shape,
                    struct why *w);

/* For infer(): sets the shape of output 0 from inputs 0 and 1; its rank must be one that the typing
 * row allows. */
int broadcast_infer(struct call *c, struct why *w);

struct broadcast {
    size_t run;            /* elements of this run; never 0 */
    size_t at, a, b;       /* its first element in the result and in each operand */
    size_t step_a, step_b; /* 1: the operand advances along the run, 0: it repeats */

    int levels; /* outer loops, innermost first */
    struct broadcast_level {
        size_t count, done, step_a, step_b;
    } level[MAX_RANK];
};

/* for (more = broadcast_first(...); more; more = broadcast_next(...)).  Shapes must broadcast. */
bool broadcast_first(struct broadcast *it, const struct shape *a, const struct shape *b);
bool broadcast_next(struct broadcast *it);

#endif
