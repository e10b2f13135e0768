#include "golden/ops/shared/reduce.h"

static double add(double acc, double x)
{
    return acc + x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    reduce_fold(c, c->x[REDUCE_INPUT], 0, add, c->y[0]);
    return 0;
}

const struct op op_REDUCE_SUM = {
    .code = OP_REDUCE_SUM,
    .name = "REDUCE_SUM",
    .summary = "Sum over some dimensions; 0 for no elements.",
    .formula = "out[..] = sum_{i in axes} in[.., i, ..]",
    .since = L3,
    .in = reduce_in,
    .n_in = COUNT(reduce_in),
    .out = reduce_out,
    .n_out = COUNT(reduce_out),
    .forms = reduce_forms,
    .n_forms = COUNT(reduce_forms),
    .typings = reduce_floats,
    .n_typings = COUNT(reduce_floats),
    .fails_above = ROLE_BIT(REDUCE_AXES),
    .fails_below = ROLE_BIT(REDUCE_AXES),
    .error = { ERROR_DOT, .ulps = 1, .text = "sum of the inputs' errors" },
    .infer = reduce_infer,
    .eval = eval,
    .bound = reduce_bound_sum,
    .draw = reduce_draw,
};
