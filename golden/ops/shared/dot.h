/* Sums of products: what convolutions and matrix products share, besides the matrix kernel.
 *
 * Quantised operands come as units (q - zero point; their records set .units), so that sums are
 * exact integers; the product of the scales, one per output channel, is applied once at the end.
 * The error bound is computed by the same kernel from absolute values. */
#ifndef GOLDEN_DOT_H
#define GOLDEN_DOT_H

#include "golden/math/matmul.h"
#include "golden/ops/shared/elementwise/activation.h"

/* A sum of products as a convolution of an NHWC image (golden/math/matmul.h).  A matrix product is
 * a 1x1 convolution of a column of pixels. */
struct dot_window {
    struct matmul_axis y, x;
    size_t batch, in_c, out_c;
    size_t groups;     /* of a grouped convolution; 0: depthwise */
    size_t multiplier; /* depthwise: output channels per input channel */
};

/* One operation as a sum of products.  Output channels are the last dimension of the output. */
struct dot {
    int input, filter, bias; /* roles; the bias may be NO_ROLE, or omitted in a call */
    int activation;          /* a role or NO_ROLE */
    /* y = init + sum of products of x and f; init: one value per output channel, NULL: 0 */
    int (*sum)(const struct call *c, const double *x, const double *f, const double *init,
               double *y, struct why *w);
    /* number of products of one output */
    size_t (*terms)(const struct call *c);
    /* Instead of sum(), where the sum is a convolution. */
    void (*window)(const struct call *c, struct dot_window *ret);
    /* 1 + the filter's dimension of output channels, where windows may extend into padding; else 0
     */
    uint32_t padded;
};

/* For infer(): TENSOR_QUANT8_ASYMM operands need feature level 3 unless the output scale exceeds
 * input scale * filter scale; sets c->level. */
void dot_level(struct call *c, const struct dot *d);
/* The same for convolutions, which also need level 3 unless the input scale exceeds input scale *
 * filter scale, i.e. the filter scale is below 1: the validator of NNAPI's runtime compares the
 * input's scale in place of the output's, so devices of earlier levels reject such a call. */
void dot_level_conv(struct call *c, const struct dot *d);

/* n values in the call's scratch memory; NULL with the reason when out of memory. */
double *dot_scratch(const struct call *c, size_t n, struct why *w);

/* Parts of the bound, for dot_eval_stored().  Factor of the sum of |x w| for the roundings of a
 * sum; 0: quantised, exact. */
double dot_rounding(const struct call *c, const struct dot *d);
/* What all results of an output channel have in common, [output channels]: the error of the bias
 * and of adding it; infinity, if a weight that is infinite, NaN or without a bound may be
 * multiplied by the 0 of padding.  *ret_error NULL: none. */
int dot_channel_error(struct call *c, const struct dot *d, double **ret_error, struct why *w);
/* Completes the bounds ey of n results y with activation: overflow, underflow, rescaling, the
 * activation. */
void dot_bound_finish(const struct call *c, const struct dot *d, size_t n, const double *y,
                      double *ey);

/* The record's eval_stored() (dot.window must be set), eval() and bound(). */
int dot_eval_stored(struct call *c, const struct dot *d, struct why *w);
int dot_eval(struct call *c, const struct dot *d, struct why *w);
int dot_bound(struct call *c, const struct dot *d, struct why *w);

#endif
