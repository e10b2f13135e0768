/* Copying elements between dense arrays, for operations that only move data.  An element is a
 * number of bytes, so the same code copies stored values, widened values and bounds. */
#ifndef GOLDEN_COPY_ELEMENTS_H
#define GOLDEN_COPY_ELEMENTS_H

#include "golden/model/tensor.h"

/* One axis of a multi-dimensional block: n elements; strides of source and destination, in
 * elements. */
struct copy_axis {
    size_t n;
    ptrdiff_t from, to;
};

enum { MAX_COPY_AXES = 2 * MAX_RANK };

/* Copies a block of rank <= MAX_COPY_AXES, the last axis innermost.  size: bytes of an element.
 * Source strides may be 0 (repeat) or negative.  The arrays must not overlap. */
void copy_elements(size_t size, const struct copy_axis *axis, uint32_t rank, const void *from,
                   void *to);

/* Fills n elements with *value. */
void fill_elements(size_t size, const void *value, size_t n, void *to);

/* Strides of a row-major array, in elements. */
void element_strides(const struct shape *s, ptrdiff_t ret_stride[MAX_RANK]);

/* Product of the dimensions lo..hi-1. */
size_t element_count(const struct shape *s, uint32_t lo, uint32_t hi);

#endif
