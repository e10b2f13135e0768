#include "golden/judge/bounds.h"
#include "golden/ops/shared/image/resize.h"
#include "golden/ops/shared/lookup.h"

static const struct typing typings[] = {
    /* since, ranks, image, scales */
    { L3, RANK(4), { DT_F32, DT_FLOAT32 } },
    { L3, RANK(4), { DT_F16, DT_FLOAT16 } },
    { L3, RANK(4), { DT_U8, DT_FLOAT32 } },
    { L4, RANK(4), { DT_S8, DT_FLOAT32 } },
};

enum { COLUMNS = 256 };

/* Copies to columns x..x + n - 1 of every row of every output image. */
static void take_columns(const struct call *c, size_t size, uint64_t x, uint32_t n,
                         const char *from, char *to)
{
    const struct shape *in = &c->in[RESIZE_INPUT]->shape, *out = &c->out[0]->shape;
    struct resize_axis rows = resize_along(c, 1), columns = resize_along(c, 2);
    struct axis pixels = { .outer = 1, .len = in->dim[2], .inner = in->dim[3] };
    size_t pixel = in->dim[3] * size, row_in = in->dim[2] * pixel, row_out = out->dim[2] * pixel;
    int32_t index[COLUMNS];

    for (uint32_t i = 0; i < n; i++)
        index[i] = (int32_t) resize_nearest_to(&columns, x + i).at;
    for (uint32_t b = 0; b < in->dim[0]; b++, from += in->dim[1] * row_in)
        for (uint32_t y = 0; y < out->dim[1]; y++, to += row_out)
            lookup_move(size, &pixels, index, n, from + resize_nearest_to(&rows, y).at * row_in,
                        to + x * pixel);
}

static void take_nearest(const struct call *c, size_t size, const void *from, void *to)
{
    uint32_t width = c->out[0]->shape.dim[2];

    for (uint32_t x = 0; x < width; x += COLUMNS)
        take_columns(c, size, x, width - x < COLUMNS ? width - x : COLUMNS, from, to);
}

static void move(const struct call *c, const struct movement *m)
{
    take_nearest(c, m->size, m->from[RESIZE_INPUT], m->to[0]);
}

static bool is_certain(const struct call *c, uint32_t dimension)
{
    struct resize_axis a = resize_along(c, dimension);

    for (uint64_t o = 0; o < a.n_out; o++) {
        struct resize_nearest n = resize_nearest_to(&a, o);
        if (n.low != n.high)
            return false;
    }
    return true;
}

/* Moving errors with the elements is a bound only where the nearest pixels are certain. */
static bool moves(const struct call *c)
{
    return c->unit == 0 || (is_certain(c, 1) && is_certain(c, 2));
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    take_nearest(c, sizeof(double), c->x[RESIZE_INPUT], c->y[0]);
    return 0;
}

/* Largest difference from `value` of the pixels that may be the nearest. */
static double reach(const struct call *c, struct resize_nearest y, struct resize_nearest x,
                    size_t image, size_t channel, double value)
{
    const struct shape *in = &c->in[RESIZE_INPUT]->shape;
    const double *px = c->x[RESIZE_INPUT], *ex = c->ex[RESIZE_INPUT];
    double far = 0;

    for (size_t i = y.low; i <= y.high; i++)
        for (size_t j = x.low; j <= x.high; j++) {
            size_t at = ((image * in->dim[1] + i) * in->dim[2] + j) * in->dim[3] + channel;
            double off = px[at] == value ? 0 : fabs(px[at] - value);
            far = fmax(far, bound_clean(off + (ex ? ex[at] : 0)));
        }
    return far;
}

static int bound(struct call *c, struct why *w)
{
    const struct shape *out = &c->out[0]->shape;
    struct resize_axis rows = resize_along(c, 1), columns = resize_along(c, 2);
    size_t at = 0;

    (void) w;
    for (size_t b = 0; b < out->dim[0]; b++)
        for (uint32_t i = 0; i < out->dim[1]; i++) {
            struct resize_nearest y = resize_nearest_to(&rows, i);
            for (uint32_t j = 0; j < out->dim[2]; j++) {
                struct resize_nearest x = resize_nearest_to(&columns, j);
                for (size_t k = 0; k < out->dim[3]; k++, at++)
                    c->ey[0][at] = reach(c, y, x, b, k, c->y[0][at]);
            }
        }
    return 0;
}

const struct op op_RESIZE_NEAREST_NEIGHBOR = {
    .code = OP_RESIZE_NEAREST_NEIGHBOR,
    .name = "RESIZE_NEAREST_NEIGHBOR",
    .summary = "Resizes images; each pixel is the nearest one of the input.",
    .formula = "output[n,y,x,c] = input[n, near(y, height), near(x, width), c]; near(o) = "
               "min(floor(s * o), size - 1), s = size of input / size of output; with "
               "half_pixel_centers floor(s * (o + 1/2)); with align_corners round(s * o), s = "
               "(size of input - 1) / (size of output - 1)",
    .since = L3,
    .in = resize_nearest_in,
    .n_in = RESIZE_ROLES,
    .out = resize_out,
    .n_out = COUNT(resize_out),
    .forms = resize_forms,
    .n_forms = RESIZE_FORMS,
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + RESIZE_LAYOUT,
    .takes_empty = ROLE_BIT(RESIZE_INPUT),
    .error = { ERROR_EXACT,
               .text = "the errors of the elements move with them; distance to other pixels that "
                       "single precision may find nearest" },
    .infer = resize_infer,
    .eval = eval,
    .move = move,
    .moves = moves,
    .bound = bound,
    .draw = resize_draw,
};
