/* Every input pixel adds the filter, multiplied by the pixel, to the output.  For an output pixel
 * that is a convolution with every stride-th tap of the filter, in reverse order.  Outputs that are
 * a stride apart use the same taps, so that the output consists of stride_height * stride_width
 * phases, each an ordinary convolution of stride 1.  Each output sums its products in the order of
 * the input: row, column, channel. */
#include "golden/model/copy_elements.h"
#include "golden/ops/shared/image/conv.h"

enum {
    INPUT,
    FILTER,
    BIAS,
    SHAPE,
    SCHEME,
    PAD_LEFT,
    PAD_RIGHT,
    PAD_TOP,
    PAD_BOTTOM,
    STRIDE_W,
    STRIDE_H,
    ACTIVATION,
    LAYOUT
};

#define I32 FIXED(DT_INT32)

static const struct role inputs[] = {
#include "golden/ops/shared/image/conv_roles.def"
    [FILTER] = { "filter", "the weights; per-channel scales along dimension 0", "OhwI", .slot = 1,
                 .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [SHAPE] = { "output_shape",
                "the shape of the output, in its layout; its batch is ignored, that of the input "
                "applies",
                "4", .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [SCHEME] = { "padding", "1 SAME: the padding that makes output_shape; 2 VALID: none",
                 .slot = I32, .draw = DRAW_OP },
    [PAD_LEFT] = { "pad_left", "columns cut off before the output", .slot = I32, .draw = DRAW_OP },
    [PAD_RIGHT] = { "pad_right", "columns cut off after it; added, where negative", .slot = I32,
                    .draw = DRAW_OP },
    [PAD_TOP] = { "pad_top", "rows cut off above it", .slot = I32, .draw = DRAW_OP },
    [PAD_BOTTOM] = { "pad_bottom", "rows cut off below it; added, where negative", .slot = I32,
                     .draw = DRAW_OP },
    [STRIDE_W] = { "stride_width", "output columns between input columns", .slot = I32,
                   .draw = DRAW_OP },
    [STRIDE_H] = { "stride_height", "output rows between input rows", .slot = I32,
                   .draw = DRAW_OP },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                 .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    { "output", "the enlarged image", "N??O", .slot = 3, .image = true },
};

static const struct form forms[] = {
    { "implicit padding",
      { INPUT, FILTER, BIAS, SHAPE, SCHEME, STRIDE_W, STRIDE_H, ACTIVATION, LAYOUT, END } },
    { "explicit padding",
      { INPUT, FILTER, BIAS, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, STRIDE_W, STRIDE_H,
        ACTIVATION, LAYOUT, END } },
};

/* One axis of one call; int64, so that arithmetic on any int32 operands does not overflow. */
struct axis {
    const char *name;
    int64_t in, kernel, stride, before, after;
    int64_t shape; /* the size in output_shape; 0: none */
    bool known;    /* all operands of the axis have values */
};

static int64_t read(const struct call *c, int role, int64_t otherwise, struct axis *a)
{
    a->known = a->known && call_known(c, role);
    return c->in[role] && call_known(c, role) ? call_int(c, role) : otherwise;
}

static bool is_same(const struct call *c)
{
    return c->in[SCHEME] && call_known(c, SCHEME) && call_int(c, SCHEME) == SCHEME_SAME;
}

/* Dimension i, in NHWC order, of output_shape. */
static int32_t shape_at(const struct call *c, uint32_t i)
{
    static const uint8_t nchw[] = { 0, 2, 3, 1 };
    const int32_t *shape = c->in[SHAPE]->data;

    return shape[c->nchw ? nchw[i] : i];
}

/* Removes the padding that a convolution with SAME padding adds to an image of the output's size.
 * If the last stride extends beyond the filter, the output is enlarged instead. */
static void pad_same(struct axis *a)
{
    int64_t steps = (a->shape + a->stride - 1) / a->stride;
    int64_t need = (steps - 1) * a->stride + a->kernel - a->shape;

    a->before = need > 0 ? need / 2 : 0;
    a->after = need - a->before;
}

/* Reads the operands of an axis, without checking them. */
static struct axis axis_read(const struct call *c, bool vertical)
{
    struct axis a = { .name = vertical ? "height" : "width", .known = true };

    a.in = c->letter[vertical ? 'H' : 'W'];
    a.kernel = c->letter[vertical ? 'h' : 'w'];
    a.stride = read(c, vertical ? STRIDE_H : STRIDE_W, 1, &a);
    a.before = read(c, vertical ? PAD_TOP : PAD_LEFT, 0, &a);
    a.after = read(c, vertical ? PAD_BOTTOM : PAD_RIGHT, 0, &a);
    a.known = a.known && call_known(c, SCHEME);
    if (c->in[SHAPE] && call_known(c, SHAPE))
        a.shape = shape_at(c, vertical ? 1 : 2);
    else if (is_same(c))
        a.known = false;
    if (is_same(c) && a.stride > 0)
        pad_same(&a);
    return a;
}

static int64_t axis_out(const struct axis *a)
{
    return (a->in - 1) * a->stride + a->kernel - a->before - a->after;
}

static int axis_infer(const struct call *c, bool vertical, uint32_t *ret_out, struct why *w)
{
    struct axis a = axis_read(c, vertical);

    REQUIRE(w, a.in > 0, "%s of the image is 0", a.name);
    REQUIRE(w, a.kernel > 0, "%s of the filter is 0", a.name);
    REQUIRE(w, a.stride > 0, "%s: stride %lld must be positive", a.name, (long long) a.stride);
    REQUIRE(w, a.before >= 0, "%s: padding %lld must not be negative", a.name,
            (long long) a.before);
    if (!a.known)
        return 0;
    int64_t out = axis_out(&a);
    REQUIRE(w, out > 0 && out <= UINT32_MAX, "%s of the output is %lld", a.name, (long long) out);
    *ret_out = (uint32_t) out;
    return 0;
}

static int check_shape(const struct call *c, struct why *w)
{
    const struct shape *out = &c->out[0]->shape;

    for (uint32_t i = 1; i < 4; i++)
        REQUIRE(w, (int64_t) out->dim[i] == shape_at(c, i),
                "output_shape has %d, must be %u by image, filter, stride and padding",
                shape_at(c, i), out->dim[i]);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    struct shape *out = &c->out[0]->shape;

    TRY(conv_check_channels(c->in[FILTER], 0, w));
    if (c->in[SCHEME] && call_known(c, SCHEME)) {
        int32_t scheme = call_int(c, SCHEME);
        REQUIRE(w, scheme == SCHEME_SAME || scheme == SCHEME_VALID,
                "padding scheme %d is neither 1 (SAME) nor 2 (VALID)", scheme);
    }
    TRY(axis_infer(c, true, &out->dim[1], w));
    TRY(axis_infer(c, false, &out->dim[2], w));
    if (c->in[SHAPE] && call_known(c, SHAPE) && out->dim[1] && out->dim[2])
        TRY(check_shape(c, w));
    return activation_check(c, ACTIVATION, w);
}

/* The outputs first, first + stride, ... of an axis, and the taps that they use: from `tap`
 * downwards. */
struct phase {
    struct matmul_axis conv;
    size_t first, stride, tap;
};

static size_t phases(const struct axis *a)
{
    return (size_t) (a->stride < axis_out(a) ? a->stride : axis_out(a));
}

static struct phase phase_of(const struct axis *a, size_t first)
{
    int64_t at = (int64_t) first + a->before, least = at % a->stride, taps = 0;

    if (least < a->kernel)
        taps = (a->kernel - 1 - least) / a->stride + 1;
    return (struct phase){
        .conv = { .in = (size_t) a->in,
                  .out = (size_t) ((axis_out(a) - 1 - (int64_t) first) / a->stride + 1),
                  .kernel = (size_t) taps,
                  .stride = 1,
                  .dilation = 1,
                  .pad = (ptrdiff_t) (taps - 1 - at / a->stride) },
        .first = first,
        .stride = (size_t) a->stride,
        .tap = (size_t) (taps ? least + (taps - 1) * a->stride : 0),
    };
}

/* Copies the taps of one phase, in reverse order, from the filter f, [O][h][w][I]. */
static void gather_taps(const struct call *c, const struct phase *y, const struct phase *x,
                        const double *f, double *ret_taps)
{
    ptrdiff_t depth = c->letter['I'], row = (ptrdiff_t) c->letter['w'] * depth;
    ptrdiff_t kx = (ptrdiff_t) x->conv.kernel * depth, ky = (ptrdiff_t) y->conv.kernel * kx;
    const struct copy_axis box[] = {
        { c->letter['O'], (ptrdiff_t) c->letter['h'] * row, ky },
        { y->conv.kernel, -(ptrdiff_t) y->stride * row, kx },
        { x->conv.kernel, -(ptrdiff_t) x->stride * depth, depth },
        { (size_t) depth, 1, 1 },
    };

    if (ky > 0)
        copy_elements(sizeof *f, box, COUNT(box),
                      f + y->tap * (size_t) row + x->tap * (size_t) depth, ret_taps);
}

/* Copies the outputs of one phase, which are contiguous in `part`, to their positions in y. */
static void spread_part(const struct call *c, const struct phase *py, const struct phase *px,
                        const double *part, double *y)
{
    const struct shape *out = &c->out[0]->shape;
    ptrdiff_t pixel = c->letter['O'], row = (ptrdiff_t) out->dim[2] * pixel;
    ptrdiff_t line = (ptrdiff_t) px->conv.out * pixel;
    const struct copy_axis box[] = {
        { out->dim[0], (ptrdiff_t) py->conv.out * line, (ptrdiff_t) out->dim[1] * row },
        { py->conv.out, line, (ptrdiff_t) py->stride * row },
        { px->conv.out, pixel, (ptrdiff_t) px->stride * pixel },
        { (size_t) pixel, 1, 1 },
    };

    copy_elements(sizeof *y, box, COUNT(box), part,
                  y + py->first * (size_t) row + px->first * (size_t) pixel);
}

static int sum(const struct call *c, const double *x, const double *f, const double *init,
               double *y, struct why *w)
{
    struct axis ay = axis_read(c, true), ax = axis_read(c, false);
    struct phase py = phase_of(&ay, 0), px = phase_of(&ax, 0); /* the largest phase */
    bool whole = phases(&ay) == 1 && phases(&ax) == 1;
    size_t batch = c->letter['N'], out_c = c->letter['O'];

    double *taps = dot_scratch(c, tensor_count(c->in[FILTER]), w), *part = y;
    if (!whole)
        part = dot_scratch(c, batch * py.conv.out * px.conv.out * out_c, w);
    if (!taps || !part)
        return -1;
    for (size_t i = 0; i < phases(&ay) * phases(&ax); i++) {
        py = phase_of(&ay, i / phases(&ax));
        px = phase_of(&ax, i % phases(&ax));
        gather_taps(c, &py, &px, f, taps);
        struct matmul_conv conv = { .batch = batch,
                                    .in_c = c->letter['I'],
                                    .out_c = out_c,
                                    .y = py.conv,
                                    .x = px.conv,
                                    .image = x,
                                    .weights = taps,
                                    .init = init,
                                    .out = part };
        matmul_conv(&conv, c->pool);
        if (!whole)
            spread_part(c, &py, &px, part, y);
    }
    return 0;
}

static size_t terms(const struct call *c)
{
    struct axis y = axis_read(c, true), x = axis_read(c, false);

    return (size_t) (((y.kernel - 1) / y.stride + 1) * ((x.kernel - 1) / x.stride + 1)) *
           c->letter['I'];
}

static const struct dot dot = { INPUT, FILTER, BIAS, ACTIVATION, sum, terms, NULL, 1 };

static int eval(struct call *c, struct why *w)
{
    return dot_eval(c, &dot, w);
}

static int bound(struct call *c, struct why *w)
{
    return dot_bound(c, &dot, w);
}

enum { DRAWN_STRIDE = 3, DRAWN_PAD = 2 };

/* Whether the axis with this stride has the size in output_shape. */
static bool stride_fits(struct axis a, bool same, int64_t stride)
{
    a.stride = stride;
    a.before = a.after = 0;
    if (same)
        pad_same(&a);
    return axis_out(&a) == a.shape;
}

static bool scheme_fits(const struct axis *a, bool same)
{
    for (int64_t s = 1; s <= DRAWN_STRIDE; s++)
        if (stride_fits(*a, same, s))
            return true;
    return false;
}

static int32_t draw_stride(const struct call *c, const struct axis *a, struct drawer *d)
{
    int32_t s = 1 + (int32_t) d->below(d, DRAWN_STRIDE);

    for (int i = 1; i < DRAWN_STRIDE && c->in[SHAPE] && !stride_fits(*a, is_same(c), s); i++)
        s = s % DRAWN_STRIDE + 1;
    return s;
}

/* Draws an output size that results from some stride with one of the schemes. */
static int32_t draw_size(const struct axis *a, bool same, struct drawer *d)
{
    int32_t stride = 1 + (int32_t) d->below(d, DRAWN_STRIDE);
    int32_t least = ((int32_t) a->in - 1) * stride;

    return least + (same ? 1 + (int32_t) d->below(d, (uint32_t) stride) : (int32_t) a->kernel);
}

static void draw_shape(const struct call *c, const struct axis *y, const struct axis *x,
                       struct drawer *d, struct tensor *to)
{
    bool same = d->below(d, 2);
    int32_t nhwc[] = { (int32_t) c->letter['N'], draw_size(y, same, d), draw_size(x, same, d),
                       (int32_t) c->letter['O'] };
    int32_t *shape = to->data;

    to->shape = (struct shape){ 1, { 4 } };
    for (int i = 0; i < 4; i++)
        shape[c->nchw && i > 0 ? i % 3 + 1 : i] = nhwc[i];
}

/* Draws a padding that leaves a non-empty output for every stride. */
static int32_t draw_pad(const struct axis *a, bool first, struct drawer *d)
{
    int64_t most = a->kernel - 1;

    if (!first && most > a->in + a->kernel - 2 - a->before)
        most = a->in + a->kernel - 2 - a->before;
    if (most > DRAWN_PAD)
        most = DRAWN_PAD;
    return (int32_t) d->below(d, (uint32_t) most + (first ? 1 : 2)) - (first ? 0 : 1);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    struct axis y = axis_read(c, true), x = axis_read(c, false);
    int32_t *value = to->data;

    switch (role) {
    case FILTER:
        to->shape = (struct shape){
            4, { d->size(d, 8), 1 + d->below(d, 4), 1 + d->below(d, 4), c->letter['I'] }
        };
        break;
    case SHAPE: draw_shape(c, &y, &x, d, to); break;
    case SCHEME:
        *value = 1 + (int32_t) d->below(d, 2);
        if (!scheme_fits(&y, *value == SCHEME_SAME) || !scheme_fits(&x, *value == SCHEME_SAME))
            *value = 3 - *value;
        break;
    case STRIDE_H: *value = draw_stride(c, &y, d); break;
    case STRIDE_W: *value = draw_stride(c, &x, d); break;
    case PAD_TOP: *value = draw_pad(&y, true, d); break;
    case PAD_LEFT: *value = draw_pad(&x, true, d); break;
    case PAD_BOTTOM: *value = draw_pad(&y, false, d); break;
    default: *value = draw_pad(&x, false, d);
    }
    return true;
}

const struct op op_TRANSPOSE_CONV_2D = {
    .code = OP_TRANSPOSE_CONV_2D,
    .name = "TRANSPOSE_CONV_2D",
    .summary =
        "Transposed 2-D convolution: every input pixel adds the weighted filter to the output.",
    .formula = "output[n,y,x,o] = act(bias[o] + sum over r,s,i,j,k with "
               "r*stride_height + i = y + pad_top, s*stride_width + j = x + pad_left of "
               "filter[o,i,j,k] * input[n,r,s,k])",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = conv_typings_l3,
    .n_typings = COUNT(conv_typings_l3),
    .layout = 1 + LAYOUT,
    .units = true,
    .takes_empty = ROLE_BIT(INPUT),
    .error = { ERROR_DOT, .ulps = 1,
               .text = "factor * sqrt(K) * u * (|bias| + sum |w*x|) + sum |w|*ex + sum |x|*ew" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
