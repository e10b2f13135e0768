#include "golden/ops/shared/image/pooling.h"

#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/image/window.h"

#define I32 FIXED(DT_INT32)

const struct role pooling_in[POOL_ROLES] = {
    [POOL_INPUT] = { "input", "the image", "NHWC", .slot = 0, .image = true },
    [POOL_SCHEME] = { "padding", "1 SAME, 2 VALID", .slot = I32, .draw = DRAW_SCHEME },
    [POOL_PAD_LEFT] = { "pad_left", "columns of padding before the image", .slot = I32,
                        .draw = DRAW_OP },
    [POOL_PAD_RIGHT] = { "pad_right", "columns of padding after it", .slot = I32, .draw = DRAW_OP },
    [POOL_PAD_TOP] = { "pad_top", "rows of padding above it", .slot = I32, .draw = DRAW_OP },
    [POOL_PAD_BOTTOM] = { "pad_bottom", "rows of padding below it", .slot = I32, .draw = DRAW_OP },
    [POOL_STRIDE_W] = { "stride_width", "columns between windows", .slot = I32,
                        .draw = DRAW_STRIDE },
    [POOL_STRIDE_H] = { "stride_height", "rows between windows", .slot = I32, .draw = DRAW_STRIDE },
    [POOL_KERNEL_W] = { "filter_width", "columns of a window", .slot = I32, .draw = DRAW_OP },
    [POOL_KERNEL_H] = { "filter_height", "rows of a window", .slot = I32, .draw = DRAW_OP },
    [POOL_ACTIVATION] = { "activation", "fused activation: 0 none, 1 RELU, 2 RELU1, 3 RELU6",
                          .slot = I32, .draw = DRAW_ACTIVATION },
    [POOL_LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                      .since = L3, .optional = true, .draw = DRAW_FLAG },
};

const struct role pooling_out[1] = {
    { "output", "one value per window and channel", "N??C", .slot = 0, .image = true, .q = Q_SAME },
};

const struct form pooling_forms[POOL_FORMS] = {
    { "explicit padding",
      { POOL_INPUT, POOL_PAD_LEFT, POOL_PAD_RIGHT, POOL_PAD_TOP, POOL_PAD_BOTTOM, POOL_STRIDE_W,
        POOL_STRIDE_H, POOL_KERNEL_W, POOL_KERNEL_H, POOL_ACTIVATION, POOL_LAYOUT, END } },
    { "implicit padding",
      { POOL_INPUT, POOL_SCHEME, POOL_STRIDE_W, POOL_STRIDE_H, POOL_KERNEL_W, POOL_KERNEL_H,
        POOL_ACTIVATION, POOL_LAYOUT, END } },
};

static const struct window_roles window = {
    .scheme = POOL_SCHEME,
    .y = { POOL_PAD_TOP, POOL_PAD_BOTTOM, POOL_STRIDE_H, POOL_KERNEL_H, NO_ROLE },
    .x = { POOL_PAD_LEFT, POOL_PAD_RIGHT, POOL_STRIDE_W, POOL_KERNEL_W, NO_ROLE },
    .activation = POOL_ACTIVATION,
};

int pooling_infer(struct call *c, struct why *w)
{
    return window_infer(c, &window, w);
}

bool pooling_draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    return window_draw(c, &window, role, d, to);
}

/* The part of window o that lies in the image. */
static void clip(const struct matmul_axis *a, size_t o, size_t *ret_lo, size_t *ret_hi)
{
    ptrdiff_t lo = (ptrdiff_t) (o * a->stride) - a->pad, hi = lo + (ptrdiff_t) a->kernel;

    *ret_lo = lo > 0 ? (size_t) lo : 0;
    *ret_hi = (size_t) hi < a->in ? (size_t) hi : a->in;
}

/* The pixels of a window in an image: rows top to bottom - 1, columns left to right - 1. */
struct box {
    size_t top, bottom, left, right, width, channels; /* width: of the image */
};

static void reduce(const struct pooling_reduction *p, const struct box *b, const double *x,
                   const double *ex, double *acc, double *high)
{
    for (size_t k = 0; k < b->channels; k++)
        acc[k] = p->start;
    for (size_t k = 0; high && k < b->channels; k++)
        high[k] = p->start;
    for (size_t i = b->top; i < b->bottom; i++)
        for (size_t j = b->left; j < b->right; j++) {
            size_t at = (i * b->width + j) * b->channels;
            if (high)
                p->take_range(x + at, ex + at, acc, high, b->channels);
            else
                p->take(x + at, acc, b->channels);
        }
    if (p->finish)
        p->finish(acc, b->channels, (double) ((b->bottom - b->top) * (b->right - b->left)));
}

/* ex and high may be NULL. */
static void each_window(const struct call *c, const struct pooling_reduction *p, const double *x,
                        const double *ex, double *y, double *high)
{
    struct window v = window_of(c, &window);
    struct box b = { .width = v.x.in, .channels = c->letter['C'] };
    size_t at = 0;

    for (size_t n = 0; n < c->letter['N']; n++) {
        size_t image = n * v.y.in * v.x.in * b.channels;
        for (size_t oy = 0; oy < v.y.out; oy++) {
            clip(&v.y, oy, &b.top, &b.bottom);
            for (size_t ox = 0; ox < v.x.out; ox++, at += b.channels) {
                clip(&v.x, ox, &b.left, &b.right);
                reduce(p, &b, x + image, ex ? ex + image : NULL, y + at, high ? high + at : NULL);
            }
        }
    }
}

void pooling_run(const struct call *c, const struct pooling_reduction *p, const double *x,
                 double *y)
{
    each_window(c, p, x, NULL, y, NULL);
}

void pooling_range(const struct call *c, const struct pooling_reduction *p, const double *x,
                   const double *ex, double *low, double *high)
{
    each_window(c, p, x, ex, low, high);
}

size_t pooling_max_pixels(const struct call *c)
{
    struct window v = window_of(c, &window);
    size_t h = v.y.kernel < v.y.in ? v.y.kernel : v.y.in;
    size_t w = v.x.kernel < v.x.in ? v.x.kernel : v.x.in;

    return h * w;
}

static void add(const double *x, double *acc, size_t channels)
{
    for (size_t k = 0; k < channels; k++)
        acc[k] += x[k];
}

static void divide(double *acc, size_t channels, double count)
{
    for (size_t k = 0; k < channels; k++)
        acc[k] /= count;
}

const struct pooling_reduction pooling_sum = { 0, add, NULL, NULL },
                               pooling_mean = { 0, add, divide, NULL };
