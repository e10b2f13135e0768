/* Convolutions, matrices and pools in floats. */
#include <math.h>

#include "sim/floats.h"

/* ---- convolutions */

/* One output of an ordinary convolution. */
static float conv_at(const struct kernel_call *k, const struct float_conv *c, size_t b, int oy,
                     int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct taps ty = span_taps(&v->y, oy), tx = span_taps(&v->x, ox);
    struct sum s = { .half = k->half_sums };

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) span_at(&v->y, oy, i);
            size_t at = (y * (size_t) v->x.in + (size_t) span_at(&v->x, ox, j)) * v->in_c;
            size_t tap =
                (oc * (size_t) v->y.kernel + (size_t) i) * (size_t) v->x.kernel + (size_t) j;
            sum_dot(&s, c->x + at, 1, c->filter + tap * v->in_c, 1, v->in_c);
        }
    return sum_value(&s);
}

static float depthwise_at(const struct kernel_call *k, const struct float_conv *c, size_t b, int oy,
                          int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct taps ty = span_taps(&v->y, oy), tx = span_taps(&v->x, ox);
    struct sum s = { .half = k->half_sums };
    size_t ic = oc / (v->out_c / v->in_c);

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) span_at(&v->y, oy, i);
            size_t x = y * (size_t) v->x.in + (size_t) span_at(&v->x, ox, j);
            size_t tap = (size_t) i * (size_t) v->x.kernel + (size_t) j;
            sum_add(&s, c->x[x * v->in_c + ic], c->filter[tap * v->out_c + oc]);
        }
    return sum_value(&s);
}

static void run_conv(const struct kernel_call *k, const struct float_conv *c)
{
    const struct image_window *v = &c->win;
    float *y = c->y;

    for (size_t b = 0; b < v->batch; b++)
        for (int oy = 0; oy < v->y.out; oy++)
            for (int ox = 0; ox < v->x.out; ox++)
                for (size_t oc = 0; oc < v->out_c; oc++) {
                    float sum = c->depthwise ? depthwise_at(k, c, b, oy, ox, oc)
                                             : conv_at(k, c, b, oy, ox, oc);
                    *y++ = clamp_apply(c->clamp, sum + c->bias[oc]);
                }
}

/* An integer bias counts in products of the input's and the filter's steps, which a per-channel
 * filter has one of for each output. */
static const float *load_bias(const struct kernel_call *k, const struct tensor *bias,
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

static int convolve(struct kernel_call *k, bool depthwise, struct why *w)
{
    const struct tensor *filter = kernel_in(k, "filter");
    const uint32_t *f = filter->shape.dim;
    struct tensor *out = k->out[0];
    struct float_conv c = {
        .win = image_window_of(k, (int) f[1], (int) f[2]),
        .depthwise = depthwise,
        .filter = floats_load(k, filter),
        .bias = load_bias(k, kernel_in(k, "bias"), filter),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };
    int rc = 1;

    c.x = floats_load_image(k, k->arg[0], c.win.nchw);
    if (!c.x || !c.filter || !c.bias || !c.y)
        return kernel_no_memory(w);
    if (tensor_count(out) && k->xnnpack && !k->half_sums)
        TRY(rc = xnn_conv(k, &c, w));
    if (rc == 1)
        run_conv(k, &c);
    return floats_store_image(k, c.y, out, c.win.nchw) < 0 ? kernel_no_memory(w) : 0;
}

int float_conv_2d(struct kernel_call *k, struct why *w)
{
    return convolve(k, false, w);
}

int float_depthwise_conv_2d(struct kernel_call *k, struct why *w)
{
    return convolve(k, true, w);
}

/* ---- matrices */

static void run_matrix(const struct kernel_call *k, const struct float_matrix *m)
{
    for (size_t r = 0; r < m->rows; r++)
        for (size_t o = 0; o < m->out; o++) {
            struct sum s = { .half = k->half_sums };
            sum_dot(&s, m->x + r * m->in, 1, m->weights + o * m->in, 1, m->in);
            m->y[r * m->out + o] = clamp_apply(m->clamp, sum_value(&s) + m->bias[o]);
        }
}

int float_fully_connected(struct kernel_call *k, struct why *w)
{
    const struct tensor *weights = kernel_in(k, "weights");
    struct tensor *out = k->out[0];
    struct float_matrix m = {
        .rows = out->shape.dim[0],
        .in = weights->shape.dim[1],
        .out = weights->shape.dim[0],
        .x = floats_load(k, k->arg[0]),
        .weights = floats_load(k, weights),
        .bias = load_bias(k, kernel_in(k, "bias"), weights),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };
    int rc = 1;

    if (!m.x || !m.weights || !m.bias || !m.y)
        return kernel_no_memory(w);
    if (tensor_count(out) && k->xnnpack && !k->half_sums)
        TRY(rc = xnn_matrix(k, &m, w));
    if (rc == 1)
        run_matrix(k, &m);
    floats_store(k, m.y, out);
    return 0;
}

/* ---- pools */

enum pooling { POOL_AVERAGE, POOL_MAX, POOL_ROOT };

/* One output: the taps of a window that lie in the image. */
static float pool_at(const struct kernel_call *k, const struct float_pool *p, enum pooling kind,
                     size_t b, int oy, int ox, size_t c)
{
    const struct image_window *v = &p->win;
    struct taps ty = span_taps(&v->y, oy), tx = span_taps(&v->x, ox);
    struct sum s = { .half = k->half_sums };
    float max = -INFINITY;

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) span_at(&v->y, oy, i);
            float x = p->x[(y * (size_t) v->x.in + (size_t) span_at(&v->x, ox, j)) * v->in_c + c];
            max = x > max ? x : max;
            sum_add(&s, x, kind == POOL_ROOT ? x : 1);
        }
    float n = (float) ((ty.last - ty.first) * (tx.last - tx.first));
    float mean = n > 0 ? sum_value(&s) / n : 0;
    return kind == POOL_MAX ? max : kind == POOL_ROOT ? sqrtf(mean) : mean;
}

static void run_pool(const struct kernel_call *k, const struct float_pool *p, enum pooling kind)
{
    const struct image_window *v = &p->win;
    float *y = p->y;

    for (size_t b = 0; b < v->batch; b++)
        for (int oy = 0; oy < v->y.out; oy++)
            for (int ox = 0; ox < v->x.out; ox++)
                for (size_t c = 0; c < v->in_c; c++)
                    *y++ = clamp_apply(p->clamp, pool_at(k, p, kind, b, oy, ox, c));
}

static int pool(struct kernel_call *k, enum pooling kind, struct why *w)
{
    struct tensor *out = k->out[0];
    struct float_pool p = {
        .win = image_window_of(k, 0, 0),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };
    int rc = 1;

    p.x = floats_load_image(k, k->arg[0], p.win.nchw);
    if (!p.x || !p.y)
        return kernel_no_memory(w);
    if (tensor_count(out) && k->xnnpack && !k->half_sums && kind == POOL_AVERAGE)
        TRY(rc = xnn_average_pool(k, &p, w));
    if (tensor_count(out) && k->xnnpack && kind == POOL_MAX)
        TRY(rc = xnn_max_pool(k, &p, w));
    if (rc == 1)
        run_pool(k, &p, kind);
    return floats_store_image(k, p.y, out, p.win.nchw) < 0 ? kernel_no_memory(w) : 0;
}

int float_average_pool(struct kernel_call *k, struct why *w)
{
    return pool(k, POOL_AVERAGE, w);
}

int float_max_pool(struct kernel_call *k, struct why *w)
{
    return pool(k, POOL_MAX, w);
}

int float_l2_pool(struct kernel_call *k, struct why *w)
{
    return pool(k, POOL_ROOT, w);
}
