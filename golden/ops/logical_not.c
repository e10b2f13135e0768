#include "golden/ops/shared/elementwise/unary.h"

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_B8 } },
};

static double opposite(double x)
{
    return 1 - x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, opposite);
    return 0;
}

const struct op op_LOGICAL_NOT = {
    .code = OP_LOGICAL_NOT,
    .name = "LOGICAL_NOT",
    .summary = "Logical negation of every element.",
    .formula = "out = !x",
    .since = L3,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "undecided where the input is" },
    .eval = eval,
    .bound = unary_bound_carried,
};
