#include "golden/ops/shared/reduce.h"

static double smaller(double acc, double x)
{
    return x < acc || isnan(x) ? x : acc;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    reduce_fold(c, c->x[REDUCE_INPUT], INFINITY, smaller, c->y[0]);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    return reduce_bound_monotone(c, INFINITY, smaller, w);
}

const struct op op_REDUCE_MIN = {
    .code = OP_REDUCE_MIN,
    .name = "REDUCE_MIN",
    .summary = "Smallest element along some dimensions; for no elements the largest number of the "
               "type.",
    .formula = "out[..] = min_{i in axes} in[.., i, ..]",
    .since = L3,
    .in = reduce_in,
    .n_in = COUNT(reduce_in),
    .out = reduce_out,
    .n_out = COUNT(reduce_out),
    .forms = reduce_forms,
    .n_forms = COUNT(reduce_forms),
    .typings = reduce_ordered,
    .n_typings = COUNT(reduce_ordered),
    .fails_above = ROLE_BIT(REDUCE_AXES),
    .fails_below = ROLE_BIT(REDUCE_AXES),
    .error = { ERROR_EXACT, .text = "interval of the inputs" },
    .infer = reduce_infer,
    .eval = eval,
    .bound = bound,
    .draw = reduce_draw,
};
