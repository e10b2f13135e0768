#include "golden/judge/bounds.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "*", .needs = NEEDS_SPREAD },
    [AXIS] = { "axis", "dimension along which the vectors lie, negative counts from the end",
               .slot = FIXED(DT_INT32), .since = L3, .optional = true, .otherwise = -1,
               .draw = DRAW_AXIS },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_FIXED, .qscale = 1.0 / 128, .qzero = 128 },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result */
    { L1, RANK(4), { DT_F32 } },     { L3, RANKS(1, 4), { DT_F32 } },
    { L3, RANKS(1, 4), { DT_F16 } }, { L3, RANKS(1, 4), { DT_U8 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    return axis_check(c, AXIS, w);
}

static double length(const double *x, size_t len, size_t step)
{
    double sum = 0;
    for (size_t i = 0; i < len; i++)
        sum += x[i * step] * x[i * step];
    return sqrt(sum);
}

/* A zero vector remains zero. */
static int eval(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            double norm = length(c->x[INPUT] + at, a.len, a.inner);
            for (size_t k = 0; k < a.len; k++, at += a.inner)
                c->y[0][at] = norm > 0 ? c->x[INPUT][at] / norm : 0;
        }
    return 0;
}

/* Implementations divide by this instead of a smaller length. */
static const double GUARD = 1e-6;

/* Error of the length: |x + d| differs from |x| by at most |d|; the sum of squares has rounding
 * errors and loses squares that underflow. */
static double length_error(const struct call *c, size_t at, size_t len, size_t step, double norm)
{
    double carried = c->ex[INPUT] ? length(c->ex[INPUT] + at, len, step) : 0;
    double rounded = bound_sum(c, len, norm) / 2 + 2 * c->unit * norm;
    double underflow = (double) len * bound_tiny(c->unit) * c->unit;
    return carried + rounded + (norm > 0 ? underflow / norm : 0);
}

/* Where the length may be small, for an element without an error: its quotient keeps its sign, and
 * is smaller where the guard is divided by, or larger by up to `growth` where other elements make
 * the length smaller, which is never below that of the element itself. */
static double bound_of_exact(const struct call *c, double y, double growth)
{
    double most = bound_larger(1 - fabs(y), 0) + 4 * c->unit;
    return y == 0 ? 0 : bound_larger(fabs(y), bound_smaller(growth, most));
}

static void bound_slice(const struct call *c, size_t at, size_t len, size_t step)
{
    const double *y = c->y[0];
    double norm = length(c->x[INPUT] + at, len, step);
    double en = length_error(c, at, len, step, norm);

    for (size_t i = 0; i < len; i++, at += step) {
        double ex = c->ex[INPUT] ? c->ex[INPUT][at] : 0;
        double e = (ex + fabs(y[at]) * en) / (norm - en), any = 1 + fabs(y[at]);
        if (norm == 0 && en == 0)
            e = 0;
        else if (norm - en < GUARD)
            e = ex > 0 ? any : bound_of_exact(c, y[at], norm > en ? e : INFINITY);
        /* An element without a bound may be infinite, and its quotient NaN. */
        c->ey[0][at] = en < INFINITY ? bound_clean(fmin(e, any)) : INFINITY;
    }
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            bound_slice(c, o * a.len * a.inner + i, a.len, a.inner);
    return 0;
}

const struct op op_L2_NORMALIZATION = {
    .code = OP_L2_NORMALIZATION,
    .name = "L2_NORMALIZATION",
    .summary = "Scales every vector along a dimension to unit Euclidean length.",
    .formula = "out[.., i, ..] = in[.., i, ..] / sqrt(sum_j in[.., j, ..]^2)",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_ELEMENT, .ulps = 2, .steps = 0.25,
               .text = "(ex + |y| error of the length) / length" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
