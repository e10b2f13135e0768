/* Sine: the argument is reduced by pi/2 with enough digits of 2/pi for the remainder of the largest
 * numbers (Payne and Hanek's method). */
#include "golden/math/elementary.h"
#include "golden/math/elementary_internal.h"

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
static unsigned reduce(double x, struct pair *ret_r)
{
    uint32_t product[LIMBS], word[4];
    int e;
    uint64_t m = (uint64_t) ldexp(frexp(fabs(x), &e), 53);

    e -= 53; /* |x| = m 2^e; limbs whose product with it is a multiple of 4 are skipped */
    int first = e > 2 ? (e - 2) / 32 : 0, point = 32 * (first + WINDOW) - e;
    multiply(m, first, product);
    unsigned n = point < 32 * LIMBS ? bits_from(product, point) & 3 : 0;
    for (int i = 0; i < 4; i++)
        word[i] = bits_from(product, point - 32 * (i + 1));
    bool upper = word[0] >> 31;
    for (int i = 0; i < 4 && upper; i++) /* 1 - fraction, except for its last bit */
        word[i] = ~word[i];
    struct pair f = { word[0] * 0x1p-32, 0 };
    for (int i = 1; i < 4; i++)
        f = pair_add(f, (struct pair){ ldexp(word[i], -32 * (i + 1)), 0 });
    f = pair_mul(f, (struct pair){ 0x1.921fb54442d18p0, 0x1.1a62633145c07p-54 });
    *ret_r = upper ? (struct pair){ -f.hi, -f.lo } : f;
    return (n + upper) & 3;
}

/* Taylor series up to r^17 / 17! */
static double sin_reduced(struct pair r)
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
static double cos_reduced(struct pair r)
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

double elementary_sin(double x)
{
    struct pair r = { fabs(x), 0 };
    unsigned n = 0;

    if (isnan(x) || isinf(x))
        return NAN;
    if (r.hi > 0x1.921fb54442d18p-1)
        n = reduce(x, &r);
    double y = n & 1 ? cos_reduced(r) : sin_reduced(r);
    return signbit(x) != (n >= 2) ? -y : y;
}
