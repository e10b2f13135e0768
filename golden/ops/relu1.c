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

static double relu1(double x)
{
    return x < -1 ? -1 : x > 1 ? 1 : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, relu1);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, relu1, NULL);
    return 0;
}

const struct op op_RELU1 = {
    .code = OP_RELU1,
    .name = "RELU1",
    .summary = "Clamps every element to [-1, 1].",
    .formula = "out = min(1, max(-1, x))",
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
