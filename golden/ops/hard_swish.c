#include "golden/ops/shared/elementwise/unary.h"

static const struct role outputs[] = {
    { "output", "same shape as the input", "*" },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L4, RANKS(1, MAX_RANK), { DT_F16 } },
    { L4, RANKS(1, MAX_RANK), { DT_F32 } },
    { L4, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static double hard_swish(double x)
{
    return x <= -3 ? 0 : x >= 3 ? x : x * (x + 3) / 6;
}

/* The function decreases up to x = -3/2 and increases from there.  Implementations may compute the
 * hard sigmoid as x / 6 + 1/2, which cancels where it is small. */
static double error(double x, double y, double e, double u)
{
    const double bottom = -1.5;
    double own = fabs(x) < 3 ? u * fabs(x) : 0;

    if (x == -INFINITY) /* implementations may multiply it by 0 */
        return INFINITY;
    if (!(e > 0) || isnan(y))
        return e > 0 ? INFINITY : own;
    double p = hard_swish(x - e), q = hard_swish(x + e);
    double low = fabs(x - bottom) < e ? hard_swish(bottom) : bound_smaller(p, q);
    return own + bound_interval(y, low, bound_larger(p, q));
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, hard_swish);
    return 0;
}

/* Quantised implementations compute with 16 bits, 7 of them below the input's step: the input is
 * rounded to 1/128 of its step when it is multiplied by the ratio of the scales, and so is its
 * product with the hard sigmoid. */
static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound(c, error);
    if (c->arg[0]->scale != 0)
        for (size_t i = 0, n = tensor_count(c->arg[0]); i < n; i++)
            c->ey[0][i] += c->arg[0]->scale / 128;
    return 0;
}

const struct op op_HARD_SWISH = {
    .code = OP_HARD_SWISH,
    .name = "HARD_SWISH",
    .summary = "Multiplies every element by its hard sigmoid.",
    .formula = "out = x max(0, min(6, x + 3)) / 6",
    .since = L4,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 2, .steps = 0.25,
               .text = "interval, plus |x| / 2 ulps of 1 where |x| < 3; quantised: plus 1/128 step "
                       "of the input" },
    .eval = eval,
    .bound = bound,
};
