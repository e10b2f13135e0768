#include "specs/element_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum element_kind element_kind(enum dtype dtype)
{
    if (dtype == DT_BOOL || dtype == DT_B8)
        return ELEMENT_BOOL;
    return dtype_info[dtype].codec->integer ? ELEMENT_INTEGER : ELEMENT_REAL;
}

double element_value(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double value;

    c->widen((const char *) t->data + i * c->size, 1, 0, 1, &value);
    return value;
}

const char *real_text(double value, char text[ELEMENT_TEXT])
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

bool all_finite(const struct tensor *t)
{
    if (element_kind(t->dtype) != ELEMENT_REAL)
        return true;
    for (size_t n = tensor_count(t), i = 0; i < n; i++)
        if (!isfinite(element_value(t, i)))
            return false;
    return true;
}
