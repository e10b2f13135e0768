#include "golden/judge/ball.h"

#include "golden/math/elementary.h"
#include "golden/math/vector_loop.h"

enum { BLOCK = 64 }; /* values that are computed at a time */

struct ball ball_clamp(struct ball a, double lo, double hi)
{
    double x = a.x < lo ? lo : a.x > hi ? hi : a.x; /* NaN stays NaN */

    return (struct ball){ x, bound_smaller(a.e, bound_larger(x - lo, hi - x)) };
}

struct ball ball_clip(struct ball a, double limit)
{
    return limit > 0 ? ball_clamp(a, -limit, limit) : a;
}

/* y = f(a.x) for a monotone f, computed with error `local`. */
static struct ball monotone(struct ball a, double y, double (*f)(double x), double local)
{
    double e = local;

    if (a.e > 0)
        e += bound_interval(y, f(a.x - a.e), f(a.x + a.e));
    return (struct ball){ y, bound_clean(e) };
}

static double logistic(double x)
{
    return 1 / (1 + elementary_exp(-x));
}

/* Of y = logistic(x), without that of x; see the operation LOGISTIC. */
static double logistic_error(double x, double y, double u)
{
    return y * ((1 - y) * bound_exp(u, x) + 4 * u) + u;
}

struct ball ball_logistic(struct ball a, double u)
{
    double y = logistic(a.x);

    if (u == 0)
        return (struct ball){ y, 0 };
    return monotone(a, y, logistic, logistic_error(a.x, y, u));
}

/* At most BLOCK values; the functions of values and ends of intervals are computed together. */
static void logistic_block(const struct ball_array *a, size_t n, double u,
                           const struct ball_array *to)
{
    double x[3 * BLOCK], y[3 * BLOCK], *lo = x + n, *hi = lo + n;
    const double *least = y + n, *most = least + n;

    for (size_t i = 0; i < n; i++)
        x[i] = a->x[i];
    for (size_t i = 0; a->e && i < n; i++) {
        lo[i] = a->x[i] - a->e[i];
        hi[i] = a->x[i] + a->e[i];
    }
    elementary_logistic_all(x, a->e ? 3 * n : n, y);
    for (size_t i = 0; i < n; i++) {
        double e = u > 0 ? logistic_error(x[i], y[i], u) : 0;
        if (u > 0 && a->e && a->e[i] > 0)
            e += bound_interval(y[i], least[i], most[i]);
        ball_put(to, i, (struct ball){ y[i], e });
    }
}

void ball_logistic_all(const struct ball_array *a, size_t n, double u, const struct ball_array *to)
{
    for (size_t at = 0; at < n; at += BLOCK) {
        const struct ball_array from = ball_from(a, at), part = ball_from(to, at);
        logistic_block(&from, n - at < BLOCK ? n - at : BLOCK, u, &part);
    }
}

struct ball ball_tanh(struct ball a, double u)
{
    double y = elementary_tanh(a.x);

    if (u == 0)
        return (struct ball){ y, 0 };
    return monotone(a, y, elementary_tanh, bound_tanh(u, a.x, y));
}

/* epsilon avoids division by a variance of zero.  Implementations add it, or use it only if the
 * variance is zero; those divide by any variance down to the smallest float. */
static const double epsilon = 1e-8, least_variance = 0x1p-149;

/* Mean and variance of n values, with their errors.  Some implementations compute the variance as
 * mean square minus squared mean. */
struct moments {
    struct ball mean, variance;
    double rounding; /* of a sum of n numbers, relative to the sum of their magnitudes */
    double shift;    /* the part of the mean's error that is due to rounding */
    bool cancels;    /* that difference may consist of rounding errors only */
};

static struct moments moments_of(const struct ball_array *a, size_t n, double u, double dot_factor)
{
    double sum = 0, squares = 0, e = 0, magnitude = 0, carried = 0, count = (double) n;
    struct moments m = { .rounding = (bound_roundings(dot_factor, n) + 4) * u };

    for (size_t i = 0; i < n; i++) {
        sum += a->x[i];
        magnitude += fabs(a->x[i]);
        e += ball_at(a, i).e;
    }
    m.shift = m.rounding * (magnitude + e) / count;
    m.mean = (struct ball){ sum / count, e / count + m.shift };
    for (size_t i = 0; i < n; i++) {
        double d = a->x[i] - m.mean.x, ed = ball_at(a, i).e + m.mean.e;
        squares += d * d;
        carried += (2 * fabs(d) + ed) * ed;
    }
    double variance = squares / count, lost = m.rounding * (variance + m.mean.x * m.mean.x);
    m.variance = (struct ball){ variance, carried / count + lost };
    m.cancels = n > 1 && lost >= variance / 2;
    return m;
}

/* ret_first[i]: the sum of the effects of every value's error on normalised value i, to first
 * order. All sums grow together, value by value, so that the compiler vectorises them. */
VECTOR_LOOP static void first_effects(const struct ball_array *a, double mean, double scale,
                                      size_t n, double *restrict ret_first)
{
    double count = (double) n;

    for (size_t i = 0; i < n; i++)
        ret_first[i] = 0;
    for (size_t j = 0; j < n; j++) {
        double of = (a->x[j] - mean) * scale, e = a->e ? a->e[j] : 0;
        for (size_t i = 0; i < n; i++) {
            double back = (1 + (a->x[i] - mean) * scale * of) / count;
            ret_first[i] += fabs((i == j ? 1 : 0) - back) * e;
        }
    }
}

/* Errors of normalised values if those of x are small compared to the standard deviation.
 *
 * With d the change of x - mean in units of the deviation, y becomes (y + d) / sqrt(1 + t), where
 * t = 2 mean(y d) + mean(d^2): to first order y + d - y mean(y d).  Changes that shift or scale all
 * values equally cancel, so the bound is tighter than with independent errors of mean and
 * deviation.
 *
 * ret_e: the errors of the n normalised values; INFINITY if this method does not apply. */
static void spread_errors(const struct ball_array *a, const struct moments *m, size_t n, double u,
                          double *ret_e)
{
    double count = (double) n, scale = 1 / sqrt(m->variance.x + epsilon); /* 1 / deviation */
    double mean_e = 0, slope = 0, square = 0; /* of e; upper bounds of those of |y d| and d^2 */

    for (size_t i = 0; i < n; i++) {
        double e = ball_at(a, i).e, by = scale / count;
        mean_e += e / count;
        slope += fabs((a->x[i] - m->mean.x) * scale) * e * by;
        square += e * e * scale * by;
    }

    /* relative changes of the variance: by errors (the upper bound of |t|), by rounding */
    double t = 2 * slope + square, mean = fabs(m->mean.x) + m->mean.e, most = 1 + t;
    double squares = most / (scale * scale) + mean * mean;
    double lost = m->rounding * squares + bound_tiny(u) + epsilon;
    lost = lost * scale * scale / (1 - t);
    bool small = t < 0.5 && lost < 0.5;

    /* the series of 1 / sqrt(1 + t) with Lagrange's remainder, 3 t^2 / (8 (1 - |t|)^(5/2)) */
    double kept = 1 - t, rest = 3 * t * t / (8 * kept * kept * sqrt(kept));
    double grown = 1 / sqrt(1 - lost), grown_scale = scale / sqrt(1 - t) * grown;
    if (small)
        first_effects(a, m->mean.x, scale, n, ret_e);
    for (size_t i = 0; i < n; i++) {
        double y = (a->x[i] - m->mean.x) * scale, d = (ball_at(a, i).e + mean_e) * scale;
        double higher = fabs(y) * square / 2 + d * (slope + square / 2) + (fabs(y) + d) * rest;
        double carried = ret_e[i] * scale + higher;
        double e = carried + (fabs(y) + carried) * (grown - 1 + 8 * u) + m->shift * grown_scale +
                   bound_tiny(u) * (1 + grown_scale);
        ret_e[i] = small ? bound_clean(e) : INFINITY;
    }
}

/* ball_normalise() without errors: the same values. */
static void normalise_values(double *x, size_t n)
{
    double sum = 0, squares = 0, count = (double) n;

    for (size_t i = 0; i < n; i++)
        sum += x[i];
    double mean = sum / count;
    for (size_t i = 0; i < n; i++)
        squares += (x[i] - mean) * (x[i] - mean);
    double scale = 1 / sqrt(squares / count + epsilon);
    for (size_t i = 0; i < n; i++)
        x[i] = (x[i] - mean) * scale;
}

void ball_normalise(const struct ball_array *a, size_t n, double u, double dot_factor,
                    double *scratch)
{
    if (u == 0) {
        normalise_values(a->x, n);
        return;
    }
    struct moments m = moments_of(a, n, u, dot_factor);
    double scale = 1 / sqrt(m.variance.x + epsilon);
    double least = fmax(m.variance.x - m.variance.e, least_variance);
    double most = m.variance.x + m.variance.e;
    double largest = 1 / sqrt(least), smallest = 1 / sqrt(most + epsilon);
    struct ball factor = { scale, bound_interval(scale, smallest, largest) + 4 * u * scale };

    spread_errors(a, &m, n, u, scratch);
    for (size_t i = 0; i < n; i++) {
        struct ball x = ball_at(a, i), minus = { -m.mean.x, m.mean.e };
        struct ball y = ball_product(ball_sum(x, minus, u), factor, u);
        y.e = fmin(y.e, scratch[i]);
        /* |y| <= sqrt(n - 1) for all finite errors; with an infinite value all are NaN */
        if (!m.cancels && m.mean.e < INFINITY)
            y.e = fmin(y.e, fabs(y.x) + 1.01 * sqrt((double) n - 1));
        ball_put(a, i, y);
    }
}
