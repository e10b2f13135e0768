#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, BETA, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the logits", "*", .likes = LIKES_LARGE },
    [BETA] = { "beta", "scaling of the exponent, positive", .slot = 1, .draw = DRAW_POSITIVE },
    [AXIS] = { "axis", "dimension that is normalised, negative counts from the end",
               .slot = FIXED(DT_INT32), .draw = DRAW_AXIS },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*" },
};

static const struct form forms[] = {
    { "", { INPUT, BETA, AXIS, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result, beta */
    { L3, RANKS(1, MAX_RANK), { DT_F16, DT_FLOAT16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32, DT_FLOAT32 } },
};

static int infer(struct call *c, struct why *w)
{
    if (call_known(c, BETA))
        REQUIRE(w, call_real(c, BETA) > 0, "%s: beta %g is not positive", c->op->name,
                call_real(c, BETA));
    return axis_check(c, AXIS, w);
}

/* One slice: `len` elements from index `at`, `step` apart; their maximum. */
struct slice {
    size_t at, len, step;
    double max;
};

/* The largest logit is subtracted from all, so that no exponential overflows. */
static struct slice slice_of(const struct call *c, const struct axis *a, size_t outer, size_t inner)
{
    struct slice s = { outer * a->len * a->inner + inner, a->len, a->inner, -INFINITY };

    for (size_t i = 0; i < s.len; i++)
        s.max = fmax(s.max, c->x[INPUT][s.at + i * s.step]);
    return s;
}

static void log_softmax(const struct call *c, const struct slice *s, double beta)
{
    const double *x = c->x[INPUT] + s->at;
    double *y = c->y[0] + s->at, sum = 0;

    for (size_t i = 0; i < s->len; i++)
        sum += elementary_exp((x[i * s->step] - s->max) * beta);
    double log_sum = elementary_log(sum);
    for (size_t i = 0; i < s->len; i++)
        y[i * s->step] = (x[i * s->step] - s->max) * beta - log_sum;
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            struct slice s = slice_of(c, &a, o, i);
            log_softmax(c, &s, beta);
        }
    return 0;
}

/* With p the softmax, errors e of the logits change a result by at most beta e_i + log sum_j p_j
 * exp(beta e_j).  The errors of the exponentials, weighted by p, and of the sum are relative errors
 * of the logarithm's argument. */
static void bound_slice(const struct call *c, const struct slice *s, double beta)
{
    const double *x = c->x[INPUT] + s->at, *ex = c->ex[INPUT] ? c->ex[INPUT] + s->at : NULL;
    const double *y = c->y[0] + s->at;
    double *ey = c->ey[0] + s->at, relative = 0, carried = 0, u = c->unit;
    struct elementary_exp_sum grown = ELEMENTARY_EXP_SUM_EMPTY;
    double largest = 0; /* of the magnitudes */

    for (size_t i = 0; i < s->len; i++)
        largest = fmax(largest, fabs(x[i * s->step]));
    /* implementations may multiply by beta before they subtract the largest logit */
    double scaled = beta == 1 ? 0 : 3 * u * fabs(beta) * largest;
    for (size_t i = 0; i < s->len; i++) {
        double t = (x[i * s->step] - s->max) * beta, p = elementary_exp(y[i * s->step]);
        relative += p > 0 ? p * bound_exp(u, t) : 0;
        if (ex)
            elementary_add_exp(&grown, y[i * s->step] + beta * ex[i * s->step]);
    }
    if (ex) {
        carried = elementary_log(grown.sum) + grown.top; /* rounding may make it negative */
        carried = carried < 0 ? 0 : bound_clean(carried);
    }
    for (size_t i = 0; i < s->len; i++) {
        double t = (x[i * s->step] - s->max) * beta, log_sum = t - y[i * s->step];
        double own = relative + bound_sum(c, s->len, 1) + 2 * u * fmax(5 * fabs(log_sum), 4) +
                     2 * u * (fabs(t) + fabs(y[i * s->step])) + scaled;
        ey[i * s->step] = bound_clean(own + carried + (ex ? beta * ex[i * s->step] : 0));
    }
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            struct slice s = slice_of(c, &a, o, i);
            bound_slice(c, &s, beta);
        }
    return 0;
}

const struct op op_LOG_SOFTMAX = {
    .code = OP_LOG_SOFTMAX,
    .name = "LOG_SOFTMAX",
    .summary = "Logarithm of the softmax along a dimension.",
    .formula = "out[.., i, ..] = beta x[.., i, ..] - ln sum_j exp(beta x[.., j, ..])",
    .since = L3,
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
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text =
                   "interval of all logits, plus the errors of exponentials, sum and logarithm" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
