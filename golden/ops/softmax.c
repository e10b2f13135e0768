#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, BETA, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the logits", "*", .likes = LIKES_LARGE },
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

static double largest_of(const double *x, size_t len, size_t step)
{
    double max = -INFINITY;

    for (size_t i = 0; i < len; i++)
        max = fmax(max, x[i * step]);
    return max;
}

/* One slice: `len` elements, `step` apart.  The largest logit is subtracted from all, so that no
 * exponential overflows. */
static void softmax(const double *x, size_t len, size_t step, double beta, double *y)
{
    double max = largest_of(x, len, step), sum = 0;

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

/* The logits of a slice, (x - max) * beta, with their errors. */
struct logits {
    const double *x, *ex; /* ex: errors; NULL: exact */
    size_t len, step;
    double beta, max;
};

static double logit(const struct logits *l, size_t i)
{
    return (l->x[i * l->step] - l->max) * l->beta;
}

static double logit_error(const struct logits *l, size_t i)
{
    return l->beta * l->ex[i * l->step];
}

/* Whether a logit has no bound: it may be infinite then, and its result NaN. */
static bool is_open(const struct logits *l)
{
    for (size_t i = 0; l->ex && i < l->len; i++)
        if (!(logit_error(l, i) < INFINITY))
            return true;
    return false;
}

/* The sum of exponentials of the logits, all at the lower (sign -1) or upper (1) end of their
 * intervals. */
static struct elementary_exp_sum arg_min_max_sum(const struct logits *l, double sign)
{
    struct elementary_exp_sum s = ELEMENTARY_EXP_SUM_EMPTY;

    for (size_t i = 0; i < l->len; i++)
        elementary_add_exp(&s, logit(l, i) + sign * logit_error(l, i));
    return s;
}

/* exp(x) / (exp(x) + the terms of the sum without exp(own)).  slack: relative error of that
 * difference, added to the sum. */
static double share(double x, const struct elementary_exp_sum *sum, double own, double slack)
{
    double others = sum->sum * (1 + slack) - elementary_exp(own - sum->top);

    return others > 0 ? 1 / (1 + others * elementary_exp(sum->top - x)) : 1;
}

/* A result is largest if its own logit is at its upper and all others are at their lower ends. */
static double carried(const struct logits *l, size_t i, double y,
                      const struct elementary_exp_sum *smallest,
                      const struct elementary_exp_sum *largest)
{
    double up = logit(l, i) + logit_error(l, i), down = logit(l, i) - logit_error(l, i);

    return bound_interval(y, share(down, largest, up, 1e-13), share(up, smallest, down, -1e-13));
}

static void bound_slice(const struct call *c, size_t at, const struct logits *l)
{
    const double *y = c->y[0] + at;
    double *ey = c->ey[0] + at, sum = 0;
    struct elementary_exp_sum smallest = ELEMENTARY_EXP_SUM_EMPTY,
                              largest = ELEMENTARY_EXP_SUM_EMPTY;

    for (size_t i = 0; i < l->len; i++)
        sum += y[i * l->step] * bound_exp(c->unit, logit(l, i));
    /* implementations may multiply by beta before they subtract the largest logit */
    double most = 0, scaled = 0;
    for (size_t i = 0; i < l->len && l->beta != 1; i++)
        most = fmax(most, fabs(l->x[i * l->step]));
    scaled = 4 * c->unit * fabs(l->beta) * most;
    bool open = is_open(l);
    if (l->ex && !open) {
        smallest = arg_min_max_sum(l, -1);
        largest = arg_min_max_sum(l, 1);
    }
    for (size_t i = 0; i < l->len; i++) {
        double own = bound_exp(c->unit, logit(l, i)), p = y[i * l->step];
        double rounds = own + sum + 4 * c->unit + bound_sum(c, l->len, 1) + scaled;
        double e = l->ex && !open ? carried(l, i, p, &smallest, &largest) : 0;
        e += (p + e) * rounds;
        ey[i * l->step] = open ? INFINITY : bound_clean(e + bound_tiny(c->unit));
    }
}

static int bound(struct call *c, struct why *w)
{
    (void) w;
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA);

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            struct logits l = {
                c->x[INPUT] + at, c->ex[INPUT] ? c->ex[INPUT] + at : NULL, a.len, a.inner, beta, 0
            };
            l.max = largest_of(l.x, l.len, l.step);
            bound_slice(c, at, &l);
        }
    return 0;
}

const struct op op_SOFTMAX = {
    .code = OP_SOFTMAX,
    .name = "SOFTMAX",
    .summary = "Exponentials along a dimension, normalised to sum to 1.",
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
