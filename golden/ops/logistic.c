#include "golden/elementary.h"
#include "golden/unary.h"

static const struct role inputs[] = {
    { "input", "the tensor", "*" },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_FIXED, .qscale = 1.0 / 256 },
};

static const struct form forms[] = {
    { "", { 0, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L1, RANKS(1, 4), { DT_F32 } },
    { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static double logistic(double x)
{
    return 1 / (1 + elementary_exp(-x));
}

/* y' = y (1 - y): the relative error of the exponential is damped by 1 - y; sum and quotient round,
 * and by way of tanh() the result is off by half an ulp of 1. */
static double local(double x, double y, double u)
{
    return y * ((1 - y) * bound_exp(u, x) + 4 * u) + u;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, logistic);
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
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.1,
               .text = "interval, plus the error of the exponential" },
    .eval = eval,
    .bound = bound,
};
