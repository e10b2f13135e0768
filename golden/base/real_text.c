#include "golden/base/real_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the decimal digits of n, at least `least` of them; returns the end. */
static char *put_digits(uint64_t n, int least, char *to)
{
    char digit[24];
    int used = 0;
    while (n || used < least) {
        digit[used++] = (char) ('0' + n % 10);
        n /= 10;
    }
    while (used)
        *to++ = digit[--used];
    return to;
}

const char *whole_text(int64_t n, char text[REAL_TEXT])
{
    char *to = text;
    if (n < 0)
        *to++ = '-';
    *put_digits(n < 0 ? 0 - (uint64_t) n : (uint64_t) n, 1, to) = 0;
    return text;
}

/* Whether rounding a double to float would round twice. */
static bool is_between_floats(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (bits & 0x1fffffff) == 0x10000000;
}

/* What real_text() writes, without printf(), for most numbers that "%g" writes without an exponent.
 * False: not for this one. */
static bool quick_text(double value, char *text)
{
    static const double power[] = {
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12
    };
    const double a = fabs(value), unsure = 1e-6; /* above the error of a product below 1e9 */
    int before = -3;                             /* digits before the point; 0: 0.1 to 1 */
    if (!(a >= 1e-4 && a < 1e6))
        return false;
    while (a >= (before < 0 ? 1 / power[-before] : power[before]))
        before++;
    for (int digits = 6; digits <= 9; digits++) {
        const int places = digits - before;
        const double scaled = a * power[places], n = floor(scaled + 0.5), near = n / power[places];
        if (fabs(scaled + 0.5 - n) < unsure || fabs(scaled - 0.5 - n) < unsure ||
            n >= power[digits] || is_between_floats(near))
            return false;
        if ((float) near < (float) a || (float) near > (float) a)
            continue;
        const uint64_t whole = (uint64_t) n / (uint64_t) power[places];
        if (signbit(value))
            *text++ = '-';
        text = put_digits(whole, 1, text);
        *text++ = '.';
        char *first = text;
        text = put_digits((uint64_t) n - whole * (uint64_t) power[places], places > 1 ? places : 1,
                          text);
        while (text > first + 1 && text[-1] == '0')
            text--;
        *text = 0;
        return true;
    }
    return false;
}

const char *real_text(double value, char text[REAL_TEXT])
{
    char shortest[REAL_TEXT] = "";

    if (quick_text(value, text))
        return text;
    if (value >= 0 && value <= 0) /* of either sign */
        return strcpy(text, signbit(value) ? "-0.0" : "0.0");
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        if (strtof(shortest, NULL) == (float) value)
            break;
    }
    if (!strpbrk(shortest, ".e"))
        strcat(shortest, ".0");
    return memcpy(text, shortest, sizeof shortest);
}
