#include "golden/math/elementary.h"
#include "golden/ops/shared/elementwise/unary.h"

/* An error e of x contributes |cos x| e + e^2 / 2.  Reducing the argument in the arithmetic that is
 * judged adds 2|x| ulps of 1.  Two sines differ by at most 2, but an argument without a bound may
 * be infinite, whose sine is NaN. */
static double error(double x, double y, double e, double u)
{
    double slope = sqrt(fmax(1 - y * y, 0)), own = 2 * u * (4 * fabs(y) + 2 * fabs(x));

    if (isnan(y) || bound_overflows(x, e, u))
        return e > 0 ? INFINITY : 0;
    return fmin(e * fmin(slope + e / 2, 1) + own, 1 + fabs(y));
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    unary_eval(c, elementary_sin);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    unary_bound(c, error);
    return 0;
}

const struct op op_SIN = {
    .code = OP_SIN,
    .name = "SIN",
    .summary = "Sine of every element, in radians.",
    .formula = "out = sin(x)",
    .since = L3,
    .in = unary_in,
    .n_in = COUNT(unary_in),
    .out = unary_out,
    .n_out = COUNT(unary_out),
    .forms = unary_forms,
    .n_forms = COUNT(unary_forms),
    .typings = unary_floats,
    .n_typings = COUNT(unary_floats),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "|cos x| e + e^2 / 2, plus 4 ulps and 2|x| ulps of 1" },
    .eval = eval,
    .bound = bound,
};
