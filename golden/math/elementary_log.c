/* Logarithm and power, both from a logarithm in twice the precision, because a power multiplies the
 * error of its logarithm by up to 745. */
#include "golden/math/elementary.h"
#include "golden/math/elementary_internal.h"

/* ln(2) in parts of 32 and 53 bits: products of the first with an exponent are exact. */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;

/* log(1 + f) = 2 atanh(s), s = f / (2 + f), as s + s^3/3 + s^5/5 + ..., |s| < 0.1716: the remainder
 * after s^25 / 25 is below 2^-69.  The first terms, which determine the precision, are pairs. */
static struct pair log1p_reduced(double f)
{
    static const double tail[] = { 1.0 / 7,  1.0 / 9,  1.0 / 11, 1.0 / 13, 1.0 / 15,
                                   1.0 / 17, 1.0 / 19, 1.0 / 21, 1.0 / 23, 1.0 / 25 };
    const struct pair third = { 1.0 / 3, 0x1.5555555555555p-56 };
    const struct pair fifth = { 1.0 / 5, -0x1.999999999999ap-57 };
    struct pair d = pair_sum(2, f), s;

    s.hi = f / d.hi;
    s.lo = (fma(-s.hi, d.hi, f) - s.hi * d.lo) / d.hi;
    struct pair q = pair_mul(s, s), sum = { tail[9], 0 };
    for (int i = 8; i >= 0; i--)
        sum.hi = sum.hi * q.hi + tail[i];
    sum = pair_add(fifth, pair_mul(q, sum));
    sum = pair_add(third, pair_mul(q, sum));
    sum = pair_add(s, pair_mul(pair_mul(q, s), sum));
    return (struct pair){ 2 * sum.hi, 2 * sum.lo };
}

/* log(x) of a positive finite x: x = 2^k m, m between sqrt(1/2) and sqrt(2). */
static struct pair log_pair(double x)
{
    int k;
    double m = frexp(x, &k);

    if (m < 0x1.6a09e667f3bcdp-1) {
        m *= 2;
        k--;
    }
    struct pair y = log1p_reduced(m - 1);
    if (k == 0)
        return y;
    y = pair_add(pair_product(k, ln2_low), y);
    return pair_add((struct pair){ k * ln2_high, 0 }, y);
}

double elementary_log(double x)
{
    if (isnan(x) || x == INFINITY)
        return x;
    if (x <= 0)
        return x == 0 ? -INFINITY : NAN;
    return log_pair(x).hi;
}

/* exp(r) for |r| <= ln(2) / 2, correct in almost twice the precision: 1 + r + r^2/2 exactly, then
 * the Taylor series up to r^16 / 16!. */
static struct pair exp_reduced(struct pair r)
{
    static const double factorial[] = {
        6,       24,       120,       720,        5040,        40320,         362880,
        3628800, 39916800, 479001600, 6227020800, 87178291200, 1307674368000, 20922789888000
    };
    double q = r.hi * r.hi, p = 1 / factorial[13];

    for (int i = 12; i >= 0; i--)
        p = p * r.hi + 1 / factorial[i];
    struct pair square = pair_product(r.hi, r.hi);
    struct pair y = pair_add(pair_renormal(1, r.hi), (struct pair){ square.hi / 2, square.lo / 2 });
    return pair_add(y, (struct pair){ q * r.hi * p, r.lo * (1 + r.hi) });
}

static double exp_pair(struct pair x)
{
    if (!(x.hi < 710))
        return INFINITY;
    if (x.hi < -746)
        return 0;
    double k = floor(x.hi * 0x1.71547652b82fep0 + 0.5);
    struct pair low = pair_product(-k, ln2_low);
    struct pair r = pair_add(pair_sum(x.hi - k * ln2_high, x.lo), low);
    return ldexp(exp_reduced(r).hi, (int) k);
}

/* 0: not an integer, 1: odd, 2: even */
static int parity(double y)
{
    if (floor(y) != y)
        return 0;
    return fabs(y) < 0x1p53 && floor(y / 2) != y / 2 ? 1 : 2;
}

/* The limit of exp(y log a) where a is 0 or infinite, or y is infinite or very large. */
static double power_limit(double a, double y)
{
    if (a == 1)
        return 1;
    return (a > 1) == (y > 0) ? INFINITY : 0;
}

double elementary_pow(double x, double y)
{
    double a = fabs(x), power;

    if (y == 0 || x == 1)
        return 1;
    if (isnan(x) || isnan(y))
        return NAN;
    if (a == 0 || isinf(a) || isinf(y))
        power = power_limit(a, y);
    else if (x < 0 && parity(y) == 0)
        return NAN;
    else if (a == 1)
        power = 1;
    else if (fabs(y) > 0x1p64) /* a differs from 1 by 2^-53 or more */
        power = power_limit(a, y);
    else
        power = exp_pair(pair_mul(log_pair(a), (struct pair){ y, 0 }));
    return signbit(x) && parity(y) == 1 ? -power : power;
}
