#include "tflite_failure.h"

#include <stdio.h>

static _Thread_local char text[HAL_TEXT_BYTES];

void failure_clear(void)
{
    text[0] = 0;
}

void failure_set_list(const char *format, va_list arguments)
{
    if (text[0])
        return;
    vsnprintf(text, sizeof(text), format, arguments);
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = ' ';
}

void failure_set(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    failure_set_list(format, arguments);
    va_end(arguments);
}

enum hal_status failure_of(enum hal_status status, const char *reason)
{
    if (status != HAL_NONE)
        failure_set("%s", reason);
    return status;
}

void failure_get(char *ret_text, size_t size)
{
    snprintf(ret_text, size, "%s", text);
}
