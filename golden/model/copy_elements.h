/* Copying elements between dense arrays: what operations that only move data are made of.  Elements
 * are bytes of a given size, so one mover serves stored values, widened values and bounds alike. */
#ifndef GOLDEN_MOVER_H
#define GOLDEN_MOVER_H

#include "golden/model/tensor.h"

/* One axis of a box: n elements; how far, in elements, the next one is. */
struct mover_axis {
    size_t n;
    ptrdiff_t from, to;
};

enum { MOVER_AXES = 2 * MAX_RANK };

/* Copies the box of rank <= MOVER_AXES, the last axis innermost.  `from` may step by 0 (repeating)
 * or backwards.  The arrays must not overlap. */
void mover_copy(size_t size, const struct mover_axis *axis, uint32_t rank, const void *from,
                void *to);

/* n elements equal to *value. */
void mover_fill(size_t size, const void *value, size_t n, void *to);

/* Elements from one index of dimension i to the next. */
void mover_strides(const struct shape *s, ptrdiff_t ret_stride[MAX_RANK]);

/* Number of elements of the dimensions lo..hi-1. */
size_t mover_count(const struct shape *s, uint32_t lo, uint32_t hi);

#endif
