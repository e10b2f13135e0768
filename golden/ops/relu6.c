#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/unary.h"

static double relu6(double x)
{
    return x < 0 ? 0 : x > 6 ? 6 : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, relu6);
    return 0;
}

VECTOR_LOOP static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_clamp(c, relu6);
    return 0;
}

const struct op op_RELU6 = {
    .code = OP_RELU6,
    .name = "RELU6",
    .summary = "Clamps every element to [0, 6].",
    .formula = "out = min(6, max(0, x))",
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
