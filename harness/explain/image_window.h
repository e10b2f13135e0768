/* The sliding window of convolutions and poolings, from the names of an operation's roles. */
#ifndef HARNESS_IMAGE_WINDOW_H
#define HARNESS_IMAGE_WINDOW_H

#include "golden/math/matmul.h"
#include "harness/explain/subject.h"

struct window_geometry {
    struct matmul_axis y, x;    /* golden/math/matmul.h */
    ptrdiff_t after_y, after_x; /* padding after the image */
    bool pools;                 /* without a filter */
    uint32_t h, w, c;           /* dimensions of the image: 1, 2, 3; NCHW: 2, 3, 1 */
};

/* False: the operation has no such window (TRANSPOSE_CONV_2D has another one). */
bool window_of_subject(const struct subject *s, struct window_geometry *ret);

/* TRANSPOSE_CONV_2D: input i and tap k of an axis add to output i * stride + k - before. */
struct transposed_axis {
    int64_t in, out, kernel, stride;
    int64_t before, after; /* rows or columns that are cut off; added where negative */
};
struct transposed_geometry {
    struct transposed_axis y, x;
    uint32_t h, w, c; /* as in struct window_geometry */
};
bool transposed_window_of_subject(const struct subject *s, struct transposed_geometry *ret);

#endif
