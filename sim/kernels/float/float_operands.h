/* What the float kernels share: operands of every type are widened to float, results rounded once
 * to the output's type; sums of products, convolutions, matrix products and pools.
 *
 * Memory comes from the call's scratch arena; functions that return a pointer return NULL when it
 * is exhausted, those that return an int and take no struct why -1. */
#ifndef SIM_FLOAT_OPERANDS_H
#define SIM_FLOAT_OPERANDS_H

#include "sim/kernels/kernel.h"

/* The tensor's real values (dequantised); of TENSOR_FLOAT32 the tensor's own data. */
const float *floats_load(const struct kernel_call *k, const struct tensor *t);
/* Room for n floats, not initialised. */
float *floats_new(const struct kernel_call *k, size_t n);

/* The bias of an operation with a filter.  An integer bias has the scale input scale * filter
 * scale, with a per-channel filter a scale for each output channel. */
const float *floats_load_bias(const struct kernel_call *k, const struct tensor *bias,
                              const struct tensor *filter);

/* Rounds (quantises, saturates) the values to the type of the tensor and stores them; fp32 is
 * rounded to fp16 where the device holds it so. */
void floats_store(const struct kernel_call *k, const float *values, struct tensor *t);

/* The same for a rank-4 tensor: the values are NHWC, the tensor is NCHW if nchw. */
const float *floats_load_image(const struct kernel_call *k, const struct tensor *t, bool nchw);
int floats_store_image(const struct kernel_call *k, float *values, struct tensor *t, bool nchw);

/* Pairwise sum of n elements that are `step` apart: its rounding error grows with log n. */
float floats_sum(const float *x, size_t n, size_t step);

/* 1 / (1 + exp(-x)), in the form whose exponential cannot overflow. */
float float_logistic(float x);

/* The call's fused activation as a range: results are clamped to [lo, hi]. */
struct clamp {
    float lo, hi;
};
struct clamp floats_activation(const struct kernel_call *k);
static inline float clamp_apply(struct clamp c, float x)
{
    return x < c.lo ? c.lo : x > c.hi ? c.hi : x;
}

/* A sum of products in the device's accumulator: fp32, or fp16 in runs of 32 whose sums are added
 * in fp32, so that the error stays below 32 roundings of fp16 for any length.  Starts zeroed. */
struct sum {
    bool half; /* accumulate in fp16 */
    unsigned n;
    float run, total;
};
/* Adds x * w; sum_dot(): n of them, at the given strides. */
void sum_add(struct sum *s, float x, float w);
void sum_dot(struct sum *s, const float *x, size_t stride_x, const float *w, size_t stride_w,
             size_t n);
static inline float sum_value(const struct sum *s)
{
    return s->total + s->run;
}

/* A convolution: image and result NHWC, filter [out_c][h][w][in_c / groups], or depthwise
 * [h][w][out_c]; bias [out_c]. */
struct float_conv {
    struct image_window win;
    size_t groups; /* in_c if depthwise */
    bool depthwise;
    const float *x, *filter, *bias;
    struct clamp clamp;
    float *y;
};
/* y = x * transpose(weights) + bias. */
struct float_matrix {
    size_t rows, in, out;
    const float *x, *weights, *bias; /* [rows][in], [out][in], [out] */
    struct clamp clamp;
    float *y; /* [rows][out] */
};
/* A pool: image and result NHWC. */
struct float_pool {
    struct image_window win;
    const float *x;
    struct clamp clamp;
    float *y;
};

/* Computes m by XNNPACK where it supports the call, otherwise by a plain loop. */
int float_matrix_multiply(const struct kernel_call *k, const struct float_matrix *m, struct why *w);

/* Computes by XNNPACK.  0: done, 1: not supported by XNNPACK, -1: error. */
int xnn_conv(const struct kernel_call *k, const struct float_conv *c, struct why *w);
int xnn_matrix(const struct kernel_call *k, const struct float_matrix *m, struct why *w);
int xnn_average_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w);
int xnn_max_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w);

#endif
