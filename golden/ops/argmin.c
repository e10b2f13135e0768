#include "golden/ops/shared/arg_min_max.h"

static int eval(struct call *c, struct why *w)
{
    return arg_min_max_eval(c, -1, w);
}

static int bound(struct call *c, struct why *w)
{
    return arg_min_max_bound(c, -1, w);
}

const struct op op_ARGMIN = {
    .code = OP_ARGMIN,
    .name = "ARGMIN",
    .summary = "Index of the smallest element along a dimension; the first of equal ones.",
    .formula = "out[..] = argmin_i in[.., i, ..]",
    .since = L3,
    .in = arg_min_max_in,
    .n_in = COUNT(arg_min_max_in),
    .out = arg_min_max_out,
    .n_out = COUNT(arg_min_max_out),
    .forms = arg_min_max_forms,
    .n_forms = COUNT(arg_min_max_forms),
    .typings = arg_min_max_typings,
    .n_typings = COUNT(arg_min_max_typings),
    .fails_above = ROLE_BIT(1),
    .fails_below = ROLE_BIT(1),
    .error = { ERROR_DISCRETE,
               .text = "the indexes that may hold the smallest element, any of equal ones" },
    .infer = arg_min_max_infer,
    .eval = eval,
    .bound = bound,
};
