#include "golden/ops/shared/elementwise/binary.h"

static const struct role inputs[] = {
    { "input", "the tensor", "?" },
    { "alpha", "slope for negative elements", "?", .draw = DRAW_BROADCAST },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double prelu(double x, double alpha)
{
    return x < 0 ? alpha * x : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, prelu);
    return 0;
}

/* Monotone in x on either side of 0, and in alpha: the extremes are at the corners or 0. */
static double carry(double x, double alpha, double ex, double ealpha)
{
    double y = prelu(x, alpha), between = fabs(x) < ex ? 0 : y;

    if (!isfinite(alpha)) /* implementations may multiply it by 0 where x is positive */
        return INFINITY;
    if (ex == 0 && ealpha == 0)
        return 0;
    return binary_corners(prelu, x, alpha, ex, ealpha, y, between);
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    binary_bound(c, carry);
    return 0;
}

const struct op op_PRELU = {
    .code = OP_PRELU,
    .name = "PRELU",
    .summary = "Parametric ReLU: negative elements times a slope, broadcasting.",
    .formula = "out = x < 0 ? alpha x : x",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = binary_forms,
    .n_forms = COUNT(binary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.05, .text = "interval of both operands" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = bound,
};
