#include "golden/base/arena.h"
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

/* Exponentials of the logits at the lower (sign -1) or upper (1) ends of their intervals, relative
 * to that of the largest of them. */
struct exponentials {
    double top, sum, *term;
};

static struct exponentials exponentials_of(const struct logits *l, double sign, double *term)
{
    struct exponentials s = { -INFINITY, 0, term };

    for (size_t i = 0; i < l->len; i++) {
        term[i] = logit(l, i) + sign * logit_error(l, i);
        s.top = bound_larger(s.top, term[i]);
    }
    for (size_t i = 0; i < l->len; i++)
        s.sum += term[i] = elementary_exp(term[i] - s.top);
    return s;
}

/* exp(x) / (exp(x) + the terms of `all` but i), for logit x = ln(own->term[i]) + own->top.  apart:
 * exp(all->top - own->top).  slack: relative error of the difference of sum and term. */
static double share(double x, const struct exponentials *own, const struct exponentials *all,
                    size_t i, double apart, double slack)
{
    double others = all->sum * (1 + slack) - all->term[i], term = own->term[i];
    bool precise = term > 1e-300 && apart > 1e-300 && apart < 1e300;       /* far from underflow */
    double over_x = precise ? apart / term : elementary_exp(all->top - x); /* exp(all->top - x) */

    return others > 0 ? 1 / (1 + others * over_x) : 1;
}

/* The logits at the ends of their intervals. */
struct range {
    struct exponentials low, high;
    double down, up; /* exp(low.top - high.top), exp(high.top - low.top) */
};

/* A result is largest if its own logit is at its upper and all others are at their lower ends. */
static double carried(const struct logits *l, const struct range *r, size_t i, double y)
{
    double x = logit(l, i), e = logit_error(l, i);

    return bound_interval(y, share(x - e, &r->low, &r->high, i, r->up, 1e-13),
                          share(x + e, &r->high, &r->low, i, r->down, -1e-13));
}

/* scratch: [2 * len], for inputs with errors. */
static void bound_slice(const struct call *c, size_t at, const struct logits *l, double *scratch)
{
    const double *y = c->y[0] + at;
    double *ey = c->ey[0] + at, sum = 0;
    struct range r = { 0 };

    for (size_t i = 0; i < l->len; i++)
        sum += y[i * l->step] * bound_exp(c->unit, logit(l, i));
    /* implementations may multiply by beta before they subtract the largest logit */
    double most = 0, scaled = 0;
    for (size_t i = 0; i < l->len && l->beta != 1; i++)
        most = bound_larger(most, fabs(l->x[i * l->step]));
    scaled = 4 * c->unit * fabs(l->beta) * most;
    bool open = is_open(l);
    if (l->ex && !open) {
        r.low = exponentials_of(l, -1, scratch);
        r.high = exponentials_of(l, 1, scratch + l->len);
        r.down = elementary_exp(r.low.top - r.high.top);
        r.up = elementary_exp(r.high.top - r.low.top);
    }
    for (size_t i = 0; i < l->len; i++) {
        double own = bound_exp(c->unit, logit(l, i)), p = y[i * l->step];
        double rounds = own + sum + 4 * c->unit + bound_sum(c, l->len, 1) + scaled;
        double e = l->ex && !open ? carried(l, &r, i, p) : 0;
        e += (p + e) * rounds;
        ey[i * l->step] = open ? INFINITY : bound_clean(e + bound_tiny(c->unit));
    }
}

static int bound(struct call *c, struct why *w)
{
    struct axis a = call_axis(c, AXIS);
    double beta = call_real(c, BETA), *scratch = NULL;

    if (c->ex[INPUT]) {
        scratch = arena_alloc_raw(c->scratch, 2 * a.len + 1, sizeof *scratch);
        if (!scratch)
            return why_no_memory_for(w, "%s: a bound of %zu values", c->op->name, a.len);
    }

    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            struct logits l = {
                c->x[INPUT] + at, c->ex[INPUT] ? c->ex[INPUT] + at : NULL, a.len, a.inner, beta, 0
            };
            l.max = largest_of(l.x, l.len, l.step);
            bound_slice(c, at, &l, scratch);
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
    .takes_empty = ROLE_BIT(INPUT),
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_ELEMENT, .ulps = 1, .steps = 0.25,
               .text = "interval of all logits, plus the errors of exponentials and sum" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
