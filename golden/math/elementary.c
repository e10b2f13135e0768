#include "golden/math/elementary.h"

#include <string.h>

#include "golden/math/elementary_internal.h"

/* exp(r) - 1 - r for |r| <= ln(2) / 2: the Taylor series up to r^15 / 15!, whose remainder is below
 * 2^-58 of r; even and odd terms in two sums, which a processor can compute in parallel. */
static double exp_tail(double r)
{
    static const double even[] = { 1.0 / 2,       1.0 / 24,        1.0 / 720,        1.0 / 40320,
                                   1.0 / 3628800, 1.0 / 479001600, 1.0 / 87178291200 };
    static const double odd[] = {
        1.0 / 6,        1.0 / 120,        1.0 / 5040,         1.0 / 362880,
        1.0 / 39916800, 1.0 / 6227020800, 1.0 / 1307674368000
    };
    double q = r * r, a = even[6], b = odd[6];

    for (int i = 5; i >= 0; i--) {
        a = a * q + even[i];
        b = b * q + odd[i];
    }
    return q * (a + r * b);
}

static double expm1_reduced(double r)
{
    return r + exp_tail(r);
}

/* x = k ln(2) + r.  The first part of ln(2) has 32 bits, so that its product with k is exact. */
static double reduce(double x, struct pair *ret_r)
{
    const double log2_e = 0x1.71547652b82fep0, ln2_high = 0x1.62e42feep-1,
                 ln2_low = 0x1.a39ef35793c76p-33;
    double k = floor(x * log2_e + 0.5);

    *ret_r = pair_sum(x - k * ln2_high, -k * ln2_low);
    return k;
}

/* 2^k, a normal number. */
static double power_of_two(int k)
{
    uint64_t bits = (uint64_t) (k + 1023) << 52;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

double elementary_exp(double x)
{
    struct pair r;

    if (isnan(x))
        return x;
    if (x > 710)
        return INFINITY;
    if (x < -746)
        return 0;
    int k = (int) reduce(x, &r);
    double y = 1 + expm1_reduced(r.hi);
    return k > -1022 && k < 1023 ? y * power_of_two(k) : ldexp(y, k);
}

/* 2^k e^r - 1 = (2^k - 1) + 2^k r + 2^k (e^r - 1 - r) */
double elementary_expm1(double x)
{
    struct pair r;

    if (isnan(x) || x == 0)
        return x;
    if (fabs(x) < 0.34)
        return expm1_reduced(x);
    if (x > 100 || x < -40)
        return elementary_exp(x) - 1;
    double scale = power_of_two((int) reduce(x, &r));
    struct pair start = pair_sum(scale, -1), y = pair_sum(start.hi, scale * r.hi);
    return y.hi + (y.lo + start.lo + scale * (exp_tail(r.hi) + r.lo));
}

/* (e^2x - 1) / (e^2x + 1), with the numerator computed without cancellation for small x. */
double elementary_tanh(double x)
{
    double a = fabs(x);
    if (isnan(x))
        return x;
    if (a > 20)
        return copysign(1, x);
    double numerator = 2 * a < 0.34 ? expm1_reduced(2 * a) : elementary_exp(2 * a) - 1;
    return copysign(numerator / (numerator + 2), x);
}

void elementary_add_exp(struct elementary_exp_sum *s, double x)
{
    if (x > s->top) {
        s->sum *= elementary_exp(s->top - x);
        s->top = x;
    }
    s->sum += elementary_exp(x - s->top);
}
