/* Kernels along axes, in floats: softmax, normalisations, reductions. */
#include <math.h>

#include "sim/kernels/float/float_operands.h"

/* ---- softmax */

static void softmax(const float *x, float beta, size_t n, size_t step, float *y)
{
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (size_t i = 0; i < n; i++)
        y[i * step] = expf((x[i * step] - top) * beta);
    float total = floats_sum(y, n, step);
    for (size_t i = 0; i < n; i++)
        y[i * step] /= total;
}

static void log_softmax(const float *x, float beta, size_t n, size_t step, float *y)
{
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    for (size_t i = 0; i < n; i++)
        y[i * step] = expf((x[i * step] - top) * beta);
    float total = logf(floats_sum(y, n, step));
    for (size_t i = 0; i < n; i++)
        y[i * step] = (x[i * step] - top) * beta - total;
}

enum softmax_kind { PLAIN, LOGARITHM };

static int run_softmax(struct kernel_call *k, struct why *w)
{
    struct axis_view a = shape_axis_view(&k->out[0]->shape, kernel_int(k, ROLE_AXIS, -1));
    void (*f)(const float *, float, size_t, size_t, float *) =
        k->kernel->kind == PLAIN ? softmax : log_softmax;
    float beta = kernel_float(k, ROLE_BETA, 1);
    const float *x = floats_load(k, k->arg[0]);
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!x || !y)
        return why_no_memory(w);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            f(x + o * a.n * a.inner + i, beta, a.n, a.inner, y + o * a.n * a.inner + i);
    floats_store(k, y, k->out[0]);
    return 0;
}

/* ---- normalisations */

/* x / |x|; divides by the largest magnitude first, so that squares neither overflow nor underflow.
 */
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
    float length = sqrtf(floats_sum(y, n, step));
    for (size_t i = 0; i < n; i++)
        y[i * step] = length > 0 ? x[i * step] * scale / length : 0;
}

static int run_l2_normalization(struct kernel_call *k, struct why *w)
{
    struct axis_view a = shape_axis_view(&k->out[0]->shape, kernel_int(k, ROLE_AXIS, -1));
    const float *x = floats_load(k, k->arg[0]);
    float *y = floats_new(k, tensor_count(k->out[0]));

    if (!x || !y)
        return why_no_memory(w);
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            normalise(x + o * a.n * a.inner + i, a.n, a.inner, y + o * a.n * a.inner + i);
    floats_store(k, y, k->out[0]);
    return 0;
}

/* y = x * (bias + alpha * sum of the squares within the radius)^-beta; by: bias, alpha, beta. */
static void normalise_locally(const float *square, const float *x, size_t n, size_t step,
                              int radius, const float by[3], float *y)
{
    for (size_t i = 0; i < n; i++) {
        size_t first = i > (size_t) radius ? i - (size_t) radius : 0;
        size_t last = n - i > (size_t) radius + 1 ? i + (size_t) radius + 1 : n;
        float sum = floats_sum(square + first * step, last - first, step);
        y[i * step] = x[i * step] * powf(by[0] + by[1] * sum, -by[2]);
    }
}

static int run_local_response(struct kernel_call *k, struct why *w)
{
    struct axis_view a = shape_axis_view(&k->out[0]->shape, kernel_int(k, ROLE_AXIS, -1));
    float by[3] = { kernel_float(k, ROLE_BIAS, 1), kernel_float(k, ROLE_ALPHA, 1),
                    kernel_float(k, ROLE_BETA, 1) };
    const float *x = floats_load(k, k->arg[0]);
    size_t n = tensor_count(k->out[0]);
    int radius = kernel_int(k, ROLE_RADIUS, 0);
    float *y = floats_new(k, n), *square = floats_new(k, n);

    if (!x || !y || !square)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        square[i] = x[i] * x[i];
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.n * a.inner + i;
            normalise_locally(square + at, x + at, a.n, a.inner, radius, by, y + at);
        }
    floats_store(k, y, k->out[0]);
    return 0;
}

/* One channel of one image: (x - mean) * gamma / sqrt(variance + epsilon) + beta. */
static void standardise(const float *x, size_t n, size_t step, float epsilon, float gamma,
                        float beta, float *y)
{
    float mean = floats_sum(x, n, step) / (float) n;

    for (size_t i = 0; i < n; i++)
        y[i * step] = (x[i * step] - mean) * (x[i * step] - mean);
    float variance = floats_sum(y, n, step) / (float) n;
    for (size_t i = 0; i < n; i++)
        y[i * step] = (x[i * step] - mean) * gamma / sqrtf(variance + epsilon) + beta;
}

static int run_instance_normalization(struct kernel_call *k, struct why *w)
{
    const struct tensor *t = k->arg[0];
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    const float *x = floats_load_image(k, t, nchw);
    size_t channels = t->shape.dim[nchw ? 1 : 3], batch = t->shape.dim[0];
    size_t n = tensor_count(t), plane = n ? n / channels / batch : 0;
    float *y = floats_new(k, n);

    if (!x || !y)
        return why_no_memory(w);
    for (size_t b = 0; plane && b < batch; b++)
        for (size_t c = 0; c < channels; c++)
            standardise(x + b * plane * channels + c, plane, channels,
                        kernel_float(k, ROLE_EPSILON, 0), kernel_float(k, ROLE_GAMMA, 1),
                        kernel_float(k, ROLE_BETA, 0), y + b * plane * channels + c);
    return floats_store_image(k, y, k->out[0], nchw) < 0 ? why_no_memory(w) : 0;
}

/* ---- reductions */

static float product(const float *x, size_t n, size_t step)
{
    float total = 1;

    for (size_t i = 0; i < n; i++)
        total *= x[i * step];
    return total;
}

static float largest(const float *x, size_t n, size_t step)
{
    float top = -INFINITY;

    for (size_t i = 0; i < n; i++)
        top = x[i * step] > top ? x[i * step] : top;
    return top;
}

static float smallest(const float *x, size_t n, size_t step)
{
    float bottom = INFINITY;

    for (size_t i = 0; i < n; i++)
        bottom = x[i * step] < bottom ? x[i * step] : bottom;
    return bottom;
}

enum reduction { MEAN, SUM, PRODUCT, LARGEST, SMALLEST };

/* Reduces one axis in place: x is [outer][n][inner] and becomes [outer][inner]. */
static void reduce_axis(float *x, struct axis_view a, enum reduction kind)
{
    static float (*const fold[])(const float *, size_t, size_t) = {
        [MEAN] = floats_sum, [SUM] = floats_sum,    [PRODUCT] = product,
        [LARGEST] = largest, [SMALLEST] = smallest,
    };

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            x[o * a.inner + i] = fold[kind](x + o * a.n * a.inner + i, a.n, a.inner);
}

static int run_reduce(struct kernel_call *k, struct why *w)
{
    const float *x = floats_load(k, k->arg[0]);
    struct shape s = k->arg[0]->shape;
    size_t n = tensor_count(k->arg[0]), n_out = tensor_count(k->out[0]);
    enum reduction kind = (enum reduction) k->kernel->kind;
    uint32_t axes = kernel_axes(k);
    float *y = floats_new(k, n > n_out ? n : n_out), count = 1;

    if (!x || !y)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        y[i] = x[i];
    for (uint32_t d = 0; d < s.rank; d++) {
        if (!(axes >> d & 1))
            continue;
        reduce_axis(y, shape_axis_view(&s, (int32_t) d), kind);
        count *= (float) s.dim[d];
        s.dim[d] = 1;
    }
    if (kind == MEAN && count == 0 && n_out)
        return why_fail(w, WHY_EXECUTION, "mean of no elements");
    for (size_t i = 0; i < n_out && kind == MEAN; i++)
        y[i] /= count;
    floats_store(k, y, k->out[0]);
    return 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles softmax_roles = { .role = { ROLE_AXIS, ROLE_BETA } };

static const struct kernel_roles l2_roles = { .role = { ROLE_AXIS } };

static const struct kernel_roles local_response_roles = {
    .role = { ROLE_AXIS, ROLE_BIAS, ROLE_ALPHA, ROLE_BETA, ROLE_RADIUS },
};

static const struct kernel_roles instance_roles = {
    .role = { ROLE_NCHW, ROLE_EPSILON, ROLE_GAMMA, ROLE_BETA },
};

const struct device_kernel float_axis_kernels[] = {
    { "SOFTMAX", ALL, run_softmax, &softmax_roles, .kind = PLAIN },
    { "LOG_SOFTMAX", FLOATS, run_softmax, &softmax_roles, .kind = LOGARITHM },
    { "L2_NORMALIZATION", ALL, run_l2_normalization, &l2_roles },
    { "LOCAL_RESPONSE_NORMALIZATION", FLOATS, run_local_response, &local_response_roles },
    { "INSTANCE_NORMALIZATION", FLOATS, run_instance_normalization, &instance_roles },
    { "MEAN", ALL, run_reduce, &axes_roles, .kind = MEAN },
    { "REDUCE_SUM", FLOATS, run_reduce, &axes_roles, .kind = SUM },
    { "REDUCE_PROD", FLOATS, run_reduce, &axes_roles, .kind = PRODUCT },
    { "REDUCE_MAX", ALL, run_reduce, &axes_roles, .kind = LARGEST },
    { "REDUCE_MIN", ALL, run_reduce, &axes_roles, .kind = SMALLEST },
    { NULL },
};
