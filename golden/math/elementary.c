#include "golden/math/elementary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "golden/math/vector_loop.h"

/* Functions that those for FMA call: inlined, they are compiled for it, too. */
#define ELEMENTARY_INLINE static inline __attribute__((always_inline))

/* --- pairs: numbers with twice the precision of double, as unevaluated sums with
 * |lo| <= ulp(hi) / 2, for log, pow and sin, where double is not enough for a correctly rounded
 * last bit */

struct pair {
    double hi, lo;
};

/* a + b, exact, for |a| >= |b| */
ELEMENTARY_INLINE struct pair pair_renormal(double a, double b)
{
    double hi = a + b;
    return (struct pair){ hi, b - (hi - a) };
}

/* a + b, exact */
ELEMENTARY_INLINE struct pair pair_sum(double a, double b)
{
    double hi = a + b, b2 = hi - a;
    return (struct pair){ hi, (a - (hi - b2)) + (b - b2) };
}

/* a * b, exact */
ELEMENTARY_INLINE struct pair pair_product(double a, double b)
{
    double hi = a * b;
    return (struct pair){ hi, fma(a, b, -hi) };
}

ELEMENTARY_INLINE struct pair pair_add(struct pair a, struct pair b)
{
    struct pair s = pair_sum(a.hi, b.hi);
    return pair_renormal(s.hi, s.lo + (a.lo + b.lo));
}

ELEMENTARY_INLINE struct pair pair_mul(struct pair a, struct pair b)
{
    struct pair p = pair_product(a.hi, b.hi);
    return pair_renormal(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

/* ln(2) in parts of 32 and 53 bits: products of the first with an exponent are exact. */
static const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
static const double log2_e = 0x1.71547652b82fep0;

/* --- exponentials */

/* exp(r) - 1 - r for |r| <= ln(2) / 2: the Taylor series up to r^15 / 15!, whose remainder is below
 * 2^-58 of r; even and odd terms in two sums, which a processor can compute in parallel. */
ELEMENTARY_INLINE double exp_tail(double r)
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

ELEMENTARY_INLINE double expm1_reduced(double r)
{
    return r + exp_tail(r);
}

/* x = k ln(2) + r */
ELEMENTARY_INLINE double reduce_exponent(double x, struct pair *ret_r)
{
    double k = floor(x * log2_e + 0.5);

    *ret_r = pair_sum(x - k * ln2_high, -k * ln2_low);
    return k;
}

/* 2^k, a normal number. */
ELEMENTARY_INLINE double power_of_two(int k)
{
    uint64_t bits = (uint64_t) (k + 1023) << 52;
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* y 2^k, exact if it is a normal number; y between 1/2 and 2 */
ELEMENTARY_INLINE double scaled(double y, int k)
{
    return k > -1022 && k < 1023 ? y * power_of_two(k) : ldexp(y, k);
}

ELEMENTARY_INLINE double exponential(double x)
{
    struct pair r;

    if (isnan(x))
        return x;
    if (x > 710)
        return INFINITY;
    if (x < -746)
        return 0;
    int k = (int) reduce_exponent(x, &r);
    double y = 1 + expm1_reduced(r.hi);
    return scaled(y, k);
}

FMA_FUNCTION double elementary_exp(double x)
{
    return exponential(x);
}

/* y 2^k for y between 1/2 and 2 and an integer k in -1100..1100, without branches: rounded once, by
 * the second factor. */
ELEMENTARY_INLINE double scaled_by_halves(double y, double k)
{
    static const double units = 0x1p52 + 1023; /* bits 0..10 of a sum with it: a biased exponent */
    double half = floor(k / 2), first = half + units, second = k - half + units;
    uint64_t bits[2];

    memcpy(&bits[0], &first, sizeof first);
    memcpy(&bits[1], &second, sizeof second);
    bits[0] <<= 52;
    bits[1] <<= 52;
    memcpy(&first, &bits[0], sizeof first);
    memcpy(&second, &bits[1], sizeof second);
    return y * first * second;
}

/* As exponential(), without branches. */
ELEMENTARY_INLINE double exponential_limited(double x)
{
    struct pair r;
    double limited = x > 710 ? 711 : x < -746 ? -747 : x, k = reduce_exponent(limited, &r);
    double y = scaled_by_halves(1 + expm1_reduced(r.hi), k);

    return isnan(x) ? x : y;
}

VECTOR_LOOP void elementary_exp_all(const double *restrict x, size_t n, double *restrict ret_y)
{
    for (size_t i = 0; i < n; i++)
        ret_y[i] = exponential_limited(x[i]);
}

VECTOR_LOOP void elementary_logistic_all(const double *restrict x, size_t n, double *restrict ret_y)
{
    for (size_t i = 0; i < n; i++)
        ret_y[i] = 1 / (1 + exponential_limited(-x[i]));
}

/* 2^k e^r - 1 = (2^k - 1) + 2^k r + 2^k (e^r - 1 - r) */
FMA_FUNCTION double elementary_expm1(double x)
{
    struct pair r;

    if (isnan(x) || x == 0)
        return x;
    if (fabs(x) < 0.34)
        return expm1_reduced(x);
    if (x > 100 || x < -40)
        return exponential(x) - 1;
    double scale = power_of_two((int) reduce_exponent(x, &r));
    struct pair start = pair_sum(scale, -1), y = pair_sum(start.hi, scale * r.hi);
    return y.hi + (y.lo + start.lo + scale * (exp_tail(r.hi) + r.lo));
}

/* (e^2x - 1) / (e^2x + 1), with the numerator computed without cancellation for small x. */
FMA_FUNCTION double elementary_tanh(double x)
{
    double a = fabs(x);
    if (isnan(x))
        return x;
    if (a > 20)
        return copysign(1, x);
    double numerator = 2 * a < 0.34 ? expm1_reduced(2 * a) : exponential(2 * a) - 1;
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

/* --- logarithm and power, both from a logarithm in twice the precision, because a power multiplies
 * the error of its logarithm by up to 745 */

/* log(1 + f) = 2 atanh(s), s = f / (2 + f), as s + s^3/3 + s^5/5 + ..., |s| < 0.1716: the remainder
 * after s^25 / 25 is below 2^-69.  The first terms, which determine the precision, are pairs. */
ELEMENTARY_INLINE struct pair log1p_reduced(double f)
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

/* As frexp() of a positive finite x: x = 2^k m, m between 1/2 and 1. */
ELEMENTARY_INLINE double split_exponent(double x, int *ret_k)
{
    const int bias = 1022, shift = x < 0x1p-1022 ? 54 : 0; /* of a subnormal x */
    uint64_t bits;

    x = shift ? x * 0x1p54 : x;
    memcpy(&bits, &x, sizeof bits);
    *ret_k = (int) (bits >> 52) - bias - shift;
    bits = (bits & (((uint64_t) 1 << 52) - 1)) | (uint64_t) bias << 52;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* log(x) of a positive finite x: x = 2^k m, m between sqrt(1/2) and sqrt(2). */
ELEMENTARY_INLINE struct pair log_pair(double x)
{
    int k;
    double m = split_exponent(x, &k);

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

FMA_FUNCTION double elementary_log(double x)
{
    if (isnan(x) || x == INFINITY)
        return x;
    if (x <= 0)
        return x == 0 ? -INFINITY : NAN;
    return log_pair(x).hi;
}

/* As log_pair() of a normal number, without branches. */
ELEMENTARY_INLINE struct pair log_pair_normal(double x)
{
    static const double bias = 0x1p52 + 1022;
    uint64_t bits, exponent;
    double k, m;

    memcpy(&bits, &x, sizeof bits);
    exponent = (bits >> 52) | (uint64_t) 1075 << 52; /* 2^52 + the biased exponent */
    memcpy(&k, &exponent, sizeof k);
    k -= bias;
    bits = (bits & (((uint64_t) 1 << 52) - 1)) | (uint64_t) 1022 << 52;
    memcpy(&m, &bits, sizeof m);
    bool low = m < 0x1.6a09e667f3bcdp-1;
    m = low ? 2 * m : m;
    k = low ? k - 1 : k;
    struct pair y = log1p_reduced(m - 1);
    /* for k = 0, too, where it adds zeros */
    return pair_add((struct pair){ k * ln2_high, 0 }, pair_add(pair_product(k, ln2_low), y));
}

static inline bool is_normal(double x) /* and positive */
{
    return (x >= DBL_MIN) & (x < (double) INFINITY);
}

FMA_LOOP static size_t log_normal(const double *restrict x, size_t n, double *restrict ret_y)
{
    size_t others = 0;

    for (size_t i = 0; i < n; i++) {
        ret_y[i] = log_pair_normal(x[i]).hi;
        others += is_normal(x[i]) ? 0 : 1;
    }
    return others;
}

void elementary_log_all(const double *restrict x, size_t n, double *restrict ret_y)
{
    size_t others = log_normal(x, n, ret_y);

    for (size_t i = 0; others && i < n; i++)
        if (!is_normal(x[i]))
            ret_y[i] = elementary_log(x[i]);
}

/* exp(r) for |r| <= ln(2) / 2, correct in almost twice the precision: 1 + r + r^2/2 exactly, then
 * the Taylor series up to r^16 / 16!. */
ELEMENTARY_INLINE struct pair exp_reduced(struct pair r)
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

ELEMENTARY_INLINE double exp_pair(struct pair x)
{
    if (!(x.hi < 710))
        return INFINITY;
    if (x.hi < -746)
        return 0;
    double k = floor(x.hi * log2_e + 0.5);
    struct pair low = pair_product(-k, ln2_low);
    struct pair r = pair_add(pair_sum(x.hi - k * ln2_high, x.lo), low);
    return scaled(exp_reduced(r).hi, (int) k);
}

/* 0: not an integer, 1: odd, 2: even */
ELEMENTARY_INLINE int parity(double y)
{
    if (floor(y) != y)
        return 0;
    return fabs(y) < 0x1p53 && floor(y / 2) != y / 2 ? 1 : 2;
}

/* The limit of exp(y log a) where a is 0 or infinite, or y is infinite or very large. */
ELEMENTARY_INLINE double power_limit(double a, double y)
{
    if (a == 1)
        return 1;
    return (a > 1) == (y > 0) ? INFINITY : 0;
}

FMA_FUNCTION double elementary_pow(double x, double y)
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

/* As exp_pair(), without branches. */
ELEMENTARY_INLINE double exp_pair_limited(struct pair x)
{
    double hi = x.hi < 710 ? x.hi : 710, k;

    hi = hi < -746 ? -746 : hi;
    k = floor(hi * log2_e + 0.5);
    struct pair low = pair_product(-k, ln2_low);
    struct pair r = pair_add(pair_sum(hi - k * ln2_high, x.lo), low);
    double y = scaled_by_halves(exp_reduced(r).hi, k);
    y = x.hi < -746 ? 0 : y;
    return x.hi < 710 ? y : (double) INFINITY;
}

FMA_LOOP static size_t pow_normal(const double *restrict x, double y, size_t n,
                                  double *restrict ret_y)
{
    size_t others = 0;

    for (size_t i = 0; i < n; i++) {
        ret_y[i] = exp_pair_limited(pair_mul(log_pair_normal(x[i]), (struct pair){ y, 0 }));
        others += is_normal(x[i]) ? 0 : 1;
    }
    return others;
}

void elementary_pow_all(const double *restrict x, double y, size_t n, double *restrict ret_y)
{
    bool usual = fabs(y) > 0 && fabs(y) <= 0x1p64; /* for each x, elementary_pow() has one case */
    size_t others = usual ? pow_normal(x, y, n, ret_y) : n;

    for (size_t i = 0; others && i < n; i++)
        if (!usual || !is_normal(x[i]))
            ret_y[i] = elementary_pow(x[i], y);
}

/* --- sine: the argument is reduced by pi/2 with enough digits of 2/pi for the remainder of the
 * largest numbers (Payne and Hanek's method) */

enum { WINDOW = 7, LIMBS = WINDOW + 2 };

/* 2/pi in limbs of 32 bits, from the binary point on */
static const uint32_t two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab
};

/* m times the WINDOW limbs of 2/pi from `first` on; limb 0 of the product is the lowest. */
static void multiply(uint64_t m, int first, uint32_t ret_product[LIMBS])
{
    const uint64_t part[] = { m & UINT32_MAX, m >> 32 };

    for (int i = 0; i < LIMBS; i++)
        ret_product[i] = 0;
    for (int p = 0; p < 2; p++) {
        uint64_t carry = 0;
        for (int i = 0; i < WINDOW; i++) {
            carry += part[p] * two_over_pi[first + WINDOW - 1 - i] + ret_product[i + p];
            ret_product[i + p] = (uint32_t) carry;
            carry >>= 32;
        }
        ret_product[WINDOW + p] = (uint32_t) carry;
    }
}

/* 32 bits of the product that begin at bit `at`. */
static uint32_t bits_from(const uint32_t product[LIMBS], int at)
{
    int i = at / 32;
    uint64_t low = product[i], high = i + 1 < LIMBS ? product[i + 1] : 0;

    return (uint32_t) ((high << 32 | low) >> at % 32);
}

/* |x| = n pi/2 + r, |r| <= pi/4; returns n mod 4. */
ELEMENTARY_INLINE unsigned reduce_angle(double x, struct pair *ret_r)
{
    static const double weight[] = { 0x1p-32, 0x1p-64, 0x1p-96, 0x1p-128 };
    uint32_t product[LIMBS], word[4];
    int e;
    uint64_t m = (uint64_t) (split_exponent(fabs(x), &e) * 0x1p53);

    e -= 53; /* |x| = m 2^e; limbs whose product with it is a multiple of 4 are skipped */
    int first = e > 2 ? (e - 2) / 32 : 0, point = 32 * (first + WINDOW) - e;
    multiply(m, first, product);
    unsigned n = point < 32 * LIMBS ? bits_from(product, point) & 3 : 0;
    for (int i = 0; i < 4; i++)
        word[i] = bits_from(product, point - 32 * (i + 1));
    bool upper = word[0] >> 31;
    for (int i = 0; i < 4 && upper; i++) /* 1 - fraction, except for its last bit */
        word[i] = ~word[i];
    struct pair f = { word[0] * weight[0], 0 };
    for (int i = 1; i < 4; i++)
        f = pair_add(f, (struct pair){ word[i] * weight[i], 0 });
    f = pair_mul(f, (struct pair){ 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54 });
    *ret_r = upper ? (struct pair){ -f.hi, -f.lo } : f;
    return (n + upper) & 3;
}

/* Taylor series up to r^17 / 17! */
ELEMENTARY_INLINE double sin_reduced(struct pair r)
{
    static const double series[] = {
        -1.0 / 6,        1.0 / 120,        -1.0 / 5040,          1.0 / 362880,
        -1.0 / 39916800, 1.0 / 6227020800, -1.0 / 1307674368000, 1.0 / 355687428096000
    };
    double q = r.hi * r.hi, p = series[7];

    for (int i = 6; i >= 0; i--)
        p = p * q + series[i];
    return r.hi + (r.lo * (1 - q / 2) + r.hi * q * p);
}

/* Taylor series up to r^18 / 18! */
ELEMENTARY_INLINE double cos_reduced(struct pair r)
{
    static const double series[] = {
        1.0 / 24,        -1.0 / 720,         1.0 / 40320,          -1.0 / 3628800,
        1.0 / 479001600, -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000
    };
    double q = r.hi * r.hi, p = series[7];

    for (int i = 6; i >= 0; i--)
        p = p * q + series[i];
    struct pair y = pair_renormal(1, -q / 2);
    return y.hi + (y.lo + (q * q * p - r.hi * r.lo));
}

FMA_FUNCTION double elementary_sin(double x)
{
    struct pair r = { fabs(x), 0 };
    unsigned n = 0;

    if (isnan(x) || isinf(x))
        return NAN;
    if (r.hi > 0x1.921fb54442d18p-1)
        n = reduce_angle(x, &r);
    double y = n & 1 ? cos_reduced(r) : sin_reduced(r);
    return signbit(x) != (n >= 2) ? -y : y;
}
