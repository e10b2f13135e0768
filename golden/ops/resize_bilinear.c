#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/vector_loop.h"
#include "golden/ops/shared/image/resize.h"

static const struct typing typings[] = {
    /* since, ranks, image, scales */
    { L1, RANK(4), { DT_F32, DT_FLOAT32 } },
    { L3, RANK(4), { DT_F16, DT_FLOAT16 } },
    { L3, RANK(4), { DT_U8, DT_FLOAT32 } },
    { L4, RANK(4), { DT_S8, DT_FLOAT32 } },
};

/* A pixel with weight 0 does not contribute, even if it is infinite. */
static inline double between(double first, double second, double part)
{
    return part == 0 ? first : first * (1 - part) + second * part;
}

/* The weighted sum of the four pixels around a position, for all channels. */
static void mix(const double *top, const double *bottom, struct resize_place x, double part_y,
                size_t channels, double *y)
{
    size_t first = x.first * channels, second = x.second * channels;

    for (size_t k = 0; k < channels; k++)
        y[k] = between(between(top[first + k], top[second + k], x.part),
                       between(bottom[first + k], bottom[second + k], x.part), part_y);
}

/* y = the image x, resized.  column[j]: position of the output's column j in the input. */
static void interpolate(const struct call *c, const struct resize_place *column, const double *x,
                        double *y)
{
    const struct shape *in = &c->in[RESIZE_INPUT]->shape, *out = &c->out[0]->shape;
    struct resize_axis rows = resize_along(c, 1);
    size_t channels = in->dim[3], row = in->dim[2] * channels;

    for (uint32_t b = 0; b < in->dim[0]; b++, x += in->dim[1] * row)
        for (uint32_t i = 0; i < out->dim[1]; i++) {
            struct resize_place p = resize_between(&rows, i);
            for (uint32_t j = 0; j < out->dim[2]; j++, y += channels)
                mix(x + p.first * row, x + p.second * row, column[j], p.part, channels, y);
        }
}

static struct resize_place *columns_of(const struct call *c, struct why *w)
{
    struct resize_axis a = resize_along(c, 2);
    struct resize_place *column = arena_alloc_raw(c->scratch, a.n_out, sizeof *column);

    for (uint64_t j = 0; column && j < a.n_out; j++)
        column[j] = resize_between(&a, j);
    if (!column)
        why_no_memory_for(w, "%s: %llu columns", c->op->name, (unsigned long long) a.n_out);
    return column;
}

static int eval(struct call *c, struct why *w)
{
    const struct resize_place *column = columns_of(c, w);

    if (!column)
        return -1;
    interpolate(c, column, c->x[RESIZE_INPUT], c->y[0]);
    return 0;
}

/* Pixels low..high between which a position may lie within its error. */
struct range {
    size_t low, high;
};

static struct range range_of(struct resize_place p, size_t n)
{
    struct range r = { p.first, p.second };

    if (p.part <= p.slack && r.low > 0)
        r.low--;
    if (1 - p.part <= p.slack && r.high + 1 < n)
        r.high++;
    return r;
}

/* Adds to the bounds ey of a pixel, for each channel, the largest difference between the pixels in
 * the ranges, which bounds the slope, times off.  lo, hi: scratch memory, [channels]. */
VECTOR_LOOP static void add_spread(const struct shape *in, const double *image, struct range y,
                                   struct range x, double off, double *restrict lo,
                                   double *restrict hi, double *restrict ey)
{
    size_t channels = in->dim[3];

    for (size_t k = 0; k < channels; k++) {
        lo[k] = INFINITY;
        hi[k] = -INFINITY;
    }
    for (size_t i = y.low; i <= y.high; i++)
        for (size_t j = x.low; j <= x.high; j++) {
            const double *restrict pixel = image + (i * in->dim[2] + j) * channels;
            for (size_t k = 0; k < channels; k++) {
                lo[k] = bound_smaller(lo[k], pixel[k]);
                hi[k] = bound_larger(hi[k], pixel[k]);
            }
        }
    for (size_t k = 0; k < channels; k++)
        ey[k] = bound_clean(ey[k] + bound_scaled(hi[k] - lo[k], off));
}

/* Adds the effect of rounding errors in the positions.  scratch: [2 * channels] */
static void add_slack(const struct call *c, const struct resize_place *column, const double *image,
                      double *scratch, double *ey)
{
    const struct shape *in = &c->in[RESIZE_INPUT]->shape, *out = &c->out[0]->shape;
    struct resize_axis rows = resize_along(c, 1);
    size_t channels = out->dim[3], size = (size_t) in->dim[1] * in->dim[2] * channels;

    for (size_t b = 0; b < out->dim[0]; b++)
        for (uint32_t i = 0; i < out->dim[1]; i++) {
            struct resize_place p = resize_between(&rows, i);
            struct range y = range_of(p, in->dim[1]);
            for (uint32_t j = 0; j < out->dim[2]; j++, ey += channels) {
                struct range x = range_of(column[j], in->dim[2]);
                double off = p.slack + column[j].slack + 4 * c->unit;
                add_spread(in, image + b * size, y, x, off, scratch, scratch + channels, ey);
            }
        }
}

/* Errors of the pixels are interpolated like the pixels; each of the products and sums is rounded,
 * and each of the four products may be flushed to zero.
 * Implementations may multiply a pixel that has no bound or is NaN by a weight of 0, which gives
 * NaN: it counts as infinite where results are next to it. */
static int bound(struct call *c, struct why *w)
{
    const struct resize_place *column = columns_of(c, w);
    size_t n = tensor_count(c->in[RESIZE_INPUT]), n_out = tensor_count(c->out[0]);
    double *size = arena_alloc_raw(c->scratch, n + 1, sizeof *size), *ey = c->ey[0];
    double *scratch = arena_alloc_raw(c->scratch, 2 * c->out[0]->shape.dim[3] + 1, sizeof *scratch);

    if (!column)
        return -1;
    if (!size || !scratch)
        return why_no_memory_for(w, "%s: a bound of %zu values", c->op->name, n);
    for (size_t i = 0; i < n; i++)
        size[i] = fabs(c->x[RESIZE_INPUT][i]) * 8 * c->unit +
                  (c->ex[RESIZE_INPUT] ? c->ex[RESIZE_INPUT][i] : 0);
    interpolate(c, column, size, ey);
    for (size_t i = 0; i < n_out; i++)
        ey[i] = bound_clean(ey[i] + 4 * bound_tiny(c->unit));
    for (size_t i = 0; i < n; i++)
        size[i] = size[i] < INFINITY ? c->x[RESIZE_INPUT][i] : INFINITY;
    add_slack(c, column, size, scratch, ey);
    return 0;
}

const struct op op_RESIZE_BILINEAR = {
    .code = OP_RESIZE_BILINEAR,
    .name = "RESIZE_BILINEAR",
    .summary = "Resizes images with bilinear interpolation.",
    .formula = "output[n,y,x,c] = input at position (p(y), p(x)), linear between pixels, constant "
               "outside; p(o) = s * o, s = size of input / size of output; with "
               "half_pixel_centers s * (o + 1/2) - 1/2; with align_corners s = (size of input - "
               "1) / (size of output - 1)",
    .since = L1,
    .in = resize_bilinear_in,
    .n_in = RESIZE_ROLES,
    .out = resize_out,
    .n_out = COUNT(resize_out),
    .forms = resize_forms,
    .n_forms = RESIZE_FORMS,
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + RESIZE_LAYOUT,
    .takes_empty = ROLE_BIT(RESIZE_INPUT),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "ex interpolated like the pixels, 8 u of the pixels, four of the smallest "
                       "normal numbers, and the effect of 4 ulps in a position" },
    .infer = resize_infer,
    .eval = eval,
    .bound = bound,
    .draw = resize_draw,
};
