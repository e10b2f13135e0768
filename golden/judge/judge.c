#include "golden/judge/judge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/math/vector_loop.h"

/* Fewest elements for which the whole-tensor tests are meaningful. */
enum { MIN_SCATTER = 1000 };

enum { BLOCK = 256 }; /* elements that are widened at a time */

static bool comparable(const struct tensor *a, const struct tensor *b, struct judgement *j)
{
    char x[SHAPE_TEXT], y[SHAPE_TEXT];

    if (a->dtype != b->dtype)
        snprintf(j->why, sizeof j->why, "type is %s, expected %s", dtype_info[b->dtype].brief,
                 dtype_info[a->dtype].brief);
    else if (!shape_equal(&a->shape, &b->shape))
        snprintf(j->why, sizeof j->why, "shape is %.60s, expected %.60s", shape_text(&b->shape, x),
                 shape_text(&a->shape, y));
    else
        return true;
    j->ok = false;
    return false;
}

/* Compares one element, whose difference is d, with its bound; all in real units. */
static void judge_distance(struct judgement *j, size_t i, double expected, double actual, double d,
                           double bound)
{
    double ratio;

    if (isnan(bound) || isinf(bound))
        return;
    j->checked++;
    if (isnan(expected) && isnan(actual))
        d = 0;
    else if (expected == actual && isnan(d)) /* infinities */
        d = 0;
    else if (isnan(d))
        d = INFINITY;
    ratio = d == 0 ? 0 : bound > 0 ? d / bound : INFINITY;
    j->wrong += d <= bound ? 0 : 1; /* NaN is wrong */
    if (j->checked == 1 || ratio > j->ratio) {
        j->worst = i;
        j->expected = expected;
        j->actual = actual;
        j->bound = bound;
        j->ratio = ratio;
    }
}

static void judge_element(struct judgement *j, size_t i, double expected, double actual,
                          double bound)
{
    judge_distance(j, i, expected, actual, fabs(actual - expected), bound);
}

/* 64-bit integers, which double does not represent: the allowed difference is 0, or bound[i]. */
static void judge_long(const struct tensor *expected, const struct tensor *actual,
                       const double *bound, struct judgement *j)
{
    const int64_t *e = expected->data, *a = actual->data;

    for (size_t i = 0; i < tensor_count(expected); i++) {
        uint64_t d =
            e[i] > a[i] ? (uint64_t) e[i] - (uint64_t) a[i] : (uint64_t) a[i] - (uint64_t) e[i];
        judge_distance(j, i, (double) e[i], (double) a[i], (double) d, bound ? bound[i] : 0);
    }
    if (j->wrong)
        snprintf(j->why, sizeof j->why,
                 "%zu of %zu elements wrong; worst [%zu]: expected %" PRId64 ", actual %" PRId64,
                 j->wrong, j->checked, j->worst, e[j->worst], a[j->worst]);
}

static bool is_long(const struct tensor *t)
{
    return dtype_info[t->dtype].codec->size == sizeof(int64_t);
}

/* The worst element of a quantised tensor: stored numbers, and real ones in parentheses. */
static void explain_steps(struct judgement *j, const struct tensor *t, bool is_stored)
{
    const double scale = (double) t->scale, zero = t->zero;
    const double expected = is_stored ? j->expected : j->expected / scale + zero;
    const double actual = is_stored ? j->actual : j->actual / scale + zero;
    const double bound = is_stored ? j->bound : j->bound / scale, off = fabs(actual - expected);

    snprintf(
        j->why, sizeof j->why,
        "%zu of %zu elements wrong; worst [%zu]: expected %.6g (%.6g), actual %.6g (%.6g), off "
        "by %.3g step%s, bound %.3g (%.3g)",
        j->wrong, j->checked, j->worst, expected, (expected - zero) * scale, actual,
        (actual - zero) * scale, off, off > 1 || off < 1 ? "s" : "", bound, bound * scale);
}

/* is_stored: numbers of quantised tensors are stored ones, not real ones. */
static void conclude(struct judgement *j, const struct tensor *t, bool is_stored)
{
    j->ok = j->wrong == 0 && !j->why[0];
    if (!j->wrong || j->why[0])
        return;
    if (t->scale > 0 && !t->channel_scale)
        explain_steps(j, t, is_stored);
    else
        snprintf(j->why, sizeof j->why,
                 "%zu of %zu elements wrong; worst [%zu]: expected %.9g, actual %.9g, bound %.3g",
                 j->wrong, j->checked, j->worst, j->expected, j->actual, j->bound);
}

static double cts_bound(const struct tensor *expected, double e, bool half, int steps)
{
    const double half_tolerance = 5 * 0.0009765625, single_relative = 5 * 1.1920928955078125e-7;

    switch (expected->dtype) {
    case DT_FLOAT32:
    case DT_F32:
        return half ? half_tolerance + half_tolerance * fabs(e) : 1e-5 + single_relative * fabs(e);
    case DT_FLOAT16:
    case DT_F16: return half_tolerance + half_tolerance * fabs(e);
    case DT_BOOL:
    case DT_B8: return 0;
    case DT_U8:
    case DT_S8:
    case DT_Q8S: return steps;
    default: return expected->dtype < DT_COUNT; /* 1; 0 for types of extensions */
    }
}

/* Stored values, without scale and zero point. */
static void raw_values(const struct tensor *t, size_t at, size_t n, double *to)
{
    const struct codec *c = dtype_info[t->dtype].codec;

    c->widen((const char *) t->data + at * c->size, n, 0, 1, to);
}

struct judgement judge_cts(const struct tensor *expected, const struct tensor *actual, bool half,
                           int steps)
{
    struct judgement j = { 0 };
    double e[BLOCK], a[BLOCK];

    if (!comparable(expected, actual, &j))
        return j;
    size_t n = tensor_count(expected);
    if (is_long(expected)) {
        judge_long(expected, actual, NULL, &j);
        n = 0;
    }
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        raw_values(expected, at, run, e);
        raw_values(actual, at, run, a);
        for (size_t i = 0; i < run; i++) {
            bool nan = isnan(e[i]); /* the suites count it as a failure for every actual value */
            judge_element(&j, at + i, e[i], a[i], nan ? 0 : cts_bound(expected, e[i], half, steps));
            j.wrong += nan && isnan(a[i]);
        }
    }
    conclude(&j, expected, true);
    return j;
}

/* How values of a type are judged.  Integers saturate in its range, as real numbers; their bounds
 * have room for the rounding of steps. */
struct type_limits {
    bool integer;
    double lo, hi;
};

static struct type_limits limits_of(const struct tensor *t)
{
    const struct codec *c = dtype_info[t->dtype].codec;

    if (!c->integer)
        return (struct type_limits){ false, c->min, c->max };
    return (struct type_limits){ true, tensor_saturate(t, -INFINITY),
                                 tensor_saturate(t, INFINITY) };
}

/* As tensor_saturate() saturates integers, NaN included.  Like all functions here that are called
 * for each element, without branches, so that loops can be vectorised. */
static inline double saturated(const struct type_limits *l, double real)
{
    double x = real < l->lo ? l->lo : real;

    return x > l->hi ? l->hi : x;
}

/* The bound adjusted to the range of the type, on the side of `actual`; an element that may have
 * any value of its type is not checked. */
static inline double integer_bound(const struct type_limits *l, double real, double actual,
                                   double bound)
{
    double reach = bound * (1 + 1e-9), expected = saturated(l, real);
    double lo = saturated(l, real - reach), hi = saturated(l, real + reach);
    double side = actual < expected ? expected - lo : hi - expected;
    bool any = ((lo == l->lo) & (hi == l->hi)) | isnan(expected) | isnan(lo);

    return any ? INFINITY : side;
}

/* A float that overflows may be infinity or the largest finite number. */
static inline double float_bound(const struct type_limits *l, double real, double actual,
                                 double bound)
{
    double on_side = copysign(1, real) * copysign(1, actual) * fabs(real);
    double least = on_side - bound < l->hi ? on_side - bound : l->hi;
    bool overflows = (on_side + bound >= l->hi) & (fabs(actual) >= least);

    return overflows ? INFINITY : bound;
}

static inline double adjusted_bound(const struct type_limits *l, double real, double actual,
                                    double bound)
{
    return l->integer ? integer_bound(l, real, actual, bound) : float_bound(l, real, actual, bound);
}

/* Elements of an output that are compared at a time. */
struct comparison {
    double actual[BLOCK], expected[BLOCK], bound[BLOCK];
    double ratio[BLOCK]; /* of the difference and the bound; -1: any value is right */
    uint64_t undecided, wrong;
    int64_t most; /* bits of the largest ratio: of ratios they have the order of the numbers */
};

/* Compares n values actual[]. */
VECTOR_LOOP static void compare(const struct type_limits *l, size_t n, const double *restrict real,
                                const double *restrict bound, struct comparison *restrict c)
{
    uint64_t undecided = 0, wrong = 0;
    int64_t most = -1, bits;

    for (size_t i = 0; l->integer && i < n; i++) {
        c->expected[i] = saturated(l, real[i]);
        c->bound[i] = integer_bound(l, real[i], c->actual[i], bound[i]);
    }
    for (size_t i = 0; !l->integer && i < n; i++) {
        c->expected[i] = real[i];
        c->bound[i] = float_bound(l, real[i], c->actual[i], bound[i]);
    }
    for (size_t i = 0; i < n; i++) {
        double e = c->expected[i], a = c->actual[i], b = c->bound[i], d = fabs(a - e);
        d = ((isnan(e) & isnan(a)) | (e == a)) ? 0 : d; /* infinities, too */
        d = isnan(d) ? INFINITY : d;
        double ratio = b > 0 ? d / b : INFINITY;
        ratio = d == 0 ? 0 : ratio;
        c->ratio[i] = b < INFINITY ? ratio : -1;
        undecided += b < INFINITY ? 0 : 1;
        wrong += ((b < INFINITY) & (d > b)) ? 1 : 0;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(&bits, &c->ratio[i], sizeof bits);
        most = bits > most ? bits : most;
    }
    c->undecided = undecided;
    c->wrong = wrong;
    c->most = most;
}

/* Adds n compared elements from `at` on. */
static void add_compared(struct judgement *j, const struct comparison *c, size_t at, size_t n)
{
    double most;
    size_t i = 0;

    memcpy(&most, &c->most, sizeof most);
    if (c->undecided < n && (j->checked == 0 || most > j->ratio)) {
        while (c->ratio[i] != most)
            i++;
        j->worst = at + i;
        j->expected = c->expected[i];
        j->actual = c->actual[i];
        j->bound = c->bound[i];
        j->ratio = most;
    }
    j->checked += n - c->undecided;
    j->wrong += c->wrong;
}

/* Whole-tensor tests of sums of products: the errors of a correct implementation are distributed
 * like a random walk, well inside the bound and around zero.  Variance: TOSA's limit (4 * 0.4 * K,
 * relative to the squared bound's 36 * K).  Bias: four sigma of that variance plus a twentieth of
 * the bound, because roundings of structured data (equal inputs, equal weights) are not
 * independent. */
struct scatter {
    double sum, squares;
    size_t n;
};

static void judge_scatter(struct judgement *j, const struct scatter *s)
{
    const double variance = 4 * 0.4 / 36, common = 0.05;
    double n = (double) s->n, bias = 4 * sqrt(variance * n) + common * n;

    if (s->n < MIN_SCATTER || j->wrong)
        return;
    if (s->squares > variance * n)
        snprintf(j->why, sizeof j->why, "variance of error / bound is %.3g, must be at most %.3g",
                 s->squares / n, variance);
    else if (fabs(s->sum) > bias)
        snprintf(j->why, sizeof j->why, "bias: sum of error / bound is %.4g, must be at most %.4g",
                 fabs(s->sum), bias);
}

/* The bound of an element with several right values: 0 for what is none of them. */
static double choice_bound(const struct choices *c, size_t i, double actual, double bound)
{
    for (size_t k = c ? c->first[i] : 0; c && k < c->first[i + 1]; k++)
        if (c->value[k] == actual)
            return bound;
    return c && bound < INFINITY ? 0 : bound;
}

/* Adds n elements whose bounds are those of the run. */
static void add_scatter(struct scatter *s, const struct comparison *c, const double *bound,
                        size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (bound[i] > 0 && isfinite(bound[i]) && isfinite(c->actual[i])) {
            double r = (c->actual[i] - c->expected[i]) / bound[i];
            s->sum += r;
            s->squares += r * r;
            s->n++;
        }
}

/* choices: NULL: every value within the bounds is right */
static struct judgement judge_elements(const struct tensor *reference, const double *real,
                                       const double *bound, enum error_kind kind,
                                       const struct choices *choices, const struct tensor *actual)
{
    struct judgement j = { 0 };
    struct scatter s = { 0 };
    bool integer = dtype_info[reference->dtype].codec->integer;
    const struct type_limits limits = limits_of(reference);
    struct comparison c;
    double chosen[BLOCK];

    if (!comparable(reference, actual, &j))
        return j;
    size_t n = tensor_count(reference);
    if (is_long(reference)) {
        judge_long(reference, actual, bound, &j);
        n = 0;
    }
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        tensor_widen_part(actual, at, run, c.actual);
        for (size_t i = 0; choices && i < run; i++)
            chosen[i] = choice_bound(choices, at + i, c.actual[i], bound[at + i]);
        compare(&limits, run, real + at, choices ? chosen : bound + at, &c);
        add_compared(&j, &c, at, run);
        if (kind == ERROR_DOT && !integer)
            add_scatter(&s, &c, bound + at, run);
    }
    judge_scatter(&j, &s);
    conclude(&j, reference, false);
    if (j.ok && kind == ERROR_DOT && (!integer || reference->scale != 0))
        j.gain = gain_measure(reference, real, bound, actual);
    return j;
}

struct judgement judge_bound(const struct tensor *reference, const double *real,
                             const double *bound, enum error_kind kind, const struct tensor *actual)
{
    return judge_elements(reference, real, bound, kind, NULL, actual);
}

struct judgement judge_result(const struct result *r, uint32_t i, const struct tensor *actual)
{
    return judge_elements(&r->out[i], r->real[i], r->bound[i], r->kind[i], r->choices[i], actual);
}

enum element_verdict judge_value(const struct tensor *reference, double real, double bound,
                                 double actual)
{
    const struct type_limits limits = limits_of(reference);
    struct judgement j = { 0 };

    judge_element(&j, 0, limits.integer ? saturated(&limits, real) : real, actual,
                  adjusted_bound(&limits, real, actual, bound));
    return !j.checked ? ELEMENT_UNDECIDED : j.wrong ? ELEMENT_WRONG : ELEMENT_RIGHT;
}

enum element_verdict judge_result_value(const struct result *r, uint32_t i, size_t at,
                                        double actual)
{
    double bound = choice_bound(r->choices[i], at, actual, r->bound[i][at]);

    return judge_value(&r->out[i], r->real[i][at], bound, actual);
}

bool model_is_half(const struct model *m)
{
    if (m->relaxed)
        return true;
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (m->graph[g].operand[i].tensor.dtype == DT_F16)
                return true;
    return false;
}
