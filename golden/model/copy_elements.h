/* Copying elements between dense arrays, for operations that only move data.  An element is a
 * number of bytes, so the same code copies stored values, widened values and bounds. */
#ifndef GOLDEN_MOVER_H
#define GOLDEN_MOVER_H

#include "golden/model/tensor.h"

/* One axis of a multi-dimensional block: n elements; strides of source and destination, in
 * elements. */
struct mover_axis {
    size_t n;
    ptrdiff_t from, to;
};

enum { MOVER_AXES = 2 * MAX_RANK };

/* Copies a block of rank <= MOVER_AXES, the last axis innermost.  size: bytes of an element.
 * Source strides may be 0 (repeat) or negative.  The arrays must not overlap. */
void mover_copy(size_t size, const struct mover_axis *axis, uint32_t rank, const void *from,
                void *to);

/* Fills n elements with *value. */
void mover_fill(size_t size, const void *value, size_t n, void *to);

/* Strides of a row-major array, in elements. */
void mover_strides(const struct shape *s, ptrdiff_t ret_stride[MAX_RANK]);

/* Product of the dimensions lo..hi-1. */
size_t mover_count(const struct shape *s, uint32_t lo, uint32_t hi);

#endif
