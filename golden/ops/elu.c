#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

enum { INPUT, ALPHA };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "*" },
    [ALPHA] = { "alpha", "factor of the negative part", .slot = 1, .draw = DRAW_POSITIVE },
};

static const struct form forms[] = {
    { "", { INPUT, ALPHA, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result, alpha */
    { L4, RANKS(1, MAX_RANK), { DT_F16, DT_FLOAT16 } },
    { L4, RANKS(1, MAX_RANK), { DT_F32, DT_FLOAT32 } },
};

static double elu(double x, double alpha)
{
    return x < 0 ? alpha * elementary_expm1(x) : x;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->arg[INPUT]);
    double alpha = call_real(c, ALPHA);

    for (size_t i = 0; i < n; i++)
        c->y[0][i] = elu(c->x[INPUT][i], alpha);
    return 0;
}

/* Both branches are monotone and meet in 0.  Implementations may compute exp(x) and subtract 1: the
 * errors of the exponential and of the difference do not shrink with the result. */
static double error(double x, double y, double alpha, double e, double u)
{
    double own = x < 0 ? fabs(alpha) * (elementary_exp(x) * bound_exp(u, x) + 2 * u) : 0;

    if (!(e > 0) || isnan(y))
        return e > 0 ? INFINITY : isnan(y) ? 0 : own;
    double p = elu(x - e, alpha), q = elu(x + e, alpha), between = fabs(x) < e ? 0 : y;
    return own + bound_interval(y, bound_smaller(bound_smaller(p, q), between),
                                bound_larger(bound_larger(p, q), between));
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->arg[INPUT]);
    double alpha = call_real(c, ALPHA);

    for (size_t i = 0; i < n; i++) {
        double e = c->ex[INPUT] ? c->ex[INPUT][i] : 0;
        c->ey[0][i] = bound_clean(error(c->x[INPUT][i], c->y[0][i], alpha, e, c->unit));
    }
    return 0;
}

const struct op op_ELU = {
    .code = OP_ELU,
    .name = "ELU",
    .summary = "Exponential linear unit: the identity, tending to -alpha for negative elements.",
    .formula = "out = x < 0 ? alpha (e^x - 1) : x",
    .since = L4,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "interval, plus alpha times the error of the exponential" },
    .eval = eval,
    .bound = bound,
};
