#include "golden/ops/shared/arg_min_max.h"

static int eval(struct call *c, struct why *w)
{
    return extreme_eval(c, -1, w);
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    extreme_bound(c, -1);
    return 0;
}

const struct op op_ARGMIN = {
    .code = OP_ARGMIN,
    .name = "ARGMIN",
    .summary = "Index of the smallest element along a dimension; the first of equal ones.",
    .formula = "out[..] = argmin_i in[.., i, ..]",
    .since = L3,
    .in = extreme_in,
    .n_in = COUNT(extreme_in),
    .out = extreme_out,
    .n_out = COUNT(extreme_out),
    .forms = extreme_forms,
    .n_forms = COUNT(extreme_forms),
    .typings = extreme_typings,
    .n_typings = COUNT(extreme_typings),
    .error = { ERROR_DISCRETE,
               .text = "distance to the farthest index that may hold the smallest element" },
    .infer = extreme_infer,
    .eval = eval,
    .bound = bound,
};
