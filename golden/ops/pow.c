#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/binary.h"

static const struct role inputs[] = {
    { "base", "a negative base with an exponent that is no integer gives NaN", "?",
      .needs = NEEDS_NONNEG | NEEDS_NONZERO | NEEDS_SMALL, .likes = LIKES_WHOLE },
    { "exponent", "the power", "?", .draw = DRAW_BROADCAST, .needs = NEEDS_SMALL,
      .likes = LIKES_WHOLE },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } },
};

static int eval(struct call *c, struct why *w)
{
    (void) w;
    binary_eval(c, elementary_pow);
    return 0;
}

/* For positive bases monotone in each operand: the extremes are at the corners.  If the base may be
 * zero, that holds for exact exponents only, with 0 as another extreme for positive ones. */
static double carry(double a, double b, double ea, double eb)
{
    if (a == 0 && b < 0) /* infinite; its sign is that of the zero, which may be either */
        return INFINITY;
    if (ea == 0 && eb == 0)
        return 0;
    double y = elementary_pow(a, b), between = y;
    if (a - ea <= 0) {
        if (eb > 0 || b < 0)
            return INFINITY;
        between = fabs(a) <= ea ? 0 : between;
    }
    return binary_corners(elementary_pow, a, b, ea, eb, y, between);
}

/* Computed as exp(b log a): the relative error of the result is the absolute error of the exponent,
 * that is b times the logarithm's (5 ulps, at least 4 of 1), and that of the exponential. */
static double local(double b, double y, double u)
{
    if (y == 0 || isinf(y) || isnan(y))
        return 0;
    double exponent = fabs(elementary_log(fabs(y)));
    double error = 2 * u * (5 * exponent + 4 * fabs(b));
    return fabs(y) * (elementary_expm1(error) + bound_exp(u, exponent));
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct broadcast it;
    const struct shape *sa = &c->arg[0]->shape, *sb = &c->arg[1]->shape;

    binary_bound(c, carry);
    for (bool more = broadcast_first(&it, sa, sb); more; more = broadcast_next(&it))
        for (size_t i = 0; i < it.run; i++)
            c->ey[0][it.at + i] +=
                local(c->x[1][it.b + i * it.step_b], c->y[0][it.at + i], c->unit);
    return 0;
}

const struct op op_POW = {
    .code = OP_POW,
    .name = "POW",
    .summary = "The first operand to the power of the second, element by element, broadcasting.",
    .formula = "out = base ^ exponent",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = binary_out,
    .n_out = COUNT(binary_out),
    .forms = binary_forms,
    .n_forms = COUNT(binary_forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "interval of both operands, plus the errors of logarithm and exponential" },
    .infer = broadcast_infer,
    .eval = eval,
    .bound = bound,
};
