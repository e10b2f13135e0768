#include "golden/ops/shared/image/resize.h"

#include <math.h>

/* Error of a position in single precision: the scale is rounded (twice if computed from a
 * reciprocal), and its product with the pixel index. */
static const double relative_slack = 4 * 0x1p-24;

#define INPUTS(layout_may_be_omitted)                                                              \
    {                                                                                              \
        [RESIZE_INPUT] = { "input", "the image; the batch size may be 0", "NHWC", .slot = 0,       \
                           .image = true },                                                        \
        [RESIZE_WIDTH] = { "width", "columns of the output", .slot = FIXED(DT_INT32),              \
                           .draw = DRAW_OP, .needs = NEEDS_CONST },                                \
        [RESIZE_HEIGHT] = { "height", "rows of the output", .slot = FIXED(DT_INT32),               \
                            .draw = DRAW_OP, .needs = NEEDS_CONST },                               \
        [RESIZE_WIDTH_SCALE] = { "width_scale",                                                    \
                                 "the output has floor(columns * width_scale) columns", .slot = 1, \
                                 .draw = DRAW_POSITIVE, .needs = NEEDS_CONST },                    \
        [RESIZE_HEIGHT_SCALE] = { "height_scale",                                                  \
                                  "the output has floor(rows * height_scale) rows", .slot = 1,     \
                                  .draw = DRAW_POSITIVE, .needs = NEEDS_CONST },                   \
        [RESIZE_LAYOUT] = { "nchw",                                                                \
                            "true: input and output are NCHW",                                     \
                            .slot = FIXED(DT_BOOL),                                                \
                            .since = L3,                                                           \
                            .optional = (layout_may_be_omitted),                                   \
                            .draw = DRAW_FLAG },                                                   \
        [RESIZE_CORNERS] = { "align_corners",                                                      \
                             "true: corner pixels of input and output coincide",                   \
                             .slot = FIXED(DT_BOOL),                                               \
                             .since = L4,                                                          \
                             .optional = true,                                                     \
                             .draw = DRAW_OP },                                                    \
        [RESIZE_HALF] = { "half_pixel_centers",                                                    \
                          "true: a pixel's position is its centre; not with align_corners",        \
                          .slot = FIXED(DT_BOOL),                                                  \
                          .since = L4,                                                             \
                          .optional = true,                                                        \
                          .draw = DRAW_OP },                                                       \
    }

const struct role resize_bilinear_in[RESIZE_ROLES] = INPUTS(true);
const struct role resize_nearest_in[RESIZE_ROLES] = INPUTS(false);
#undef INPUTS

const struct role resize_out[1] = {
    { "output", "the image in its new size", "N??C", .slot = 0, .image = true, .q = Q_SAME },
};

const struct form resize_forms[RESIZE_FORMS] = {
    { "sizes",
      { RESIZE_INPUT, RESIZE_WIDTH, RESIZE_HEIGHT, RESIZE_LAYOUT, RESIZE_CORNERS, RESIZE_HALF,
        END } },
    { "scales",
      { RESIZE_INPUT, RESIZE_WIDTH_SCALE, RESIZE_HEIGHT_SCALE, RESIZE_LAYOUT, RESIZE_CORNERS,
        RESIZE_HALF, END },
      .since = L3 },
};

/* The output size: the given size, or the product of input size and scale in single precision,
 * which rounds a product just below an integer to that integer.  Leaves *ret_size unchanged if
 * unknown. */
static int new_size(const struct call *c, int size_role, int scale_role, uint32_t old,
                    uint32_t *ret_size, struct why *w)
{
    bool scaled = c->form == &c->op->forms[1];
    int role = scaled ? scale_role : size_role;
    double size = scaled ? floor((double) (float) (old * call_real(c, role))) : call_real(c, role);

    if (!call_known(c, role))
        return 0;
    REQUIRE(w, size >= 1 && size <= INT32_MAX,
            "%s %g gives an output size of %g for an input of %u", c->op->in[role].name,
            call_real(c, role), size, old);
    *ret_size = (uint32_t) size;
    return 0;
}

int resize_infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[RESIZE_INPUT]->shape;
    struct shape *out = &c->out[0]->shape;

    REQUIRE(w, in->dim[1] > 0 && in->dim[2] > 0, "the image has no pixels: %u x %u", in->dim[1],
            in->dim[2]);
    if (call_known(c, RESIZE_CORNERS) && call_known(c, RESIZE_HALF))
        REQUIRE(w, call_real(c, RESIZE_CORNERS) == 0 || call_real(c, RESIZE_HALF) == 0,
                "align_corners and half_pixel_centers exclude each other");
    TRY(new_size(c, RESIZE_HEIGHT, RESIZE_HEIGHT_SCALE, in->dim[1], &out->dim[1], w));
    return new_size(c, RESIZE_WIDTH, RESIZE_WIDTH_SCALE, in->dim[2], &out->dim[2], w);
}

bool resize_draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *value = to->data;

    if (role == RESIZE_CORNERS) {
        *value = d->below(d, 3) == 0;
        return true;
    }
    if (role == RESIZE_HALF) {
        *value = call_real(c, RESIZE_CORNERS) == 0 && d->below(d, 4);
        return true;
    }
    uint32_t old = c->in[RESIZE_INPUT]->shape.dim[role == RESIZE_HEIGHT ? 1 : 2];
    *value = 1 + (int32_t) d->below(d, 2 * old + 2);
    return true;
}

struct resize_axis resize_along(const struct call *c, uint32_t dimension)
{
    return (struct resize_axis){ c->in[RESIZE_INPUT]->shape.dim[dimension],
                                 c->out[0]->shape.dim[dimension], call_real(c, RESIZE_CORNERS) != 0,
                                 call_real(c, RESIZE_HALF) != 0 };
}

/* A position in the input: n / d pixels. */
struct fraction {
    uint64_t n, d;
};

/* The source position of output o, without the half pixel to be subtracted for half_pixel_centers.
 * Numerators of sizes below 2^31 fit into 64 bits. */
static struct fraction place_of(const struct resize_axis *a, uint64_t o)
{
    if (a->half)
        return (struct fraction){ (2 * o + 1) * a->n_in, 2 * a->n_out };
    if (a->corners && a->n_out > 1)
        return (struct fraction){ o * (a->n_in - 1), a->n_out - 1 };
    return (struct fraction){ o * a->n_in, a->n_out };
}

/* Maximum error of a position in single precision; 0 if scale and position are representable. */
static double slack_at(const struct resize_axis *a, struct fraction f)
{
    bool corners = a->corners && a->n_out > 1;
    double scale = (double) (a->n_in - corners) / (double) (a->n_out - corners);
    double at = (double) f.n / (double) f.d;
    bool exact = (double) (float) scale == scale && (double) (float) at == at;

    return exact && a->n_out < 1u << 23 ? 0 : at * relative_slack;
}

struct resize_place resize_between(const struct resize_axis *a, uint64_t o)
{
    struct fraction f = place_of(a, o);
    struct resize_place p = { .slack = slack_at(a, f) };

    if (a->half) {
        if (f.n < a->n_out) { /* before the centre of the first pixel */
            bool within = (double) (a->n_out - f.n) <= p.slack * (double) f.d;
            p.second = within && a->n_in > 1 ? 1 : 0;
            return p;
        }
        f.n -= a->n_out;
    }
    p.first = (uint32_t) (f.n / f.d);
    p.second = p.first + 1 < a->n_in ? p.first + 1 : p.first;
    p.part = (double) (f.n % f.d) / (double) f.d;
    return p;
}

struct resize_nearest resize_nearest_to(const struct resize_axis *a, uint64_t o)
{
    struct fraction f = place_of(a, o);
    double slack = slack_at(a, f);

    if (a->corners) /* rounds to nearest, half up; otherwise down */
        f = (struct fraction){ 2 * f.n + f.d, 2 * f.d };
    uint64_t at = f.n / f.d, last = a->n_in - 1;
    double part = (double) (f.n % f.d) / (double) f.d;
    uint64_t low = part < slack && at > 0 ? at - 1 : at, high = 1 - part <= slack ? at + 1 : at;
    return (struct resize_nearest){ (uint32_t) (at < last ? at : last),
                                    (uint32_t) (low < last ? low : last),
                                    (uint32_t) (high < last ? high : last) };
}
