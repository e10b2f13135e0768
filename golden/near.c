#include "golden/near.h"

#include "golden/activation.h"
#include "golden/elementary.h"

static struct near clamp(struct near a, double lo, double hi)
{
    double x = a.x < lo ? lo : a.x > hi ? hi : a.x; /* NaN stays NaN */

    return (struct near){ x, bound_smaller(a.e, bound_larger(x - lo, hi - x)) };
}

struct near near_clip(struct near a, double limit)
{
    return limit > 0 ? clamp(a, -limit, limit) : a;
}

/* f monotone, computed with the error `local`. */
static struct near through(struct near a, double y, double (*f)(double x), double local)
{
    double e = local;

    if (a.e > 0)
        e += bound_interval(y, f(a.x - a.e), f(a.x + a.e));
    return (struct near){ y, bound_clean(e) };
}

static double logistic(double x)
{
    return 1 / (1 + elementary_exp(-x));
}

/* Local errors of both: see the operations LOGISTIC and TANH. */
struct near near_logistic(struct near a, double u)
{
    double y = logistic(a.x);

    if (u == 0)
        return (struct near){ y, 0 };
    return through(a, y, logistic, y * ((1 - y) * bound_exp(u, a.x) + 4 * u) + u);
}

static struct near hyperbolic_tangent(struct near a, double u)
{
    double y = elementary_tanh(a.x);

    if (u == 0)
        return (struct near){ y, 0 };
    return through(a, y, elementary_tanh, (1 - y * y) / 2 * bound_exp(u, 2 * a.x) + 4 * u);
}

struct near near_activation(struct near a, int32_t code, double u)
{
    if (code == NEAR_TANH)
        return hyperbolic_tangent(a, u);
    if (code == NEAR_LOGISTIC)
        return near_logistic(a, u);
    struct activation_range r = activation_range(code);
    return code == NEAR_NONE ? a : clamp(a, r.lo, r.hi);
}

/* Mean and variance of n values, with their errors.  Implementations take the variance as a
 * difference of mean squares, too. */
struct moments {
    struct near mean, variance;
    bool cancels; /* the difference may be nothing but rounding */
};

static struct moments moments_of(const struct near_array *a, size_t n, double u, double dot_factor)
{
    double sum = 0, squares = 0, e = 0, magnitude = 0, carried = 0, count = (double) n;
    double rounding = (dot_factor * sqrt(count) + 4) * u;
    struct moments m;

    for (size_t i = 0; i < n; i++) {
        sum += a->x[i];
        magnitude += fabs(a->x[i]);
        e += near_at(a, i).e;
    }
    m.mean = (struct near){ sum / count, e / count + rounding * magnitude / count };
    for (size_t i = 0; i < n; i++) {
        double d = a->x[i] - m.mean.x, ed = near_at(a, i).e + m.mean.e;
        squares += d * d;
        carried += (2 * fabs(d) + ed) * ed;
    }
    double variance = squares / count, lost = rounding * (variance + m.mean.x * m.mean.x);
    m.variance = (struct near){ variance, carried / count + lost };
    m.cancels = n > 1 && lost >= variance / 2;
    return m;
}

void near_normalise(const struct near_array *a, size_t n, double u, double dot_factor)
{
    static const double epsilon = 1e-8;
    struct moments m = moments_of(a, n, u, dot_factor);
    double scale = 1 / sqrt(m.variance.x + epsilon);
    double least = fmax(m.variance.x - m.variance.e, epsilon / 100);
    double most = m.variance.x + m.variance.e;
    double largest = 1 / sqrt(least), smallest = 1 / sqrt(most + epsilon);
    struct near factor = { scale, bound_interval(scale, smallest, largest) + 4 * u * scale };

    for (size_t i = 0; i < n; i++) {
        struct near x = near_at(a, i), minus = { -m.mean.x, m.mean.e };
        struct near y = near_product(near_sum(x, minus, u), factor, u);
        /* |y| <= sqrt(n - 1), whatever the finite errors are; of an infinite value all are NaN */
        if (!m.cancels && m.mean.e < INFINITY)
            y.e = fmin(bound_clean(y.e), fabs(y.x) + 1.01 * sqrt((double) n - 1));
        near_put(a, i, y);
    }
}
