#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_FIXED, .qscale = 1.0 / 128, .qzero = 128 },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L1, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L3, RANKS(1, 4), { DT_U8 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static double local(double x, double y, double u)
{
    return bound_tanh(u, x, y);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, elementary_tanh);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound_monotone(c, elementary_tanh, local);
    return 0;
}

const struct op op_TANH = {
    .code = OP_TANH,
    .name = "TANH",
    .summary = "Hyperbolic tangent of every element.",
    .formula = "out = tanh(x)",
    .since = L1,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(0),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.1,
               .text = "interval, plus the error of the exponential or of a quotient" },
    .eval = eval,
    .bound = bound,
};
