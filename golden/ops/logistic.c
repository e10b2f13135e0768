#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_FIXED, .qscale = 1.0 / 256 },
};

static double logistic(double x)
{
    return 1 / (1 + elementary_exp(-x));
}

/* y' = y (1 - y): the relative error of the exponential is multiplied by 1 - y; sum and quotient
 * are rounded; computed with tanh(), the result has an error of half an ulp of 1. */
static double local(double x, double y, double u)
{
    return y * ((1 - y) * bound_exp(u, x) + 4 * u) + u;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval_all(c, elementary_logistic_all);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, logistic, local);
    return 0;
}

const struct op op_LOGISTIC = {
    .code = OP_LOGISTIC,
    .name = "LOGISTIC",
    .summary = "Sigmoid of every element.",
    .formula = "out = 1 / (1 + exp(-x))",
    .since = L1,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_clamped,
    .n_typings = COUNT(unary_clamped),
    .takes_empty = ROLE_BIT(0),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.1,
               .text = "interval, plus the error of the exponential" },
    .eval = eval,
    .bound = bound,
};
