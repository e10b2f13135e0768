/* Convolutions, matrix products and pools in fixed point. */
#include "sim/kernels/fixed/fixed.h"

#define ROUND_DOWN(k) (((k)->kernel_faults & KERNEL_FAULT_TRUNCATE) != 0)

/* A quantised convolution or matrix product: a factor per output channel rescales the integer sum
 * of products to the result's scale. */
struct fixed_conv {
    struct image_window win;
    size_t groups;
    const struct tensor *x, *filter, *bias;
    struct tensor *out;
    const struct factor *factor; /* per output channel */
    struct fixed_range range;
    bool truncate, reversed; /* KERNEL_FAULT_TRUNCATE, KERNEL_FAULT_GROUPS */
};

static const struct factor *channel_factors(const struct kernel_call *k,
                                            const struct tensor *filter, size_t n)
{
    const struct tensor *x = k->arg[0], *out = k->out[0];
    struct factor *f = arena_alloc(k->scratch, n + 1, sizeof(*f));

    for (size_t i = 0; f && i < n; i++) {
        float step = filter->n_channels ? filter->channel_scale[i] : filter->scale;
        f[i] = factor_of((double) x->scale * (double) step / (double) out->scale);
    }
    return f;
}

/* Offset of a pixel's channel in the input or the result, in NHWC or NCHW. */
static size_t pixel_at(const struct image_window *v, bool of_result, size_t b, int y, int x,
                       size_t c)
{
    size_t h = (size_t) (of_result ? v->y.out : v->y.in);
    size_t w = (size_t) (of_result ? v->x.out : v->x.in);
    size_t channels = of_result ? v->out_c : v->in_c;

    if (v->nchw)
        return ((b * channels + c) * h + (size_t) y) * w + (size_t) x;
    return ((b * h + (size_t) y) * w + (size_t) x) * channels + c;
}

static int64_t conv_at(const struct fixed_conv *c, size_t b, int oy, int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    size_t channel_step = v->nchw ? (size_t) v->y.in * (size_t) v->x.in : 1;
    size_t channels = v->in_c / c->groups, group = oc / (v->out_c / c->groups);
    int64_t sum = 0;

    if (c->reversed)
        group = c->groups - 1 - group;
    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t tap =
                (oc * (size_t) v->y.kernel + (size_t) i) * (size_t) v->x.kernel + (size_t) j;
            size_t at = pixel_at(v, false, b, window_axis_at(&v->y, oy, i),
                                 window_axis_at(&v->x, ox, j), group * channels);
            for (size_t n = 0; n < channels; n++)
                sum +=
                    fixed_at(c->x, at + n * channel_step) * fixed_at(c->filter, tap * channels + n);
        }
    return sum;
}

static int64_t depthwise_at(const struct fixed_conv *c, size_t b, int oy, int ox, size_t oc)
{
    const struct image_window *v = &c->win;
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    size_t ic = oc / (v->out_c / v->in_c);
    int64_t sum = 0;

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            size_t tap = (size_t) i * (size_t) v->x.kernel + (size_t) j;
            size_t at = pixel_at(v, false, b, window_axis_at(&v->y, oy, i),
                                 window_axis_at(&v->x, ox, j), ic);
            sum += fixed_at(c->x, at) * fixed_at(c->filter, tap * v->out_c + oc);
        }
    return sum;
}

/* Adds the bias, rescales and stores. */
static void put_sum(const struct fixed_conv *c, size_t at, size_t channel, int64_t sum)
{
    const int64_t most = INT64_C(1) << 31; /* the accumulator saturates */

    sum += ((const int32_t *) c->bias->data)[channel];
    sum = sum > most ? most : sum < -most ? -most : sum;
    fixed_store(c->out, at, factor_apply(sum, c->factor[channel], c->truncate), c->range);
}

enum convolution { ORDINARY, DEPTHWISE, GROUPED };

static int run_convolution(struct kernel_call *k, struct why *w)
{
    int64_t (*sum_at)(const struct fixed_conv *, size_t, int, int, size_t) =
        k->kernel->kind == DEPTHWISE ? depthwise_at : conv_at;
    const struct tensor *filter = kernel_in(k, ROLE_FILTER);
    const uint32_t *f = filter->shape.dim;
    struct fixed_conv c = {
        .win = image_window_of(k, (int) f[1], (int) f[2]),
        .groups = k->kernel->kind == GROUPED ? (size_t) kernel_int(k, ROLE_GROUPS, 1) : 1,
        .x = k->arg[0],
        .filter = filter,
        .bias = kernel_in(k, ROLE_BIAS),
        .out = k->out[0],
        .range = fixed_fused_range(k, k->out[0]),
        .truncate = ROUND_DOWN(k),
        .reversed = (k->kernel_faults & KERNEL_FAULT_GROUPS) != 0,
    };
    const struct image_window *v = &c.win;

    c.factor = channel_factors(k, filter, v->out_c);
    if (!c.factor)
        return why_no_memory(w);
    for (size_t b = 0; b < v->batch; b++)
        for (int oy = 0; oy < v->y.out; oy++)
            for (int ox = 0; ox < v->x.out; ox++)
                for (size_t oc = 0; oc < v->out_c; oc++)
                    put_sum(&c, pixel_at(v, true, b, oy, ox, oc), oc, sum_at(&c, b, oy, ox, oc));
    return 0;
}

/* ---- transposed convolutions */

/* The input position whose tap `tap` contributes to position `at` of the result; -1: none. */
static int origin(const struct window_axis *s, int at, int tap)
{
    int from = at + s->pad - tap * s->dilation;

    return from >= 0 && from % s->stride == 0 && from / s->stride < s->out ? from / s->stride : -1;
}

/* c->win is the window of the convolution that is transposed, whose input is the call's result. */
static int64_t transposed_at(const struct fixed_conv *c, size_t b, int y, int x, size_t oc)
{
    const struct image_window *v = &c->win;
    size_t channel_step = v->nchw ? (size_t) v->y.out * (size_t) v->x.out : 1;
    int64_t sum = 0;

    for (int i = 0; i < v->y.kernel; i++)
        for (int j = 0; j < v->x.kernel; j++) {
            int iy = origin(&v->y, y, i), ix = origin(&v->x, x, j);
            if (iy < 0 || ix < 0)
                continue;
            size_t at = pixel_at(v, true, b, iy, ix, 0);
            size_t tap =
                (oc * (size_t) v->y.kernel + (size_t) i) * (size_t) v->x.kernel + (size_t) j;
            for (size_t n = 0; n < v->out_c; n++)
                sum +=
                    fixed_at(c->x, at + n * channel_step) * fixed_at(c->filter, tap * v->out_c + n);
        }
    return sum;
}

static int run_transposed_convolution(struct kernel_call *k, struct why *w)
{
    const struct tensor *filter = kernel_in(k, ROLE_FILTER);
    const uint32_t *f = filter->shape.dim;
    struct fixed_conv c = {
        .win = image_window_transposed(k, (int) f[1], (int) f[2]),
        .x = k->arg[0],
        .filter = filter,
        .bias = kernel_in(k, ROLE_BIAS),
        .out = k->out[0],
        .range = fixed_fused_range(k, k->out[0]),
        .truncate = ROUND_DOWN(k),
    };
    const struct image_window *v = &c.win;

    c.factor = channel_factors(k, filter, v->in_c);
    if (!c.factor)
        return why_no_memory(w);
    for (size_t b = 0; b < v->batch; b++)
        for (int y = 0; y < v->y.in; y++)
            for (int x = 0; x < v->x.in; x++)
                for (size_t oc = 0; oc < v->in_c; oc++)
                    put_sum(&c, pixel_at(v, false, b, y, x, oc), oc,
                            transposed_at(&c, b, y, x, oc));
    return 0;
}

/* ---- matrices */

static int run_fully_connected(struct kernel_call *k, struct why *w)
{
    const struct tensor *weights = kernel_in(k, ROLE_WEIGHTS);
    size_t units = weights->shape.dim[0], in = weights->shape.dim[1];
    struct fixed_conv c = {
        .x = k->arg[0],
        .filter = weights,
        .bias = kernel_in(k, ROLE_BIAS),
        .out = k->out[0],
        .factor = channel_factors(k, weights, units),
        .range = fixed_fused_range(k, k->out[0]),
        .truncate = ROUND_DOWN(k),
    };

    if (!c.factor)
        return why_no_memory(w);
    for (size_t r = 0; r < c.out->shape.dim[0]; r++)
        for (size_t o = 0; o < units; o++) {
            int64_t sum = 0;
            for (size_t i = 0; i < in; i++)
                sum += fixed_at(c.x, r * in + i) * fixed_at(weights, o * in + i);
            put_sum(&c, r * units + o, o, sum);
        }
    return 0;
}

static int run_batch_matmul(struct kernel_call *k, struct why *w)
{
    const struct tensor *l = k->arg[0], *r = k->arg[1];
    struct tensor *out = k->out[0];
    struct factor f = factor_of((double) l->scale * (double) r->scale / (double) out->scale);
    struct fixed_range range = fixed_range(out);
    struct matrix_batch m = kernel_matrices(k);
    size_t to = 0;

    (void) w;
    for (size_t b = 0; b < m.n; b++, broadcast_step(&m.at))
        for (size_t i = 0; i < m.rows; i++)
            for (size_t j = 0; j < m.columns; j++) {
                int64_t sum = 0;
                for (size_t e = 0; e < m.terms; e++)
                    sum += fixed_at(l, matrices_left(&m, i, e)) *
                           fixed_at(r, matrices_right(&m, e, j));
                fixed_store(out, to++, factor_apply(sum, f, ROUND_DOWN(k)), range);
            }
    return 0;
}

/* ---- pools: input and result have the same scale and zero point */

static int64_t divide_round(int64_t sum, int64_t n, bool truncate)
{
    int64_t half = truncate ? 0 : n / 2;

    return sum < 0 ? -((-sum + half) / n) : (sum + half) / n;
}

static int64_t pool_at(const struct kernel_call *k, const struct image_window *v, bool largest,
                       size_t b, int oy, int ox, size_t c)
{
    struct tap_range ty = window_axis_taps(&v->y, oy), tx = window_axis_taps(&v->x, ox);
    int64_t sum = 0, max = INT32_MIN, n = 0;

    for (int i = ty.first; i < ty.last; i++)
        for (int j = tx.first; j < tx.last; j++) {
            int32_t x = fixed_at(k->arg[0], pixel_at(v, false, b, window_axis_at(&v->y, oy, i),
                                                     window_axis_at(&v->x, ox, j), c));
            sum += x;
            max = x > max ? x : max;
            n++;
        }
    return largest ? max : n ? divide_round(sum, n, ROUND_DOWN(k)) : 0;
}

enum pooling { POOL_AVERAGE, POOL_LARGEST };

static int run_pooling(struct kernel_call *k, struct why *w)
{
    bool largest = k->kernel->kind == POOL_LARGEST;
    struct image_window v = image_window_pooled(k);
    struct fixed_range r = fixed_fused_range(k, k->out[0]);

    (void) w;
    for (size_t b = 0; b < v.batch; b++)
        for (int oy = 0; oy < v.y.out; oy++)
            for (int ox = 0; ox < v.x.out; ox++)
                for (size_t c = 0; c < v.in_c; c++)
                    fixed_store(k->out[0], pixel_at(&v, true, b, oy, ox, c),
                                pool_at(k, &v, largest, b, oy, ox, c), r);
    return 0;
}

static const struct kernel_roles fully_connected_roles = {
    .role = { ROLE_WEIGHTS, ROLE_BIAS, ROLE_ACTIVATION },
};

const struct device_kernel fixed_window_kernels[] = {
    { "CONV_2D", QUANTISED8, run_convolution, &convolution_roles, .kind = ORDINARY },
    { "DEPTHWISE_CONV_2D", QUANTISED8, run_convolution, &convolution_roles, .kind = DEPTHWISE },
    { "GROUPED_CONV_2D", QUANTISED8, run_convolution, &convolution_roles, .kind = GROUPED },
    { "TRANSPOSE_CONV_2D", QUANTISED8, run_transposed_convolution, &transposed_roles },
    { "FULLY_CONNECTED", QUANTISED8, run_fully_connected, &fully_connected_roles },
    { "BATCH_MATMUL", QUANTISED8, run_batch_matmul, &matrices_roles },
    { "AVERAGE_POOL_2D", QUANTISED8, run_pooling, &pool_roles, .kind = POOL_AVERAGE },
    { "MAX_POOL_2D", QUANTISED8, run_pooling, &pool_roles, .kind = POOL_LARGEST },
    { NULL },
};
