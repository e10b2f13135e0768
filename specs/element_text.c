#include "specs/element_text.h"

#include <math.h>

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

const char *integer_text(const struct tensor *t, size_t i, char text[ELEMENT_TEXT])
{
    const int64_t n = dtype_info[t->dtype].codec->size == sizeof(int64_t)
                          ? ((const int64_t *) t->data)[i]
                      : t->dtype == DT_B8 ? ((const uint8_t *) t->data)[i]
                                          : (int64_t) element_value(t, i);
    return whole_text(n, text);
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

bool has_other_truths(const struct tensor *t)
{
    const uint8_t *byte = t->data;

    for (size_t n = t->dtype == DT_B8 ? tensor_count(t) : 0, i = 0; i < n; i++)
        if (byte[i] > 1)
            return true;
    return false;
}
