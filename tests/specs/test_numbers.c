/* The text of numbers: what printf() gives with the fewest digits that read back to the same
 * binary32 value.  Numbers of many kinds, chosen by a fixed generator. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "specs/element_text.h"

enum { NUMBERS = 400000 };

static const char *by_printf(double value, char text[ELEMENT_TEXT])
{
    for (int digits = 6; digits <= 9; digits++) {
        snprintf(text, ELEMENT_TEXT, "%.*g", digits, value);
        if (strtof(text, NULL) == (float) value)
            break;
    }
    if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    return text;
}

/* From 32 random bits: any number, or one of a range that specifications have. */
static float number(uint32_t bits, int kind)
{
    float any;
    memcpy(&any, &bits, sizeof any);
    switch (kind) {
    case 0: return any;
    case 1: return (float) (int32_t) bits * 0x1p-29F;
    case 2: return (float) ((int) (bits % 2001) - 1000) / 8;
    case 3: return (float) ((double) (bits % 2000000) / 1e5 - 7);
    case 4: return (float) (bits % 2000000) - 1e6F;
    default: return (float) f16_to_double((uint16_t) bits);
    }
}

int main(void)
{
    static const int64_t whole[] = { 0, -1, 9, 10, 255, INT64_MAX, INT64_MIN };
    uint64_t state = 88172645463325252u;
    char text[ELEMENT_TEXT], wanted[ELEMENT_TEXT];
    int wrong = 0;

    for (int i = 0; i < NUMBERS; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17; /* xorshift64 */
        float x = number((uint32_t) (state >> 32), i % 6);
        if (isfinite(x) && strcmp(real_text((double) x, text), by_printf((double) x, wanted))) {
            fprintf(stderr, "%a: \"%s\", expected \"%s\"\n", (double) x, text, wanted);
            wrong++;
        }
    }
    for (int i = 0; i < COUNT(whole); i++) {
        int64_t stored = whole[i];
        struct tensor t = { .dtype = DT_FIBONACCI_INT64, .data = &stored };
        snprintf(wanted, sizeof wanted, "%lld", (long long) whole[i]);
        if (strcmp(integer_text(&t, 0, text), wanted)) {
            fprintf(stderr, "%s: \"%s\"\n", wanted, text);
            wrong++;
        }
    }
    return wrong != 0;
}
