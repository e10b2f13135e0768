#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

static const struct role inputs[] = {
    { "input", "positive numbers; of others the logarithm is NaN, of 0 -inf", "*",
      .needs = NEEDS_NONNEG | NEEDS_NONZERO },
};

/* 5 ulps; at least 4 ulps of 1: near x = 1 the result is small, but implementations compute it from
 * exponent and fraction, whose logarithms are not. */
static double local(double x, double y, double u)
{
    (void) x;
    return isinf(y) ? 0 : 2 * u * fmax(5 * fabs(y), 4);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval_all(c, elementary_log_all);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, elementary_log, local);
    return 0;
}

const struct op op_LOG = {
    .code = OP_LOG,
    .name = "LOG",
    .summary = "Natural logarithm of every element.",
    .formula = "out = ln(x)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_floats,
    .n_typings = COUNT(unary_floats),
    .error = { ERROR_ELEMENT, .ulps = 1, .text = "interval, plus 5 ulps, at least 4 ulps of 1" },
    .eval = eval,
    .bound = bound,
};
