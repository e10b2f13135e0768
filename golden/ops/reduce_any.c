#include "golden/ops/shared/reduce.h"

static double either(double acc, double x)
{
    return acc > 0 || x > 0;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    reduce_fold(c, c->x[REDUCE_INPUT], 0, either, c->y[0]);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    return reduce_bound_monotone(c, 0, either, w);
}

const struct op op_REDUCE_ANY = {
    .code = OP_REDUCE_ANY,
    .name = "REDUCE_ANY",
    .summary = "Whether any element along some dimensions is true; false for no elements.",
    .formula = "out[..] = in[.., i, ..] || ... over i in axes",
    .since = L3,
    .in = reduce_in,
    .n_in = COUNT(reduce_in),
    .out = reduce_out,
    .n_out = COUNT(reduce_out),
    .forms = reduce_forms,
    .n_forms = COUNT(reduce_forms),
    .typings = reduce_bools,
    .n_typings = COUNT(reduce_bools),
    .fails_above = ROLE_BIT(REDUCE_AXES),
    .fails_below = ROLE_BIT(REDUCE_AXES),
    .error = { ERROR_EXACT, .text = "undecided where undecided elements can change the result" },
    .infer = reduce_infer,
    .eval = eval,
    .bound = bound,
    .draw = reduce_draw,
};
