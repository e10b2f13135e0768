/* Element-wise operations, softmax and the reductions in floats, and the table of float kernels. */
#include <math.h>

#include "sim/floats.h"

/* ---- two operands */

typedef float binary_fn(float a, float b);

static float add(float a, float b)
{
    return a + b;
}

static float subtract(float a, float b)
{
    return a - b;
}

static float multiply(float a, float b)
{
    return a * b;
}

static float divide(float a, float b)
{
    return a / b;
}

static float larger(float a, float b)
{
    return a > b ? a : b;
}

static float smaller(float a, float b)
{
    return a < b ? a : b;
}

static int binary(struct kernel_call *k, binary_fn *f, struct why *w)
{
    const struct tensor *ta = k->arg[0], *tb = k->arg[1];
    const float *a = floats_load(k, ta), *b = floats_load(k, tb);
    struct clamp clamp = floats_activation(k);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);
    struct walk at;

    if (!a || !b || !y)
        return kernel_no_memory(w);
    walk_start(&at, &k->out[0]->shape, &ta->shape, &tb->shape);
    for (size_t i = 0; i < n; i++, walk_step(&at))
        y[i] = clamp_apply(clamp, f(a[at.a], b[at.b]));
    floats_store(k, y, k->out[0]);
    return 0;
}

static int run_add(struct kernel_call *k, struct why *w)
{
    return binary(k, add, w);
}

static int run_sub(struct kernel_call *k, struct why *w)
{
    return binary(k, subtract, w);
}

static int run_mul(struct kernel_call *k, struct why *w)
{
    return binary(k, multiply, w);
}

static int run_div(struct kernel_call *k, struct why *w)
{
    return binary(k, divide, w);
}

static int run_maximum(struct kernel_call *k, struct why *w)
{
    return binary(k, larger, w);
}

static int run_minimum(struct kernel_call *k, struct why *w)
{
    return binary(k, smaller, w);
}

/* ---- one operand */

typedef float unary_fn(float x);

static float relu(float x)
{
    return x < 0 ? 0 : x;
}

static float relu1(float x)
{
    return x < -1 ? -1 : x > 1 ? 1 : x;
}

static float relu6(float x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

/* Of the two forms the one whose exponential cannot overflow. */
static float logistic(float x)
{
    float e = expf(-fabsf(x));

    return x >= 0 ? 1 / (1 + e) : e / (1 + e);
}

static float same(float x)
{
    return x;
}

static int unary(struct kernel_call *k, unary_fn *f, struct why *w)
{
    const float *x = floats_load(k, k->arg[0]);
    size_t n = tensor_count(k->out[0]);
    float *y = floats_new(k, n);

    if (!x || !y)
        return kernel_no_memory(w);
    for (size_t i = 0; i < n; i++)
        y[i] = f(x[i]);
    floats_store(k, y, k->out[0]);
    return 0;
}

static int run_relu(struct kernel_call *k, struct why *w)
{
    return unary(k, relu, w);
}

static int run_relu1(struct kernel_call *k, struct why *w)
{
    return unary(k, relu1, w);
}

static int run_relu6(struct kernel_call *k, struct why *w)
{
    return unary(k, relu6, w);
}

static int run_logistic(struct kernel_call *k, struct why *w)
{
    return unary(k, logistic, w);
}

static int run_tanh(struct kernel_call *k, struct why *w)
{
    return unary(k, tanhf, w);
}

static int run_convert(struct kernel_call *k, struct why *w)
{
    return unary(k, same, w);
}

/* ---- along an axis */

/* The sum of halves of the range, so that it loses few bits however long it is. */
static float pairwise(const float *x, size_t n, size_t step)
{
    float total = 0;

    if (n > 16)
        return pairwise(x, n / 2, step) + pairwise(x + n / 2 * step, n - n / 2, step);
    for (size_t i = 0; i < n; i++)
        total += x[i * step];
    return total;
}

static void softmax(const float *x, float beta, size_t n, size_t step, float *y)
{
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (size_t i = 0; i < n; i++)
        y[i * step] = expf((x[i * step] - top) * beta);
    float total = pairwise(y, n, step);
    for (size_t i = 0; i < n; i++)
        y[i * step] /= total;
}

static int run_softmax(struct kernel_call *k, struct why *w)
{
    struct along a = shape_along(&k->out[0]->shape, kernel_int(k, "axis", -1));
    float beta = kernel_float(k, "beta", 1);
    const float *x = floats_load(k, k->arg[0]);
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!x || !y)
        return kernel_no_memory(w);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            softmax(x + o * a.n * a.inner + i, beta, a.n, a.inner, y + o * a.n * a.inner + i);
    floats_store(k, y, k->out[0]);
    return 0;
}

/* Scaled by the largest element, so that squares neither overflow nor vanish. */
static void normalise(const float *x, size_t n, size_t step, float *y)
{
    float top = 0;

    for (size_t i = 0; i < n; i++)
        top = fabsf(x[i * step]) > top ? fabsf(x[i * step]) : top;
    float scale = top > 0 ? 1 / top : 0;
    if (isinf(scale))
        scale = 1;
    for (size_t i = 0; i < n; i++)
        y[i * step] = (x[i * step] * scale) * (x[i * step] * scale);
    float length = sqrtf(pairwise(y, n, step));
    for (size_t i = 0; i < n; i++)
        y[i * step] = length > 0 ? x[i * step] * scale / length : 0;
}

static int run_l2_normalization(struct kernel_call *k, struct why *w)
{
    struct along a = shape_along(&k->out[0]->shape, kernel_int(k, "axis", -1));
    const float *x = floats_load(k, k->arg[0]);
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!x || !y)
        return kernel_no_memory(w);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            normalise(x + o * a.n * a.inner + i, a.n, a.inner, y + o * a.n * a.inner + i);
    floats_store(k, y, k->out[0]);
    return 0;
}

/* Sums one axis away after the other: x is [outer][n][inner] and becomes [outer][inner]. */
static void sum_axis(float *x, struct along a)
{
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            x[o * a.inner + i] = pairwise(x + o * a.n * a.inner + i, a.n, a.inner);
}

static int run_mean(struct kernel_call *k, struct why *w)
{
    const float *x = floats_load(k, k->arg[0]);
    struct shape s = k->arg[0]->shape;
    size_t n = tensor_count(k->arg[0]), n_out = tensor_count(k->out[0]);
    const struct tensor *axes = kernel_in(k, "axes");
    float *y = floats_new(k, n), count = 1;

    if (!x || !y)
        return kernel_no_memory(w);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
    for (size_t i = 0; i < tensor_count(axes); i++) {
        int32_t axis = ((const int32_t *) axes->data)[i];
        axis += axis < 0 ? (int32_t) s.rank : 0;
        sum_axis(y, shape_along(&s, axis));
        count *= (float) s.dim[axis];
        s.dim[axis] = 1;
    }
    if (count == 0 && n_out)
        return why_fail(w, WHY_EXECUTION, "mean of no elements");
    for (size_t i = 0; i < n_out; i++)
        y[i] /= count;
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- concatenation of operands with different scales */

static int run_concatenation(struct kernel_call *k, struct why *w)
{
    struct tensor *out = k->out[0];
    struct along a = shape_along(&out->shape, kernel_int(k, "axis", 0));
    float *y = floats_new(k, tensor_count(out));
    size_t row = a.n * a.inner, at = 0;

    if (!y)
        return kernel_no_memory(w);
    for (uint32_t i = k->call.many_at; i < k->call.many_at + k->call.n_many; i++) {
        const float *x = floats_load(k, k->arg[i]);
        size_t part = a.outer ? tensor_count(k->arg[i]) / a.outer : 0;
        if (!x)
            return kernel_no_memory(w);
        for (size_t o = 0; o < a.outer; o++)
            for (size_t e = 0; e < part; e++)
                y[o * row + at + e] = x[o * part + e];
        at += part;
    }
    floats_store(k, y, out);
    return 0;
}

const struct kernel float_kernels[] = {
    { "ADD", FLOATS | QUANTISED8, run_add },
    { "SUB", FLOATS | QUANTISED8, run_sub },
    { "MUL", FLOATS | QUANTISED8, run_mul },
    { "DIV", FLOATS, run_div },
    { "MAXIMUM", FLOATS | QUANTISED8, run_maximum },
    { "MINIMUM", FLOATS | QUANTISED8, run_minimum },
    { "RELU", FLOATS | QUANTISED8, run_relu },
    { "RELU1", FLOATS | QUANTISED8, run_relu1 },
    { "RELU6", FLOATS | QUANTISED8, run_relu6 },
    { "LOGISTIC", FLOATS | QUANTISED8, run_logistic },
    { "TANH", FLOATS | QUANTISED8, run_tanh },
    { "SOFTMAX", FLOATS | QUANTISED8, run_softmax },
    { "L2_NORMALIZATION", FLOATS | QUANTISED8, run_l2_normalization },
    { "MEAN", FLOATS | QUANTISED8, run_mean },
    { "CONCATENATION", QUANTISED8, run_concatenation },
    { "CONV_2D", FLOATS | QUANTISED8, float_conv_2d },
    { "DEPTHWISE_CONV_2D", FLOATS | QUANTISED8, float_depthwise_conv_2d },
    { "FULLY_CONNECTED", FLOATS | QUANTISED8, float_fully_connected },
    { "AVERAGE_POOL_2D", FLOATS | QUANTISED8, float_average_pool },
    { "MAX_POOL_2D", FLOATS | QUANTISED8, float_max_pool },
    { "L2_POOL_2D", FLOATS, float_l2_pool },
    { "QUANTIZE", FLOATS, run_convert },
    { "DEQUANTIZE", QUANTISED8 | TYPE(Q8S) | TYPE(PC8), run_convert },
    { NULL },
};
