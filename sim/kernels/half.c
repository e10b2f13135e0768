#include "sim/kernels/half.h"

#include <string.h>

static uint32_t bits_of(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof(u));
    return u;
}

static float from_bits(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof(x));
    return x;
}

/* 2^-24: the smallest fp16 above zero, unit of the numbers that have no leading one. */
static const float half_unit = 0x1p-24f;

float half_to_float(uint16_t h)
{
    uint32_t sign = (uint32_t) (h & 0x8000u) << 16, exponent = h >> 10 & 0x1fu;
    uint32_t fraction = h & 0x3ffu;

    if (exponent == 0)
        return from_bits(bits_of((float) fraction * half_unit) | sign);
    if (exponent == 31)
        return from_bits(sign | 0x7f800000u | fraction << 13);
    return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

float half_round(float x)
{
    uint32_t u = bits_of(x), sign = u & 0x80000000u, a = u & 0x7fffffffu;

    if (a > 0x7f800000u)
        return x;        /* NaN */
    if (a < 0x38800000u) /* below 2^-14 the spacing is that of floats at 0.5 */
        return from_bits(bits_of((from_bits(a) + 0.5f) - 0.5f) | sign);
    a = (a + 0xfffu + (a >> 13 & 1u)) & ~0x1fffu;
    return from_bits((a >= 0x47800000u ? 0x7f800000u : a) | sign);
}

uint16_t half_from_float(float x)
{
    uint32_t u = bits_of(half_round(x)), sign = u >> 16 & 0x8000u, a = u & 0x7fffffffu;

    if (a > 0x7f800000u)
        return (uint16_t) (sign | 0x7e00u);
    if (a == 0x7f800000u)
        return (uint16_t) (sign | 0x7c00u);
    if (a < 0x38800000u)
        return (uint16_t) (sign | (uint32_t) (from_bits(a) / half_unit));
    return (uint16_t) (sign | (a - 0x38000000u) >> 13);
}
