/* Strided selection of a tensor's elements, for slices and reversals. */
#ifndef GOLDEN_STRIDED_H
#define GOLDEN_STRIDED_H

#include "golden/model/op.h"

/* Along one dimension: `count` elements at begin, begin + step, ... (step may be negative). */
struct strided_axis {
    uint32_t count;
    int64_t begin, step;
};

/* For move(): copies the selected elements of input 0 to output 0, in row-major order.  axis: one
 * per dimension of the input. */
void strided_copy(const struct call *c, const struct strided_axis *axis, const struct movement *m);

#endif
