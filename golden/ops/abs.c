#include "golden/ops/shared/elementwise/unary.h"

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L4, RANKS(1, MAX_RANK), { DT_I32 } },
};

static int32_t absolute_int(int32_t x)
{
    return x < 0 ? (int32_t) (0 - (uint32_t) x) : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, fabs);
    return 0;
}

static void eval_int(struct call *c)
{
    unary_eval_int(c, absolute_int);
}

const struct op op_ABS = {
    .code = OP_ABS,
    .name = "ABS",
    .summary = "Absolute value of every element.",
    .formula = "out = |x|",
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
