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

#endif
