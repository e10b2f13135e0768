#include "golden/math/fixed_point.h"

#include <math.h>
#include <stdlib.h>

enum { NARROW = 16, WIDE = 32 };

static int64_t clamp(int64_t x, int64_t lo, int64_t hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

static int32_t saturate(int width, int64_t x)
{
    int64_t limit = (int64_t) 1 << (width - 1);

    return (int32_t) clamp(x, -limit, limit - 1);
}

int16_t fixed_saturate_16(int32_t x)
{
    return (int16_t) saturate(NARROW, x);
}

int8_t fixed_saturate_8(int32_t x)
{
    return (int8_t) saturate(8, x);
}

/* The upper half of the doubled product, rounded; -1 times -1 saturates. */
static int32_t multiply(int width, int32_t a, int32_t b)
{
    int64_t product = (int64_t) a * b, half = (int64_t) 1 << (width - 2);

    return saturate(width, (product + (product >= 0 ? half : 1 - half)) / (2 * half));
}

int16_t fixed_multiply_16(int16_t a, int16_t b)
{
    return (int16_t) multiply(NARROW, a, b);
}

int32_t fixed_shift_right(int32_t x, int bits)
{
    if (bits <= 0)
        return x;
    int64_t magnitude = (llabs((long long) x) + (1LL << (bits - 1))) >> bits;
    return (int32_t) (x < 0 ? -magnitude : magnitude);
}

static int32_t shift_left(int width, int32_t x, int bits)
{
    return saturate(width, (int64_t) x * ((int64_t) 1 << bits));
}

int32_t fixed_accumulator(double exact)
{
    return (int32_t) (uint32_t) (int64_t) exact;
}

/* --- factors */

struct fixed_factor fixed_factor_of(double real)
{
    struct fixed_factor f;
    double limit = 0x1p31, mantissa = round(frexp(fmin(real, 0x1p62), &f.shift) * limit);

    if (mantissa == limit) {
        mantissa /= 2;
        f.shift++;
    }
    if (!(real > 0) || f.shift < -31)
        return (struct fixed_factor){ 0, 0 };
    f.mantissa = (int32_t) mantissa;
    return f;
}

int32_t fixed_scale(int32_t x, struct fixed_factor f)
{
    int left = f.shift > 0 ? f.shift : 0;

    x = shift_left(WIDE, x, left < WIDE ? left : WIDE - 1);
    return fixed_shift_right(multiply(WIDE, x, f.mantissa), f.shift < 0 ? -f.shift : 0);
}

/* Newton iterations for 1 / sqrt of a number in [1/4, 1), with three integer bits. */
static int32_t newton_root(int32_t x)
{
    const int32_t one = 1 << 28, three_halves = one + one / 2;
    int32_t half = fixed_shift_right(x, 1), y = one;

    for (int i = 0; i < 5; i++) {
        int32_t cube = shift_left(WIDE, multiply(WIDE, multiply(WIDE, y, y), y), 6);
        y = shift_left(WIDE, multiply(WIDE, three_halves, y) - multiply(WIDE, half, cube), 3);
    }
    return y;
}

struct fixed_factor fixed_inverse_root(int32_t x)
{
    const int32_t half_root_of_two = 1518500250;
    int right = 11;

    if (x <= 1)
        return (struct fixed_factor){ INT32_MAX, 0 };
    for (; x >= 1 << 29; right++)
        x /= 4;
    for (; x < 1 << 27; right--)
        x *= 4;
    int32_t root = multiply(WIDE, newton_root(x >> 1), half_root_of_two);
    if (right < 0)
        root = shift_left(WIDE, root, -right);
    return (struct fixed_factor){ root, right < 0 ? 0 : -right };
}

/* --- functions of 16-bit words */

/* Rounds a 32-bit constant to 16 bits. */
static int32_t narrow(int32_t wide)
{
    return fixed_shift_right(wide, WIDE - NARROW);
}

static int32_t times(int32_t a, int32_t b)
{
    return multiply(NARROW, a, b);
}

/* e^x for x in [-1/4, 0), no integer bits: the Taylor series around -1/8, to the fourth power. */
static int32_t exp_of_quarter(int32_t x)
{
    const int32_t exp_of_eighth = narrow(1895147668), third = narrow(715827883), eighth = 1 << 12;
    int32_t t = x + eighth, t2 = times(t, t), t3 = times(t2, t), t4 = times(t2, t2);
    int32_t tail = fixed_shift_right(times(fixed_shift_right(t4, 2) + t3, third) + t2, 1);

    return saturate(NARROW, (int64_t) exp_of_eighth + times(exp_of_eighth, t + tail));
}

/* e^x for x <= 0.  x = part - rest, part in [-1/4, 0): e^part times e^-(2^k) for bits k of rest. */
static int32_t exp_of_negative(int32_t x, int integer_bits)
{
    static const int32_t power[] = { 1672461947, 1302514674, 790015084, 290630308,
                                     39332535,   720401,     242 }; /* from e^-(1/4) on */
    int fraction = NARROW - 1 - integer_bits;
    int32_t quarter = 1 << (fraction - 2), part = (x & (quarter - 1)) - quarter;
    int32_t y = exp_of_quarter(shift_left(NARROW, part, integer_bits)), rest = part - x;

    if (x == 0)
        return INT16_MAX;
    if (integer_bits > 5 && x < -(1 << (20 - integer_bits))) /* -32 */
        return 0;
    for (int k = -2; k < integer_bits && k <= 4; k++)
        if (rest >> (fraction + k) & 1)
            y = times(y, narrow(power[k + 2]));
    return y;
}

/* 1 / ((1 + x) / 2) for x in (0, 1), two integer bits, by Newton iterations. */
static int32_t inverse_of_mean(int32_t x)
{
    const int32_t one = 1 << 13, first = narrow(1515870810), slope = narrow(-1010580540);
    int32_t mean = (x + INT16_MAX + 1) / 2, y = first + times(mean, slope);

    for (int i = 0; i < 3; i++)
        y += shift_left(NARROW, times(y, one - times(mean, y)), 2);
    return y;
}

int16_t fixed_logistic(int16_t x)
{
    if (x == 0)
        return 1 << 14;
    int32_t inverse = inverse_of_mean(exp_of_negative(-abs((int) x), 3));
    int32_t y = shift_left(NARROW, inverse, 1);
    return (int16_t) (x > 0 ? y : INT16_MAX - y);
}

int16_t fixed_tanh(int16_t x, int integer_bits)
{
    if (x == 0)
        return 0;
    int32_t inverse = inverse_of_mean(exp_of_negative(-abs((int) x), integer_bits + 1));
    int32_t y = shift_left(NARROW, inverse - (1 << 13), 2); /* (1 - e) / (1 + e), e = e^(-2x) */
    return (int16_t) (x > 0 ? y : -y);
}
