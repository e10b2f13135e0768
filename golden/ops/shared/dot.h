/* Sums of products: what convolutions and matrix products share beside the matrix kernel.
 *
 * Quantised operands come as units (q - zero, the record says .units), so that their sums are exact
 * integers; the product of the scales, one an output channel, is applied once at the end.  The
 * bound of the error is computed by the same kernel from absolute values. */
#ifndef GOLDEN_DOT_H
#define GOLDEN_DOT_H

#include "golden/math/matmul.h"
#include "golden/ops/shared/elementwise/activation.h"

/* A sum of products as a convolution of an NHWC image; see golden/math/matmul.h.  A matrix product
 * is one of a column of pixels. */
struct dot_window {
    struct matmul_axis y, x;
    size_t batch, in_c, out_c;
    size_t groups;     /* of a convolution; 0: depthwise, with */
    size_t multiplier; /* output channels an input channel */
};

/* One operation as a sum of products.  Output channels are the last dimension of the output. */
struct dot {
    int input, filter, bias; /* roles; the bias may be NO_ROLE, or omitted in a call */
    int activation;          /* a role or NO_ROLE */
    /* y = init + sum over the products of x and f; init: one value an output channel, or NULL */
    int (*sum)(const struct call *c, const double *x, const double *f, const double *init,
               double *y, struct why *w);
    /* number of products of one output */
    size_t (*terms)(const struct call *c);
    /* Instead of sum(): the sum is a convolution. */
    void (*window)(const struct call *c, struct dot_window *ret);
};

/* For infer(): before feature level 3 the output scale must be over the product of the others. */
void dot_level(struct call *c, const struct dot *d);
/* The same for convolutions: the validators of NNAPI's own runtime take the input's scale for the
 * output's there, so that a call which devices of that age accept has a filter scale below 1 too.
 */
void dot_level_conv(struct call *c, const struct dot *d);

/* n values that live as long as the call; NULL with the reason when out of memory. */
double *dot_scratch(const struct call *c, size_t n, struct why *w);

/* For eval_stored(), where there is a window(). */
int dot_eval_stored(struct call *c, const struct dot *d, struct why *w);
int dot_eval(struct call *c, const struct dot *d, struct why *w);
int dot_bound(struct call *c, const struct dot *d, struct why *w);

#endif
