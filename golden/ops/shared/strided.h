/* Strided selection of a tensor's elements, for slices and reversals. */
#ifndef GOLDEN_SLICING_H
#define GOLDEN_SLICING_H

#include "golden/model/op.h"

/* Along one dimension: `count` elements at begin, begin + step, ... (step may be negative). */
struct slice_axis {
    uint32_t count;
    int64_t begin, step;
};

/* For move(): copies the selected elements of input 0 to output 0, in row-major order.  axis: one
 * per dimension of the input. */
void slice_move(const struct call *c, const struct slice_axis *axis, const struct movement *m);

#endif
