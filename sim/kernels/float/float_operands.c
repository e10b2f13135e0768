#include "sim/kernels/float/float_operands.h"

#include <math.h>
#include <string.h>

#include "sim/kernels/half.h"

enum { RUN = 32 };

float *floats_new(const struct kernel_call *k, size_t n)
{
    return arena_alloc_raw(k->scratch, n + 1, sizeof(float));
}

static int32_t stored_integer(const struct tensor *t, size_t i)
{
    switch (t->dtype) {
    case DT_U8:
    case DT_B8: return ((const uint8_t *) t->data)[i];
    case DT_S8:
    case DT_Q8S:
    case DT_PC8: return ((const int8_t *) t->data)[i];
    case DT_Q16S: return ((const int16_t *) t->data)[i];
    case DT_Q16A: return ((const uint16_t *) t->data)[i];
    default: return ((const int32_t *) t->data)[i];
    }
}

static void load_channels(const struct tensor *t, float *to)
{
    struct axis_view a = shape_axis_view(&t->shape, (int32_t) t->channel_dim);

    for (size_t o = 0, i = 0; o < a.outer; o++)
        for (size_t c = 0; c < a.n; c++)
            for (size_t r = 0; r < a.inner; r++, i++)
                to[i] = t->channel_scale[c] * (float) stored_integer(t, i);
}

const float *floats_load(const struct kernel_call *k, const struct tensor *t)
{
    size_t n = tensor_count(t);

    if (t->dtype == DT_F32)
        return t->data;
    float *to = floats_new(k, n), scale = t->scale != 0 ? t->scale : 1;
    if (!to)
        return NULL;
    if (t->n_channels)
        load_channels(t, to);
    else if (t->dtype == DT_F16)
        for (size_t i = 0; i < n; i++)
            to[i] = half_to_float(((const uint16_t *) t->data)[i]);
    else
        for (size_t i = 0; i < n; i++)
            to[i] = scale * (float) (stored_integer(t, i) - t->zero);
    return to;
}

static float quantise(const struct tensor *t, float x, bool truncate, float lo, float hi)
{
    float q = x / t->scale;

    q = (truncate ? truncf(q) : roundf(q)) + (float) t->zero;
    return q >= lo ? (q < hi ? q : hi) : lo; /* NaN becomes the lowest */
}

void floats_store(const struct kernel_call *k, const float *v, struct tensor *t)
{
    bool truncate = k->kernel_faults & KERNEL_FAULT_TRUNCATE;
    size_t n = tensor_count(t);

    for (size_t i = 0; i < n; i++)
        switch (t->dtype) {
        case DT_F32: ((float *) t->data)[i] = k->half ? half_round(v[i]) : v[i]; break;
        case DT_F16: ((uint16_t *) t->data)[i] = half_from_float(v[i]); break;
        case DT_U8: ((uint8_t *) t->data)[i] = (uint8_t) quantise(t, v[i], truncate, 0, 255); break;
        case DT_Q16A:
            ((uint16_t *) t->data)[i] = (uint16_t) quantise(t, v[i], truncate, 0, 65535);
            break;
        default: ((int8_t *) t->data)[i] = (int8_t) quantise(t, v[i], truncate, -128, 127); break;
        }
}

const float *floats_load_image(const struct kernel_call *k, const struct tensor *t, bool nchw)
{
    const float *from = floats_load(k, t);
    float *to;

    if (!nchw || !from)
        return from;
    to = floats_new(k, tensor_count(t));
    if (to)
        image_to_nhwc(&t->shape, sizeof(float), from, to);
    return to;
}

int floats_store_image(const struct kernel_call *k, float *values, struct tensor *t, bool nchw)
{
    float *permuted;

    if (nchw) {
        permuted = floats_new(k, tensor_count(t));
        if (!permuted)
            return -1;
        image_to_nchw(&t->shape, sizeof(float), values, permuted);
        values = permuted;
    }
    floats_store(k, values, t);
    return 0;
}

struct clamp floats_activation(const struct kernel_call *k)
{
    bool wrong = k->kernel_faults & KERNEL_FAULT_ACTIVATION;

    switch (kernel_int(k, ROLE_ACTIVATION, 0)) {
    case 1: return (struct clamp){ wrong ? -0.25f : 0, INFINITY };
    case 2: return (struct clamp){ -1, wrong ? 0.75f : 1 };
    case 3: return (struct clamp){ wrong ? -0.25f : 0, wrong ? 5.5f : 6 };
    default: return (struct clamp){ -INFINITY, INFINITY };
    }
}

void sum_add(struct sum *s, float x, float w)
{
    if (!s->half) {
        s->total += x * w;
        return;
    }
    s->run = half_round(s->run + x * w);
    if (++s->n == RUN) {
        s->total += s->run;
        s->run = 0;
        s->n = 0;
    }
}

void sum_dot(struct sum *s, const float *x, size_t stride_x, const float *w, size_t stride_w,
             size_t n)
{
    for (size_t i = 0; i < n; i++)
        sum_add(s, x[i * stride_x], w[i * stride_w]);
}

float floats_sum(const float *x, size_t n, size_t step)
{
    float total = 0;

    if (n > 16)
        return floats_sum(x, n / 2, step) + floats_sum(x + n / 2 * step, n - n / 2, step);
    for (size_t i = 0; i < n; i++)
        total += x[i * step];
    return total;
}

const float *floats_load_bias(const struct kernel_call *k, const struct tensor *bias,
                              const struct tensor *filter)
{
    if (bias->dtype != DT_I32)
        return floats_load(k, bias);
    size_t n = tensor_count(bias);
    float *to = floats_new(k, n);
    for (size_t i = 0; to && i < n; i++) {
        float step = filter->n_channels ? filter->channel_scale[i] : filter->scale;
        to[i] = (float) ((const int32_t *) bias->data)[i] * (k->arg[0]->scale * step);
    }
    return to;
}
