#include "harness/check/json_value.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "golden/base/text_escape.h"

struct json_t *json_value_text(const char *text)
{
    char *escaped = text_escaped(TEXT_JSON, text);
    json_t *s = escaped ? json_string(escaped) : NULL;

    free(escaped);
    return s;
}

struct json_t *json_value_number(double x)
{
    if (isnan(x))
        return json_string("NaN");
    if (isinf(x))
        return json_string(x < 0 ? "-Infinity" : "Infinity");
    return json_real(x);
}
