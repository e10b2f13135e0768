/* Elements of a tensor at equal distances: what slices and reversals select. */
#ifndef GOLDEN_SLICING_H
#define GOLDEN_SLICING_H

#include "golden/model/op.h"

/* Along one dimension: count elements, from begin on, every step (negative: backwards). */
struct slice_axis {
    uint32_t count;
    int64_t begin, step;
};

/* For move(): input 0's elements to output 0, in row-major order; one axis a dimension of the
 * input.
 */
void slice_move(const struct call *c, const struct slice_axis *axis, const struct movement *m);

#endif
