#include "golden/ops/shared/elementwise/unary.h"

static const struct role inputs[] = {
    { "input",
      "positive numbers; 0 gives infinity or the largest number of the type, negative ones NaN",
      "*", .needs = NEEDS_NONNEG | NEEDS_NONZERO },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*" },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L7, RANKS(1, MAX_RANK), { DT_U8 } },
    { L7, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double reciprocal_root(double x)
{
    return 1 / sqrt(x);
}

static double local(double x, double y, double u)
{
    (void) x;
    return isinf(y) ? 0 : 2 * u * 2 * y;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, reciprocal_root);
    return 0;
}

/* Quantised types have no NaN: the result for a negative number is unspecified.  Floats have zeros
 * of either sign, which operations before this one may exchange, so that the infinity's sign is
 * open. */
static int bound(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->out[0]);
    bool quantised = dtype_info[c->out[0]->dtype].quant == QUANT_AFFINE;

    unary_bound_monotone(c, reciprocal_root, local);
    for (size_t i = 0; i < n; i++)
        if (quantised ? isnan(c->y[0][i]) : isinf(c->y[0][i]))
            c->ey[0][i] = INFINITY;
    return 0;
}

const struct op op_RSQRT = {
    .code = OP_RSQRT,
    .name = "RSQRT",
    .summary = "Reciprocal of the square root of every element.",
    .formula = "out = 1 / sqrt(x)",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.25, .text = "interval, plus 2 ulps" },
    .eval = eval,
    .bound = bound,
};
