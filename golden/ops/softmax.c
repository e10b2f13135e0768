#include "golden/axis.h"
#include "golden/bounds.h"
#include "golden/elementary.h"

enum { INPUT, BETA, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the logits", "*" },
    [BETA] = { "beta", "scaling of the exponent, positive", .slot = 1, .draw = DRAW_POSITIVE },
    [AXIS] = { "axis", "dimension that sums to 1, negative counts from the end",
               .slot = FIXED(DT_INT32), .since = L3, .optional = true, .otherwise = -1,
               .draw = DRAW_AXIS },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .q = Q_FIXED, .qscale = 1.0 / 256 },
};

static const struct form forms[] = {
    { "", { INPUT, BETA, AXIS, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result, beta */
    { L1, RANK(2) | RANK(4), { DT_F32, DT_FLOAT32 } },
    { L1, RANK(2) | RANK(4), { DT_U8, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_F32, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_U8, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_F16, DT_FLOAT16 } },
    { L4, RANKS(1, 4), { DT_S8, DT_FLOAT32 } },
};

static int infer(struct call *c, struct why *w)
{
    if (call_known(c, BETA))
        REQUIRE(w, call_real(c, BETA) > 0, "%s: beta %g is not positive", c->op->name,
                call_real(c, BETA));
    return axis_check(c, AXIS, w);
}

/* One slice: `len` elements that lie `step` apart.  The largest logit is subtracted from all, so
 * that no exponential overflows. */
static void softmax(const double *x, size_t len, size_t step, double beta, double *y)
{
    double max = -INFINITY, sum = 0;

    for (size_t i = 0; i < len; i++)
        max = fmax(max, x[i * step]);
    for (size_t i = 0; i < len; i++)
        sum += y[i * step] = elementary_exp((x[i * step] - max) * beta);
    for (size_t i = 0; i < len; i++)
        y[i * step] /= sum;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            softmax(c->x[INPUT] + at, a.len, a.inner, beta, c->y[0] + at);
        }
    return 0;
}

/* Errors of the logits multiply each exponential by a factor in [1 / g, g], g = exp(beta e).  A
 * result is largest when its own exponential is g times as large and all others are 1 / g times.
 * One that may be anything may be infinite, and its share no number. */
static double carried(double y, double g, double sum_grown, double sum_shrunk)
{
    double hi = y * g / (y * g + fmax(sum_shrunk - y / g, 0));
    double lo = y / g / (y / g + fmax(sum_grown - y * g, 0));
    return isfinite(g) ? bound_interval(y, lo, hi) : fmax(y, 1 - y);
}

static void bound_slice(const struct call *c, size_t at, size_t len, size_t step, double beta)
{
    const double *x = c->x[INPUT] + at, *ex = c->ex[INPUT] ? c->ex[INPUT] + at : NULL;
    const double *y = c->y[0] + at;
    double *ey = c->ey[0] + at, max = -INFINITY, sum = 0, sum_grown = 0, sum_shrunk = 0;
    bool open = false;

    for (size_t i = 0; i < len; i++)
        max = fmax(max, x[i * step]);
    for (size_t i = 0; i < len; i++) {
        double g = ex ? elementary_exp(beta * ex[i * step]) : 1;
        open |= ex && ex[i * step] == INFINITY;
        sum += y[i * step] * bound_exp(c->unit, (x[i * step] - max) * beta);
        sum_grown += y[i * step] * g;
        sum_shrunk += y[i * step] / g;
    }
    for (size_t i = 0; i < len; i++) {
        double own = bound_exp(c->unit, (x[i * step] - max) * beta);
        double e = y[i * step] * (own + sum + 4 * c->unit + bound_sum(c, len, 1));
        if (ex)
            e += carried(y[i * step], elementary_exp(beta * ex[i * step]), sum_grown, sum_shrunk);
        ey[i * step] = open ? INFINITY : bound_clean(e + bound_tiny(c->unit));
    }
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++)
            bound_slice(c, o * a.len * a.inner + i, a.len, a.inner, beta);
    return 0;
}

const struct op op_SOFTMAX = {
    .code = OP_SOFTMAX,
    .name = "SOFTMAX",
    .summary = "Exponentials along a dimension, scaled to sum to 1.",
    .formula = "out[.., i, ..] = exp(beta x[.., i, ..]) / sum_j exp(beta x[.., j, ..])",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.25,
               .text = "interval of all logits, plus the errors of exponentials and sum" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
