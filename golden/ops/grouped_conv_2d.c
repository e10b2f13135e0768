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
    GROUPS,
    ACTIVATION,
    LAYOUT
};

#define I32 FIXED(DT_INT32)

static const struct role inputs[] = {
#include "golden/ops/shared/image/conv_roles.def"
#include "golden/ops/shared/image/conv_window_roles.def"
    [FILTER] = { "filter", "the weights of one group each; per-channel scales along dimension 0",
                 "OhwJ", .slot = 1, .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [GROUPS] = { "groups", "equal parts of the channels, each with filters of its own", .slot = I32,
                 .draw = DRAW_OP },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                 .draw = DRAW_FLAG },
};

static const struct form forms[] = {
    { "explicit padding",
      { INPUT, FILTER, BIAS, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, STRIDE_W, STRIDE_H, GROUPS,
        ACTIVATION, LAYOUT, END } },
    { "implicit padding",
      { INPUT, FILTER, BIAS, SCHEME, STRIDE_W, STRIDE_H, GROUPS, ACTIVATION, LAYOUT, END } },
};

static const struct window_roles window = {
    .scheme = SCHEME,
    .y = { PAD_TOP, PAD_BOTTOM, STRIDE_H, NO_ROLE, NO_ROLE },
    .x = { PAD_LEFT, PAD_RIGHT, STRIDE_W, NO_ROLE, NO_ROLE },
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
                                .groups = (size_t) call_int(c, GROUPS) };
}

static size_t terms(const struct call *c)
{
    return (size_t) c->letter['h'] * c->letter['w'] * c->letter['J'];
}

static const struct dot dot = { INPUT, FILTER, BIAS, ACTIVATION, NULL, terms, shape, 1 };

static int infer(struct call *c, struct why *w)
{
    uint32_t in = c->letter['I'], each = c->letter['J'], out = c->letter['O'];

    TRY(conv_check_channels(c->in[FILTER], 0, w));
    if (call_known(c, GROUPS)) {
        int32_t groups = call_int(c, GROUPS);
        REQUIRE(w, groups > 0, "groups %d must be positive", groups);
        REQUIRE(w, (uint64_t) each * (uint64_t) groups == in,
                "%d groups of %u channels do not match the %u channels of the input", groups, each,
                in);
        REQUIRE(w, out % (uint32_t) groups == 0,
                "%u output channels are not divisible into %d groups", out, groups);
    }
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

/* A random divisor of n, at most 8. */
static uint32_t divisor(uint32_t n, struct drawer *d)
{
    uint32_t g = 1 + d->below(d, n < 8 ? n : 8);

    while (n % g != 0)
        g--;
    return g;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t in = c->letter['I'];

    if (role == GROUPS) {
        *(int32_t *) to->data = (int32_t) (in / c->letter['J']);
        return true;
    }
    if (role != FILTER)
        return window_draw(c, &window, role, d, to);
    uint32_t groups = divisor(in, d);
    to->shape = (struct shape){ 4,
                                { groups * (1 + d->below(d, 3)), window_draw_filter(c, 'H', d),
                                  window_draw_filter(c, 'W', d), in / groups } };
    return true;
}

const struct op op_GROUPED_CONV_2D = {
    .code = OP_GROUPED_CONV_2D,
    .name = "GROUPED_CONV_2D",
    .summary = "2-D convolution of each group of channels with its own filters.",
    .formula = "output[n,y,x,o] = act(bias[o] + sum over i,j,k of filter[o,i,j,k] * "
               "input[n, y*stride_height + i - pad_top, x*stride_width + j - pad_left, "
               "floor(o * groups / O) * J + k])",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = conv_out,
    .n_out = COUNT(conv_out),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = conv_typings_l3,
    .n_typings = COUNT(conv_typings_l3),
    .layout = 1 + LAYOUT,
    .units = true,
    .error = { ERROR_DOT, .ulps = 1,
               .text = "factor * sqrt(K) * u * (|bias| + sum |w*x|) + sum |w|*ex + sum |x|*ew" },
    .infer = infer,
    .eval = eval,
    .eval_stored = eval_stored,
    .bound = bound,
    .draw = draw,
};
