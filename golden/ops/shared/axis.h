/* One dimension of a tensor, selected by an operand: the tensor is seen as [outer][len][inner]. */
#ifndef GOLDEN_AXIS_H
#define GOLDEN_AXIS_H

#include "golden/model/op.h"

struct axis {
    uint32_t dim;
    size_t outer, len, inner;
};

/* index: of a dimension of s, in -rank..rank-1; a negative one counts from the end. */
struct axis axis_of(const struct shape *s, int32_t index);

/* The shape s without that dimension; [1] when none is left. */
struct shape axis_removed(const struct shape *s, int32_t index);

/* The dimension of input 0 that scalar `role` selects, for eval() and bound(). */
struct axis call_axis(const struct call *c, int role);

/* For infer(): checks that scalar `role`, if known, is in -rank..rank-1 of input 0. */
int axis_check(const struct call *c, int role, struct why *w);

#endif
