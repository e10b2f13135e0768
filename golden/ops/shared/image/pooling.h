/* 2-D pooling operations: they share their operands and the loops over windows, and differ in how
 * a window is reduced. */
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

/* The reduction of a window, for all channels at once: acc starts at `start`, take() adds a pixel,
 * finish() makes the result. */
struct pool_window {
    double start;
    void (*take)(const double *x, double *acc, size_t channels);
    /* count: pixels of the image in the window, without padding.  NULL: acc is the result. */
    void (*finish)(double *acc, size_t channels, double count);
};

int pool_infer(struct call *c, struct why *w);
bool pool_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* y = the reduced windows of x, which has the shape of the call's input; pixels of a window are
 * taken in row-major order. */
void pool_run(const struct call *c, const struct pool_window *p, const double *x, double *y);

/* Upper bound of the number of pixels of the image in any window of the call. */
size_t pool_terms(const struct call *c);

/* The mean of a window. */
extern const struct pool_window pool_mean;

#endif
