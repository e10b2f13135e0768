/* Axis-aligned bounding boxes: decoding, clipping and comparing them.  u: unit roundoff of the
 * arithmetic judged; 0: errors are not computed. */
#ifndef GOLDEN_BOXES_H
#define GOLDEN_BOXES_H

#include "golden/judge/ball.h"

/* Two corners, lower[k] <= upper[k] on the axes k = 0, 1. */
struct box {
    struct ball lower[2], upper[2];
};

/* The same as centre and size. */
struct box_centre {
    struct ball centre[2], size[2];
};

/* Reads elements at..at+3 of operand `arg`: the lower corner, then the upper corner. */
struct box box_read(const struct call *c, int arg, size_t at);

/* Whether no lower corner exceeds the upper one, as required of every operand that holds boxes. */
bool box_valid(const struct box *b);

struct box_centre box_centre(const struct box *b, double u);

/* For each axis k: moves the centre by delta[k] * size and scales the size by exp(delta[2 + k]). */
struct box box_decode(const struct box_centre *b, const struct ball delta[4], double u);

/* The part within [0, limit[k]] on each axis. */
struct box box_clip(const struct box *b, const struct ball limit[2]);

/* Intersection over union.  0 where both boxes are empty; its error is INFINITY then if u > 0. */
struct ball box_overlap(const struct box *a, const struct box *b, double u);

/* Writes the lower and the upper corner, 4 numbers: values to y or, if y is NULL, errors to e. */
void box_write(const struct box *b, double *y, double *e);

#endif
