/* Sliding windows of convolutions and poolings.  Explicit padding and padding schemes are both
 * converted to one geometry, the only one that kernels handle. */
#ifndef GOLDEN_WINDOW_H
#define GOLDEN_WINDOW_H

#include "golden/math/matmul.h"
#include "golden/ops/shared/elementwise/activation.h"

enum { SCHEME_SAME = 1, SCHEME_VALID = 2 };

/* The roles of the operands of one spatial axis. */
struct window_axis_roles {
    int before, after, stride;
    int kernel;   /* NO_ROLE: the size is the filter's pattern letter h or w */
    int dilation; /* NO_ROLE: 1 */
};

/* The roles of the operands of an operation's window.  The image binds the letters H and W. */
struct window_roles {
    int scheme; /* in forms with implicit padding; the others have y and x before, after */
    struct window_axis_roles y, x;
    int activation;
};

/* A legal window has stride, dilation and kernel >= 1, padding >= 0 and less than the dilated
 * kernel on every side (so that no window lies entirely in padding), and fits into the padded
 * image. */
struct window {
    struct matmul_axis y, x;
};

/* For infer(): rejects illegal windows and activations; sets dimensions 1 and 2 of the first output
 * as far as they are known. */
int window_infer(struct call *c, const struct window_roles *r, struct why *w);

/* For eval(): the geometry of a call whose operands and shapes are complete. */
struct window window_of(const struct call *c, const struct window_roles *r);

/* For draw(): draws padding, kernel or dilation so that the window is legal with the operands drawn
 * before.  false: another role. */
bool window_draw(const struct call *c, const struct window_roles *r, int role, struct drawer *d,
                 struct tensor *to);

/* For draw(): a filter height or width that fits into the image; image_letter: 'H' or 'W'. */
uint32_t window_draw_filter(const struct call *c, char image_letter, struct drawer *d);

#endif
