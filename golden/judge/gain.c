#include "golden/judge/gain.h"

#include <math.h>

enum { LEAST_STEPS = 10, MOST_PRECISE = 1 << 12 };

/* Elements of one sign; two passes: first the mean of x, then the sums. */
struct side {
    double n, sum;
};

struct measurement {
    const struct tensor *reference, *actual;
    const double *real, *bound;
    bool quantised;
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
    m->lo = fmax(m->lo, tensor_saturate(m->reference, -INFINITY) + tensor_step(m->reference, 0));
    m->hi = fmin(m->hi, tensor_saturate(m->reference, INFINITY) - tensor_step(m->reference, 0));
}

/* Whether element i counts; then *ret_x is its magnitude and *ret_e its error, positive away from
 * zero.  Floats whose bound is far below their magnitude are in single precision, in which the
 * bound itself finds what matters. */
static bool measure(const struct measurement *m, size_t i, double *ret_x, double *ret_e)
{
    double real = m->real[i], e = (tensor_at(m->actual, i) - real) * (real < 0 ? -1 : 1);
    double unit = m->quantised ? tensor_step(m->reference, 0) : m->bound[i];

    if (!isfinite(e) || !isfinite(unit) || unit == 0 || !isfinite(m->bound[i]))
        return false;
    *ret_x = fabs(real) / unit;
    *ret_e = e / unit;
    return m->quantised ? real > m->lo && real < m->hi : *ret_x < MOST_PRECISE;
}

struct gain_sample gain_measure(const struct tensor *reference, const double *real,
                                const double *bound, const struct tensor *actual)
{
    struct measurement m = { .reference = reference,
                             .actual = actual,
                             .real = real,
                             .bound = bound,
                             .quantised = dtype_info[reference->dtype].codec->integer };
    struct gain_sample s = { 0 };
    size_t n = tensor_count(reference);
    double x, e, counted = 0;

    if (m.quantised)
        find_ends(&m, n);
    for (size_t i = 0; i < n && m.quantised; i++)
        if (measure(&m, i, &x, &e)) {
            m.side[real[i] >= 0].n++;
            m.side[real[i] >= 0].sum += x;
        }
    for (size_t i = 0; i < n; i++) {
        if (!measure(&m, i, &x, &e))
            continue;
        const struct side *side = &m.side[real[i] >= 0];
        double w = m.quantised ? x - side->sum / side->n : x;
        s.product += w * e;
        s.square += w * x;
        counted++;
    }
    if (m.quantised && s.square < counted * LEAST_STEPS * LEAST_STEPS)
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
