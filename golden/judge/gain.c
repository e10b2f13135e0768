#include "golden/judge/gain.h"

#include <math.h>

enum { LEAST_STEPS = 10, MOST_PRECISE = 1 << 12 };

enum { BLOCK = 256 }; /* elements that are widened at a time */

/* Elements of one sign; two passes: first the mean of x, then the sums. */
struct side {
    double n, sum;
};

struct measurement {
    const struct tensor *reference;
    const double *real, *bound;
    bool quantised;
    double step;         /* of quantised results */
    double lo, hi;       /* of the results; of quantised ones also of the type's range */
    struct side side[2]; /* real < 0, real >= 0 */
};

static void find_ends(struct measurement *m, size_t n)
{
    m->lo = INFINITY;
    m->hi = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        m->lo = fmin(m->lo, m->real[i]);
        m->hi = fmax(m->hi, m->real[i]);
    }
    m->lo = fmax(m->lo, tensor_saturate(m->reference, -INFINITY) + m->step);
    m->hi = fmin(m->hi, tensor_saturate(m->reference, INFINITY) - m->step);
}

/* Whether element i, which is `actual`, counts; then *ret_x is its magnitude and *ret_e its error,
 * positive away from zero.  Floats whose bound is far below their magnitude are in single
 * precision, in which the bound itself finds what matters. */
static bool measure(const struct measurement *m, size_t i, double actual, double *ret_x,
                    double *ret_e)
{
    double real = m->real[i], e = (actual - real) * (real < 0 ? -1 : 1);
    double unit = m->quantised ? m->step : m->bound[i];

    if (!isfinite(e) || !isfinite(unit) || unit == 0 || !isfinite(m->bound[i]))
        return false;
    *ret_x = fabs(real) / unit;
    *ret_e = e / unit;
    return m->quantised ? real > m->lo && real < m->hi : *ret_x < MOST_PRECISE;
}

/* Adds n elements from `at` on to the sums of their signs. */
static void add_sides(struct measurement *m, size_t at, size_t n, const double *actual)
{
    double x, e;

    for (size_t i = 0; i < n; i++)
        if (measure(m, at + i, actual[i], &x, &e)) {
            struct side *side = &m->side[m->real[at + i] >= 0];
            side->n++;
            side->sum += x;
        }
}

/* Adds n elements from `at` on to the sample; returns how many count. */
static size_t add_products(const struct measurement *m, size_t at, size_t n, const double *actual,
                           struct gain_sample *s)
{
    size_t counted = 0;
    double x, e;

    for (size_t i = 0; i < n; i++) {
        if (!measure(m, at + i, actual[i], &x, &e))
            continue;
        const struct side *side = &m->side[m->real[at + i] >= 0];
        double w = m->quantised ? x - side->sum / side->n : x;
        s->product += w * e;
        s->square += w * x;
        counted++;
    }
    return counted;
}

struct gain_sample gain_measure(const struct tensor *reference, const double *real,
                                const double *bound, const struct tensor *actual)
{
    struct measurement m = { .reference = reference,
                             .real = real,
                             .bound = bound,
                             .quantised = dtype_info[reference->dtype].codec->integer,
                             .step = tensor_step(reference, 0) };
    struct gain_sample s = { 0 };
    size_t n = tensor_count(reference), counted = 0;
    double values[BLOCK];

    if (m.quantised)
        find_ends(&m, n);
    for (size_t at = 0; at < n && m.quantised; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        tensor_widen_part(actual, at, run, values);
        add_sides(&m, at, run, values);
    }
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        tensor_widen_part(actual, at, run, values);
        counted += add_products(&m, at, run, values, &s);
    }
    if (m.quantised && s.square < (double) counted * LEAST_STEPS * LEAST_STEPS)
        return (struct gain_sample){ 0 };
    return s;
}

/* Fractions of 2^-20 and of 2^-4; a million samples fit. */
static int64_t fine(double x)
{
    return llround(x * 0x1p20);
}

static int64_t coarse(double x)
{
    return llround(x * 0x1p4);
}

/* Limited, so that a few large outputs do not decide alone: the error of rounding quantised results
 * to steps gives samples of about 0.3. */
static void add_excess(struct gain_excess *to, double excess)
{
    double limited = fmax(fmin(excess, 0.5), -0.5);

    to->sum += fine(limited);
    to->squares += fine(limited * limited) + 1; /* rounded up */
}

void gain_add(struct gain_sum *sum, const struct gain_sample *sample)
{
    if (!gain_is_measured(sample))
        return;
    double root = sqrt(sample->square), t = sample->product / root;

    sum->n++;
    sum->product += coarse(sample->product);
    sum->square += coarse(sample->square);
    add_excess(&sum->more, t - GAIN_ALLOWED * root);
    add_excess(&sum->less, -t - GAIN_ALLOWED * root);
}

bool gain_is_measured(const struct gain_sample *s)
{
    return s->square > 0 && s->square < 0x1p36 && fabs(s->product) < 0x1p36;
}

double gain_of(const struct gain_sum *sum)
{
    return sum->square ? (double) sum->product / (double) sum->square : 0;
}

static bool is_certain(const struct gain_excess *e)
{
    const double z = GAIN_DEVIATIONS;
    double sum = (double) e->sum * 0x1p-20;

    return sum > 0 && sum * sum > z * z * (double) e->squares * 0x1p-20;
}

int gain_verdict(const struct gain_sum *sum, bool may_truncate)
{
    return is_certain(&sum->more) ? 1 : !may_truncate && is_certain(&sum->less) ? -1 : 0;
}
