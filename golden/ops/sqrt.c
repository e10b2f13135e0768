#include "golden/ops/shared/elementwise/unary.h"

static const struct role inputs[] = {
    { "input", "numbers; negative ones give NaN", "*", .needs = NEEDS_NONNEG },
};

/* Implementations may compute x * rsqrt(x) with an approximate rsqrt. */
static double local(double x, double y, double u)
{
    (void) x;
    return isinf(y) ? 0 : 2 * u * 3 * y;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, sqrt);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, sqrt, local);
    return 0;
}

const struct op op_SQRT = {
    .code = OP_SQRT,
    .name = "SQRT",
    .summary = "Square root of every element.",
    .formula = "out = sqrt(x)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_floats,
    .n_typings = COUNT(unary_floats),
    .error = { ERROR_ELEMENT, .ulps = 1, .text = "interval, plus 3 ulps" },
    .eval = eval,
    .bound = bound,
};
