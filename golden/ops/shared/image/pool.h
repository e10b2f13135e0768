/* The 2-D poolings: one list of operands, one walk over windows; they differ in what a window
 * gives. */
#ifndef GOLDEN_POOL_H
#define GOLDEN_POOL_H

#include "golden/model/op.h"

enum pool_role {
    POOL_INPUT,
    POOL_SCHEME,
    POOL_PAD_LEFT,
    POOL_PAD_RIGHT,
    POOL_PAD_TOP,
    POOL_PAD_BOTTOM,
    POOL_STRIDE_W,
    POOL_STRIDE_H,
    POOL_KERNEL_W,
    POOL_KERNEL_H,
    POOL_ACTIVATION,
    POOL_LAYOUT,
    POOL_ROLES
};
enum { POOL_FORMS = 2 };

extern const struct role pool_in[POOL_ROLES];
extern const struct role pool_out[1];
extern const struct form pool_forms[POOL_FORMS];

/* What a window gives, over all channels of a pixel at once. */
struct pool_window {
    double start;
    void (*take)(const double *x, double *acc, size_t channels);
    /* count: elements of the image in the window; padding takes no part.  NULL: acc is the result
     */
    void (*finish)(double *acc, size_t channels, double count);
};

int pool_infer(struct call *c, struct why *w);
bool pool_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* y = the windows of x, which is shaped as the input of the call; taps in row-major order */
void pool_run(const struct call *c, const struct pool_window *p, const double *x, double *y);

/* Most elements that any window of the call has. */
size_t pool_terms(const struct call *c);

extern const struct pool_window pool_mean;

#endif
