#include "golden/unary.h"

static const struct role inputs[] = {
    { "input", "the tensor", "*" },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_SAME },
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

static double relu6(double x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, relu6);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, relu6, NULL);
    return 0;
}

const struct op op_RELU6 = {
    .code = OP_RELU6,
    .name = "RELU6",
    .summary = "Clamps every element to [0, 6].",
    .formula = "out = min(6, max(0, x))",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "interval: never more than the input's error" },
    .eval = eval,
    .bound = bound,
};
