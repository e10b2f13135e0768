/* Axis-aligned boxes: how they are decoded, clipped and compared. */
#ifndef GOLDEN_BOXES_H
#define GOLDEN_BOXES_H

#include "golden/judge/ball.h"

/* Two corners, lower[k] <= upper[k] on the axes k = 0, 1. */
struct box {
    struct near lower[2], upper[2];
};

/* The same by its centre. */
struct box_centre {
    struct near centre[2], size[2];
};

/* Elements at..at+3 of operand `arg`: the lower corner, the upper corner. */
struct box box_read(const struct call *c, int arg, size_t at);

/* Whether the corners are in order: the contract of every operand of boxes. */
bool box_valid(const struct box *b);

struct box_centre box_centre(const struct box *b, double u);

/* Moves the centre by delta[0..1] sizes and scales the sizes by exp(delta[2..3]), axis by axis. */
struct box box_decode(const struct box_centre *b, const struct near delta[4], double u);

/* The part within [0, limit[k]] on each axis. */
struct box box_clip(const struct box *b, const struct near limit[2]);

/* Area of the intersection over area of the union; 0 where both boxes are empty, which is undecided
 * where bounds are asked for (u > 0). */
struct near box_overlap(const struct box *a, const struct box *b, double u);

/* Writes lower and upper corner: values to y or, where that is NULL, errors to e. */
void box_write(const struct box *b, double *y, double *e);

#endif
