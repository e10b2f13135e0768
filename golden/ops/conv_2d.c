#include "golden/ops/shared/image/conv.h"

enum {
    INPUT,
    FILTER,
    BIAS,
    SCHEME,
    PAD_LEFT,
    PAD_RIGHT,
    PAD_TOP,
    PAD_BOTTOM,
    STRIDE_W,
    STRIDE_H,
    ACTIVATION,
    LAYOUT,
    DILATION_W,
    DILATION_H
};

#define I32 FIXED(DT_INT32)

static const struct role inputs[] = {
#include "golden/ops/shared/image/conv_roles.def"
#include "golden/ops/shared/image/conv_window_roles.def"
    [FILTER] = { "filter", "the weights; per-channel scales along dimension 0", "OhwI", .slot = 1,
                 .ranks = RANK(4), .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL), .since = L3,
                 .optional = true, .draw = DRAW_FLAG },
    [DILATION_W] = { "dilation_width", "columns from one tap of the filter to the next",
                     .slot = I32, .since = L3, .otherwise = 1, .draw = DRAW_OP },
    [DILATION_H] = { "dilation_height", "rows from one tap of the filter to the next", .slot = I32,
                     .since = L3, .otherwise = 1, .draw = DRAW_OP },
};

/* Dilations come both or not at all. */
static const struct form forms[] = {
    { "explicit padding",
      { INPUT, FILTER, BIAS, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, STRIDE_W, STRIDE_H,
        ACTIVATION, LAYOUT, END } },
    { "implicit padding",
      { INPUT, FILTER, BIAS, SCHEME, STRIDE_W, STRIDE_H, ACTIVATION, LAYOUT, END } },
    { "explicit padding, dilation",
      { INPUT, FILTER, BIAS, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, STRIDE_W, STRIDE_H,
        ACTIVATION, LAYOUT, DILATION_W, DILATION_H, END },
      L3 },
    { "implicit padding, dilation",
      { INPUT, FILTER, BIAS, SCHEME, STRIDE_W, STRIDE_H, ACTIVATION, LAYOUT, DILATION_W, DILATION_H,
        END },
      L3 },
};

static const struct window_roles window = {
    .scheme = SCHEME,
    .y = { PAD_TOP, PAD_BOTTOM, STRIDE_H, NO_ROLE, DILATION_H },
    .x = { PAD_LEFT, PAD_RIGHT, STRIDE_W, NO_ROLE, DILATION_W },
    .activation = ACTIVATION,
};

static void shape(const struct call *c, struct dot_window *ret)
{
    struct window v = window_of(c, &window);

    *ret = (struct dot_window){ .y = v.y,
                                .x = v.x,
                                .batch = c->letter['N'],
                                .in_c = c->letter['I'],
                                .out_c = c->letter['O'],
                                .groups = 1 };
}

static size_t terms(const struct call *c)
{
    return (size_t) c->letter['h'] * c->letter['w'] * c->letter['I'];
}

static const struct dot dot = { INPUT, FILTER, BIAS, ACTIVATION, NULL, terms, shape, 1 };

static int infer(struct call *c, struct why *w)
{

    TRY(conv_check_channels(c->in[FILTER], 0, w));
    dot_level_conv(c, &dot);
    return window_infer(c, &window, w);
}

static int eval(struct call *c, struct why *w)
{
    return dot_eval(c, &dot, w);
}

static int eval_stored(struct call *c, struct why *w)
{
    return dot_eval_stored(c, &dot, w);
}

static int bound(struct call *c, struct why *w)
{
    return dot_bound(c, &dot, w);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role != FILTER)
        return window_draw(c, &window, role, d, to);
    to->shape = (struct shape){ 4,
                                { d->size(d, 8), window_draw_filter(c, 'H', d),
                                  window_draw_filter(c, 'W', d), c->letter['I'] } };
    return true;
}

const struct op op_CONV_2D = {
    .code = OP_CONV_2D,
    .name = "CONV_2D",
    .summary = "2-D convolution with bias and fused activation.",
    .formula = "output[n,y,x,o] = act(bias[o] + sum over i,j,k of filter[o,i,j,k] * "
               "input[n, y*stride_height + i*dilation_height - pad_top, "
               "x*stride_width + j*dilation_width - pad_left, k])",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = conv_out,
    .n_out = COUNT(conv_out),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = conv_typings,
    .n_typings = COUNT(conv_typings),
    .layout = 1 + LAYOUT,
    .units = true,
    .takes_empty = ROLE_BIT(INPUT),
    .error = { ERROR_DOT, .ulps = 1,
               .text = "factor * sqrt(K) * u * (|bias| + sum |w*x|) + sum |w|*ex + sum |x|*ew" },
    .infer = infer,
    .eval = eval,
    .eval_stored = eval_stored,
    .bound = bound,
    .draw = draw,
};
