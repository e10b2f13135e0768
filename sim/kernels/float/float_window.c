/* Convolutions and pools in floats. */
#include <math.h>

#include "sim/kernels/float/float_operands.h"

/* ---- convolutions */

/* One output of an ordinary or grouped convolution, without bias. */
static float conv_at(const struct kernel_call *k, const struct float_conv *c, size_t b, int oy,
                     int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    size_t n = v->in_c / c->groups, group = oc / (v->out_c / c->groups);
    struct sum s = { .half = k->half_sums };

    if (k->kernel_faults & KERNEL_FAULT_GROUPS)
        group = c->groups - 1 - group;
    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) window_axis_at(&v->y, oy, i);
            size_t at = (y * (size_t) v->x.in + (size_t) window_axis_at(&v->x, ox, j)) * v->in_c;
            size_t tap =
                (oc * (size_t) v->y.kernel + (size_t) i) * (size_t) v->x.kernel + (size_t) j;
            sum_dot(&s, c->x + at + group * n, 1, c->filter + tap * n, 1, n);
        }
    return sum_value(&s);
}

static float depthwise_at(const struct kernel_call *k, const struct float_conv *c, size_t b, int oy,
                          int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    struct sum s = { .half = k->half_sums };
    size_t ic = oc / (v->out_c / v->in_c);

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) window_axis_at(&v->y, oy, i);
            size_t x = y * (size_t) v->x.in + (size_t) window_axis_at(&v->x, ox, j);
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

enum convolution { ORDINARY, DEPTHWISE, GROUPED };

static size_t groups_of(const struct kernel_call *k, const struct image_window *v)
{
    switch (k->kernel->kind) {
    case DEPTHWISE: return v->in_c;
    case GROUPED: return (size_t) kernel_int(k, ROLE_GROUPS, 1);
    default: return 1;
    }
}

static int run_convolution(struct kernel_call *k, struct why *w)
{
    const struct tensor *filter = kernel_in(k, ROLE_FILTER);
    const uint32_t *f = filter->shape.dim;
    struct tensor *out = k->out[0];
    struct float_conv c = {
        .win = image_window_of(k, (int) f[1], (int) f[2]),
        .depthwise = k->kernel->kind == DEPTHWISE,
        .filter = floats_load(k, filter),
        .bias = floats_load_bias(k, kernel_in(k, ROLE_BIAS), filter),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };
    int rc = 1;

    c.x = floats_load_image(k, k->arg[0], c.win.nchw);
    c.groups = groups_of(k, &c.win);
    if (!c.x || !c.filter || !c.bias || !c.y)
        return why_no_memory(w);
    if (tensor_count(out) && k->xnnpack && !k->half_sums &&
        !(k->kernel_faults & KERNEL_FAULT_GROUPS))
        TRY(rc = xnn_conv(k, &c, w));
    if (rc == 1)
        run_conv(k, &c);
    return floats_store_image(k, c.y, out, c.win.nchw) < 0 ? why_no_memory(w) : 0;
}

/* ---- transposed convolutions, without XNNPACK: its 2022 version reads outside of some images */

/* The input position whose tap `tap` contributes to position `at` of the result; -1: none. */
static int origin(const struct window_axis *s, int at, int tap)
{
    int from = at + s->pad - tap * s->dilation;

    return from >= 0 && from % s->stride == 0 && from / s->stride < s->out ? from / s->stride : -1;
}

/* One element of the result, without bias: the sum over the input pixels that contribute to it. */
static float transposed_at(const struct kernel_call *k, const struct float_conv *c, size_t b, int y,
                           int x, size_t oc)
{
    const struct image_window *v = &c->win;
    struct sum s = { .half = k->half_sums };

    for (int i = 0; i < v->y.kernel; i++)
        for (int j = 0; j < v->x.kernel; j++) {
            int iy = origin(&v->y, y, i), ix = origin(&v->x, x, j);
            if (iy < 0 || ix < 0)
                continue;
            size_t at = (b * (size_t) v->y.out + (size_t) iy) * (size_t) v->x.out + (size_t) ix;
            size_t tap =
                (oc * (size_t) v->y.kernel + (size_t) i) * (size_t) v->x.kernel + (size_t) j;
            sum_dot(&s, c->x + at * v->out_c, 1, c->filter + tap * v->out_c, 1, v->out_c);
        }
    return sum_value(&s);
}

static int run_transposed_convolution(struct kernel_call *k, struct why *w)
{
    const struct tensor *filter = kernel_in(k, ROLE_FILTER);
    const uint32_t *f = filter->shape.dim;
    struct float_conv c = {
        .win = image_window_transposed(k, (int) f[1], (int) f[2]),
        .groups = 1,
        .filter = floats_load(k, filter),
        .bias = floats_load_bias(k, kernel_in(k, ROLE_BIAS), filter),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(k->out[0])),
    };

    c.x = floats_load_image(k, k->arg[0], c.win.nchw);
    if (!c.x || !c.filter || !c.bias || !c.y)
        return why_no_memory(w);
    const struct image_window *v = &c.win;
    float *to = c.y;
    for (size_t b = 0; b < v->batch; b++)
        for (int y = 0; y < v->y.in; y++)
            for (int x = 0; x < v->x.in; x++)
                for (size_t oc = 0; oc < v->in_c; oc++)
                    *to++ = clamp_apply(c.clamp, transposed_at(k, &c, b, y, x, oc) + c.bias[oc]);
    return floats_store_image(k, c.y, k->out[0], c.win.nchw) < 0 ? why_no_memory(w) : 0;
}

/* ---- pools */

enum pooling { POOL_AVERAGE, POOL_LARGEST, POOL_ROOT };

/* One output of a pool, over the taps of its window that lie in the image. */
static float pool_at(const struct kernel_call *k, const struct float_pool *p, enum pooling kind,
                     size_t b, int oy, int ox, size_t c)
{
    const struct image_window *v = &p->win;
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    struct sum s = { .half = k->half_sums && kind != POOL_ROOT }; /* squares overflow fp16 */
    float max = -INFINITY;

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t y = b * (size_t) v->y.in + (size_t) window_axis_at(&v->y, oy, i);
            float x =
                p->x[(y * (size_t) v->x.in + (size_t) window_axis_at(&v->x, ox, j)) * v->in_c + c];
            max = x > max ? x : max;
            sum_add(&s, x, kind == POOL_ROOT ? x : 1);
        }
    float n = (float) ((ty.last - ty.first) * (tx.last - tx.first));
    float mean = n > 0 ? sum_value(&s) / n : 0;
    return kind == POOL_LARGEST ? max : kind == POOL_ROOT ? sqrtf(mean) : mean;
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

static int run_pooling(struct kernel_call *k, struct why *w)
{
    enum pooling kind = (enum pooling) k->kernel->kind;
    struct tensor *out = k->out[0];
    struct float_pool p = {
        .win = image_window_pooled(k),
        .clamp = floats_activation(k),
        .y = floats_new(k, tensor_count(out)),
    };
    int rc = 1;

    p.x = floats_load_image(k, k->arg[0], p.win.nchw);
    if (!p.x || !p.y)
        return why_no_memory(w);
    if (tensor_count(out) && k->xnnpack && !k->half_sums && kind == POOL_AVERAGE)
        TRY(rc = xnn_average_pool(k, &p, w));
    if (tensor_count(out) && k->xnnpack && kind == POOL_LARGEST)
        TRY(rc = xnn_max_pool(k, &p, w));
    if (rc == 1)
        run_pool(k, &p, kind);
    return floats_store_image(k, p.y, out, p.win.nchw) < 0 ? why_no_memory(w) : 0;
}

#define ALL (FLOATS | QUANTISED8)

const struct device_kernel float_window_kernels[] = {
    { "CONV_2D", ALL, run_convolution, &convolution_roles, .kind = ORDINARY },
    { "DEPTHWISE_CONV_2D", ALL, run_convolution, &convolution_roles, .kind = DEPTHWISE },
    { "GROUPED_CONV_2D", ALL, run_convolution, &convolution_roles, .kind = GROUPED },
    { "TRANSPOSE_CONV_2D", ALL, run_transposed_convolution, &transposed_roles },
    { "AVERAGE_POOL_2D", ALL, run_pooling, &pool_roles, .kind = POOL_AVERAGE },
    { "MAX_POOL_2D", ALL, run_pooling, &pool_roles, .kind = POOL_LARGEST },
    { "L2_POOL_2D", FLOATS, run_pooling, &pool_roles, .kind = POOL_ROOT },
    { NULL },
};
