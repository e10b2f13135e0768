/* Walking two operands that broadcast against each other.
 *
 * Shapes align at their last dimension; a dimension of 1 (or a missing one) repeats.  The walk
 * visits the result in row-major order, in runs along which each operand either advances by one
 * element or stays: equal shapes are one run, a scalar against a tensor is one run, a row added to
 * every row of a matrix is a run a row.  Dimensions that behave alike are merged, so that a run is
 * as long as it can be and nothing is divided per element. */
#ifndef GOLDEN_BROADCAST_H
#define GOLDEN_BROADCAST_H

#include "golden/model/op.h"

/* Shape of two operands together.  -1: a dimension differs and is 1 in neither. */
int broadcast_shape(const struct shape *a, const struct shape *b, struct shape *ret_shape,
                    struct why *w);

/* For infer(): shape of output 0 from inputs 0 and 1, of a rank that the typing row allows. */
int broadcast_infer(struct call *c, struct why *w);

struct broadcast {
    size_t run;            /* elements of this run; never 0 */
    size_t at, a, b;       /* where it begins: in the result, in the operands */
    size_t step_a, step_b; /* 1 or 0: how the operands advance along it */

    int levels; /* outer loops, innermost first */
    struct broadcast_level {
        size_t count, done, step_a, step_b;
    } level[MAX_RANK];
};

/* for (more = broadcast_first(...); more; more = broadcast_next(...)).  The shapes broadcast. */
bool broadcast_first(struct broadcast *it, const struct shape *a, const struct shape *b);
bool broadcast_next(struct broadcast *it);

#endif
