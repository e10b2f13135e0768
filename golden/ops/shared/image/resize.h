/* Resizing images: operands, sizes and source positions for both resize operations.
 *
 * Output pixel o of an axis has a rational position in the input, o * n_in / n_out (align_corners:
 * o * (n_in - 1) / (n_out - 1)); with half_pixel_centers a pixel's position is its centre. */
#ifndef GOLDEN_RESIZE_H
#define GOLDEN_RESIZE_H

#include "golden/model/op.h"

enum resize_role {
    RESIZE_INPUT,
    RESIZE_WIDTH,
    RESIZE_HEIGHT,
    RESIZE_WIDTH_SCALE,
    RESIZE_HEIGHT_SCALE,
    RESIZE_LAYOUT,
    RESIZE_CORNERS,
    RESIZE_HALF,
    RESIZE_ROLES
};
enum { RESIZE_FORMS = 2 };

/* They differ in whether the layout is optional. */
extern const struct role resize_bilinear_in[RESIZE_ROLES], resize_nearest_in[RESIZE_ROLES];
extern const struct role resize_out[1];
extern const struct form resize_forms[RESIZE_FORMS];

int resize_infer(struct call *c, struct why *w);
bool resize_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* One axis of the resize; resize_along(): dimension 1 (height) or 2 (width). */
struct resize_axis {
    uint64_t n_in, n_out;
    bool corners, half;
};
struct resize_axis resize_along(const struct call *c, uint32_t dimension);

/* The input pixels that o lies between: (1 - part) of the first, part of the second.  slack:
 * maximum error of the position in single precision. */
struct resize_place {
    uint32_t first, second;
    double part, slack;
};
struct resize_place resize_between(const struct resize_axis *a, uint64_t o);

/* The nearest input pixel; low..high: those that may be nearest in single precision. */
struct resize_nearest {
    uint32_t at, low, high;
};
struct resize_nearest resize_nearest_to(const struct resize_axis *a, uint64_t o);

#endif
