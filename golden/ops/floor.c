#include "golden/ops/shared/elementwise/unary.h"

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L1, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_F16 } },
};

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, floor);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, floor, NULL);
    return 0;
}

const struct op op_FLOOR = {
    .code = OP_FLOOR,
    .name = "FLOOR",
    .summary = "Rounds every element down to a whole number.",
    .formula = "out = floor(x)",
    .since = L1,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE,
               .text = "interval: either side of a whole number within the input's error" },
    .eval = eval,
    .bound = bound,
};
