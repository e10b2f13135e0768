#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/unary.h"

static double relu(double x)
{
    return x < 0 ? 0 : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, relu);
    return 0;
}

VECTOR_LOOP static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_clamp(c, relu);
    return 0;
}

const struct op op_RELU = {
    .code = OP_RELU,
    .name = "RELU",
    .summary = "Clamps every element to [0, inf).",
    .formula = "out = max(0, x)",
    .since = L1,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_clamped,
    .n_typings = COUNT(unary_clamped),
    .takes_empty = ROLE_BIT(0),
    .error = { ERROR_EXACT, .text = "interval: never more than the input's error" },
    .eval = eval,
    .bound = bound,
};
