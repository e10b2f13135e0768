/* Operands of the float kernels: every type is widened to float, results are rounded once to what
 * the device holds. */
#ifndef SIM_FLOATS_H
#define SIM_FLOATS_H

#include "sim/kernels/kernel.h"

/* The tensor's real values: its own memory where they are floats already.  NULL without memory. */
const float *floats_load(const struct kernel_call *k, const struct tensor *t);
float *floats_new(const struct kernel_call *k, size_t n);

/* The bias of an operation with a filter.  An integer bias counts in products of the input's and
 * the filter's steps, which a per-channel filter has one of for each output. */
const float *floats_load_bias(const struct kernel_call *k, const struct tensor *bias,
                              const struct tensor *filter);

/* Rounds to the type of the tensor. */
void floats_store(const struct kernel_call *k, const float *values, struct tensor *t);

/* Images as NHWC, whatever their layout. */
const float *floats_load_image(const struct kernel_call *k, const struct tensor *t, bool nchw);
int floats_store_image(const struct kernel_call *k, float *values, struct tensor *t, bool nchw);

/* The sum of halves of the range, so that it loses few bits however long it is. */
float floats_sum(const float *x, size_t n, size_t step);

/* 1 / (1 + exp(-x)); of its two forms the one whose exponential cannot overflow. */
float float_logistic(float x);

/* Fused activation of the call: results are kept within [lo, hi]. */
struct clamp {
    float lo, hi;
};
struct clamp floats_activation(const struct kernel_call *k);
static inline float clamp_apply(struct clamp c, float x)
{
    return x < c.lo ? c.lo : x > c.hi ? c.hi : x;
}

/* A sum of products as the device makes it: in fp32, or in fp16 in runs of 32 whose sums are added
 * in fp32 (so that the error stays below 32 roundings of fp16 however long the sum is). */
struct sum {
    bool half;
    unsigned n;
    float run, total;
};
void sum_add(struct sum *s, float x, float w);
void sum_dot(struct sum *s, const float *x, size_t stride_x, const float *w, size_t stride_w,
             size_t n);
static inline float sum_value(const struct sum *s)
{
    return s->total + s->run;
}

/* A convolution in floats: image and result NHWC, filter [out_c][h][w][in_c / groups], or depthwise
 * [h][w][out_c]. */
struct float_conv {
    struct image_window win;
    size_t groups; /* as many as channels where it is depthwise */
    bool depthwise;
    const float *x, *filter, *bias;
    struct clamp clamp;
    float *y;
};
struct float_matrix {
    size_t rows, in, out;
    const float *x, *weights, *bias; /* [rows][in], [out][in], [out] */
    struct clamp clamp;
    float *y; /* [rows][out] */
};
struct float_pool {
    struct image_window win;
    const float *x;
    struct clamp clamp;
    float *y;
};

/* By XNNPACK where that does it. */
int float_matrix_multiply(const struct kernel_call *k, const struct float_matrix *m, struct why *w);

/* By XNNPACK.  1: it does not do this one, 0: done. */
int xnn_conv(const struct kernel_call *k, const struct float_conv *c, struct why *w);
int xnn_matrix(const struct kernel_call *k, const struct float_matrix *m, struct why *w);
int xnn_average_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w);
int xnn_max_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w);

#endif
