#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

static const struct role inputs[] = {
    { "input", "exponents", "*", .needs = NEEDS_SMALL },
};

static double local(double x, double y, double u)
{
    return y > 0 && y < INFINITY ? y * bound_exp(u, x) : 0;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval_all(c, elementary_exp_all);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, elementary_exp, local);
    return 0;
}

const struct op op_EXP = {
    .code = OP_EXP,
    .name = "EXP",
    .summary = "Exponential of every element.",
    .formula = "out = e^x",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_floats,
    .n_typings = COUNT(unary_floats),
    .error = { ERROR_ELEMENT, .ulps = 1, .text = "interval, plus 3 + 2|x| ulps (fp16: 1 + 2|x|)" },
    .eval = eval,
    .bound = bound,
};
