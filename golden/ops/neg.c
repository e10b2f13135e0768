#include "golden/ops/shared/elementwise/unary.h"

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } },
};

static double negate(double x)
{
    return -x;
}

static int32_t negate_int(int32_t x)
{
    return (int32_t) (0 - (uint32_t) x);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, negate);
    return 0;
}

static void eval_int(struct call *c)
{
    unary_eval_int(c, negate_int);
}

const struct op op_NEG = {
    .code = OP_NEG,
    .name = "NEG",
    .summary = "Negation of every element.",
    .formula = "out = -x",
    .since = L3,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "the error of the input" },
    .eval = eval,
    .eval_int = eval_int,
    .bound = unary_bound_carried,
};
