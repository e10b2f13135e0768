#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/elementary.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, RADIUS, BIAS, ALPHA, BETA, AXIS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "*", .slot = 0, .likes = LIKES_LARGE },
    [RADIUS] = { "radius", "number of neighbours on either side", .slot = FIXED(DT_INT32) },
    [BIAS] = { "bias", "added to the sum of squares", .slot = 1, .draw = DRAW_POSITIVE },
    [ALPHA] = { "alpha", "weight of the squares", .slot = 1, .draw = DRAW_POSITIVE },
    [BETA] = { "beta", "exponent of the divisor", .slot = 1, .draw = DRAW_POSITIVE },
    [AXIS] = { "axis", "dimension along which neighbours lie, negative counts from the end",
               .slot = FIXED(DT_INT32), .since = L3, .optional = true, .otherwise = -1,
               .draw = DRAW_AXIS },
};

static const struct role outputs[] = {
    { "output", "same shape as the input", "*", .slot = 0 },
};

static const struct form forms[] = {
    { "", { INPUT, RADIUS, BIAS, ALPHA, BETA, AXIS, END } },
};

static const struct typing typings[] = {
    /* since, ranks, input and result, scalars */
    { L1, RANK(4), { DT_F32, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_F32, DT_FLOAT32 } },
    { L3, RANKS(1, 4), { DT_F16, DT_FLOAT16 } },
};

static int infer(struct call *c, struct why *w)
{
    if (call_known(c, RADIUS))
        REQUIRE(w, call_int(c, RADIUS) >= 0, "%s: radius %d is negative", c->op->name,
                call_int(c, RADIUS));
    return axis_check(c, AXIS, w);
}

struct norm {
    struct axis axis;
    size_t radius;
    double bias, alpha, beta;
};

static struct norm norm_of(const struct call *c)
{
    return (struct norm){ .axis = call_axis(c, AXIS),
                          .radius = (size_t) call_int(c, RADIUS),
                          .bias = call_real(c, BIAS),
                          .alpha = call_real(c, ALPHA),
                          .beta = call_real(c, BETA) };
}

/* The window of element k of a slice: lo..hi - 1. */
struct reach {
    size_t lo, hi;
};

static struct reach reach_of(const struct norm *n, size_t k)
{
    return (struct reach){ .lo = k > n->radius ? k - n->radius : 0,
                           .hi = n->radius < n->axis.len - k ? k + n->radius + 1 : n->axis.len };
}

/* bias + alpha * sum of squares in the window of element k.  x: the slice. */
static double divisor(const struct norm *n, const double *x, size_t k)
{
    struct reach r = reach_of(n, k);
    size_t inner = n->axis.inner;
    double sum = 0;

    for (size_t j = r.lo; j < r.hi; j++)
        sum += x[j * inner] * x[j * inner];
    return n->bias + n->alpha * sum;
}

static size_t count_of(const struct norm *n)
{
    return n->axis.outer * n->axis.len * n->axis.inner;
}

/* The divisors of all elements, in scratch memory; their powers are computed together. */
static double *divisors(const struct call *c, const struct norm *n, struct why *w)
{
    const struct axis a = n->axis;
    double *d = arena_alloc_raw(c->scratch, count_of(n) + 1, sizeof *d);

    if (!d)
        why_no_memory_for(w, "%s: %zu divisors", c->op->name, count_of(n));
    for (size_t o = 0; d && o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            for (size_t k = 0; k < a.len; k++)
                d[at + k * a.inner] = divisor(n, c->x[INPUT] + at, k);
        }
    return d;
}

static int eval(struct call *c, struct why *w)
{
    const struct norm n = norm_of(c);
    const double *d = divisors(c, &n, w);
    double *y = c->y[0];

    if (!d)
        return -1;
    elementary_pow_all(d, n.beta, count_of(&n), y);
    for (size_t i = 0; i < count_of(&n); i++)
        y[i] = c->x[INPUT][i] / y[i];
    return 0;
}

/* Error of the divisor d of element k: that of the neighbours, of their squares, which may be
 * flushed to zero, and of the sum.  Implementations may update the sum from element to element,
 * which adds the roundings of the divisors before it: `past` is the sum of their squares. */
static double divisor_error(const struct call *c, const struct norm *n, size_t at, size_t k,
                            double d, double past)
{
    const double *x = c->x[INPUT] + at, *ex = c->ex[INPUT] ? c->ex[INPUT] + at : NULL;
    struct reach r = reach_of(n, k);
    size_t inner = n->axis.inner;
    double carried = 0, sum = 0;

    for (size_t j = r.lo; j < r.hi; j++) {
        double v = fabs(x[j * inner]), e = ex ? ex[j * inner] : 0;
        sum += v * v;
        carried += bound_scaled(2 * v, e) + bound_scaled(e, e) + bound_tiny(c->unit);
    }
    double scaled = fabs(n->alpha) * (carried + bound_sum(c, r.hi - r.lo + 1, sum));
    return scaled + c->unit * (fabs(d) + 2 * fabs(n->bias)) + bound_sum(c, 1, sqrt(past));
}

/* Relative error of d^beta computed as exp(beta * log(d)), with a logarithm accurate to 5 ulps
 * (TOSA specification). */
static double power_error(double u, double beta, double log_d)
{
    double exponent = beta * log_d;

    return bound_exp(u, exponent) + 10 * u * fabs(exponent);
}

/* Of all elements' divisors d with errors ed. */
struct powers {
    double *log, *factor; /* log(d), d^-beta */
    double *ends;         /* d - ed, then d + ed */
    double *most, *least; /* (d - ed)^-beta; (d + ed)^-beta, only for beta < 0 */
};

static int powers_of(const struct call *c, double beta, size_t n, const double *d, const double *ed,
                     struct powers *ret, struct why *w)
{
    double *p = arena_alloc_raw(c->scratch, 5 * n + 1, sizeof *p);

    if (!p)
        return why_no_memory_for(w, "%s: %zu powers", c->op->name, n);
    *ret = (struct powers){ p, p + n, p + 2 * n, p + 3 * n, p + 4 * n };
    elementary_log_all(d, n, ret->log);
    elementary_pow_all(d, -beta, n, ret->factor);
    for (size_t i = 0; i < n; i++)
        ret->ends[i] = d[i] - ed[i];
    elementary_pow_all(ret->ends, -beta, n, ret->most);
    for (size_t i = 0; i < n; i++)
        ret->ends[i] = d[i] + ed[i];
    if (beta < 0)
        elementary_pow_all(ret->ends, -beta, n, ret->least);
    return 0;
}

static double bound_one(const struct call *c, double beta, const struct powers *p, double d,
                        double ed, size_t i)
{
    double u = c->unit, x = c->x[INPUT][i], y = c->y[0][i], ex = c->ex[INPUT] ? c->ex[INPUT][i] : 0;

    if (!(d > ed))
        return INFINITY;
    double factor = p->factor[i];
    /* d^-beta may be flushed to zero, as when d^beta overflows. */
    double more = factor * power_error(u, beta, p->log[i]) + bound_tiny(u);
    double e = fabs(p->most[i] - factor) + more;
    if (beta < 0) /* else the power is convex and decreasing: it changes most where d is smallest */
        e = bound_larger(e, fabs(p->least[i] - factor) + more);
    return bound_clean(bound_scaled(factor + e, ex) + bound_scaled(x, e) + 2 * u * fabs(y) +
                       bound_tiny(u));
}

static int bound(struct call *c, struct why *w)
{
    const struct norm n = norm_of(c);
    const struct axis a = n.axis;
    const double *d = divisors(c, &n, w);
    double *e = c->ey[0];
    struct powers p;

    if (!d)
        return -1;
    for (size_t o = 0; o < a.outer; o++)
        for (size_t i = 0; i < a.inner; i++) {
            size_t at = o * a.len * a.inner + i;
            double past = 0; /* the sum of squares of the divisors before element k */
            for (size_t k = 0; k < a.len; k++) {
                double of_k = d[at + k * a.inner];
                e[at + k * a.inner] = divisor_error(c, &n, at, k, of_k, past);
                past += of_k * of_k;
            }
        }
    TRY(powers_of(c, n.beta, count_of(&n), d, e, &p, w));
    for (size_t i = 0; i < count_of(&n); i++)
        e[i] = bound_one(c, n.beta, &p, d[i], e[i], i);
    return 0;
}

const struct op op_LOCAL_RESPONSE_NORMALIZATION = {
    .code = OP_LOCAL_RESPONSE_NORMALIZATION,
    .name = "LOCAL_RESPONSE_NORMALIZATION",
    .summary = "Divides every element by a power of the sum of squares of its neighbours.",
    .formula = "out[.., i, ..] = in[.., i, ..] / (bias + alpha * sum of in[.., j, ..]^2 for "
               "i - radius <= j <= i + radius)^beta",
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
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "d^-beta ex + |x| (interval of d^-beta for the divisor's error, plus that "
                       "of a power, plus the smallest normal number); the divisor's error includes "
                       "those before it" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
};
