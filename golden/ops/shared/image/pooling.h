/* 2-D pooling operations: they share their operands and the loops over windows, and differ in how
 * a window is reduced. */
#ifndef GOLDEN_POOLING_H
#define GOLDEN_POOLING_H

#include "golden/model/op.h"

enum pooling_role {
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

extern const struct role pooling_in[POOL_ROLES];
extern const struct role pooling_out[1];
extern const struct form pooling_forms[POOL_FORMS];

/* The reduction of a window, for all channels at once: acc starts at `start`, take() adds a pixel,
 * finish() makes the result. */
struct pooling_reduction {
    double start;
    void (*take)(const double *x, double *acc, size_t channels);
    /* count: pixels of the image in the window, without padding.  NULL: acc is the result. */
    void (*finish)(double *acc, size_t channels, double count);
    /* For pooling_range(): take(), to low and high, of the ends of the pixel's error interval. */
    void (*take_range)(const double *x, const double *ex, double *low, double *high,
                       size_t channels);
};

int pooling_infer(struct call *c, struct why *w);
bool pooling_draw(const struct call *c, int role, struct drawer *d, struct tensor *to);

/* y = the reduced windows of x, which has the shape of the call's input; pixels of a window are
 * taken in row-major order. */
void pooling_run(const struct call *c, const struct pooling_reduction *p, const double *x,
                 double *y);

/* The results for x - ex and x + ex.  The reduction has take_range() and no finish(). */
void pooling_range(const struct call *c, const struct pooling_reduction *p, const double *x,
                   const double *ex, double *low, double *high);

/* Upper bound of the number of pixels of the image in any window of the call. */
size_t pooling_max_pixels(const struct call *c);

/* The sum and the mean of a window. */
extern const struct pooling_reduction pooling_sum, pooling_mean;

#endif
