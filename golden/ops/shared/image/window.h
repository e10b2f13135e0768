/* Sliding windows: what convolutions and poolings share.  Both forms of padding, explicit and by
 * scheme, reduce to one geometry here; kernels see nothing else. */
#ifndef GOLDEN_WINDOW_H
#define GOLDEN_WINDOW_H

#include "golden/math/matmul.h"
#include "golden/ops/shared/elementwise/activation.h"

enum { SCHEME_SAME = 1, SCHEME_VALID = 2 };

/* Which roles speak of one spatial axis. */
struct window_axis_roles {
    int before, after, stride;
    int kernel;   /* NO_ROLE: the size is the letter h or w of the filter */
    int dilation; /* NO_ROLE: always 1 */
};

/* Which roles of an operation speak of its window.  The image binds the letters H and W. */
struct window_roles {
    int scheme; /* implicit padding, where the form has it; else the explicit roles hold */
    struct window_axis_roles y, x;
    int activation;
};

/* A legal window has stride, dilation and kernel of at least 1, padding from 0 to less than the
 * dilated kernel on every side (so that no window lies in padding alone) and fits into the padded
 * image. */
struct window {
    struct matmul_axis y, x;
};

/* For infer(): refuses illegal windows and activations; sets dimensions 1 and 2 of the first output
 * as far as they are known. */
int window_infer(struct call *c, const struct window_roles *r, struct why *w);

/* For eval(), once everything is known and inferred. */
struct window window_of(const struct call *c, const struct window_roles *r);

/* For draw(): padding, kernel and dilation that give a legal window with what is drawn already. */
bool window_draw(const struct call *c, const struct window_roles *r, int role, struct drawer *d,
                 struct tensor *to);

/* For draw(): a size of the filter's axis (letter h or w) that fits into the image. */
uint32_t window_draw_filter(const struct call *c, char image_letter, struct drawer *d);

#endif
