#include "sim/base/failure_text.h"

#include <stdarg.h>
#include <stdio.h>

#include "golden/base/text_escape.h"

static _Thread_local char text[HAL_TEXT_BYTES];

void failure_text_clear(void)
{
    text[0] = 0;
}

void failure_text_set(const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
}

void failure_text_get(struct hal_driver *self, char *ret_text, size_t size)
{
    (void) self;
    snprintf(ret_text, size, "%s", text);
}

void failure_text_of(struct hal_driver *d, char ret_text[HAL_TEXT_BYTES])
{
    ret_text[0] = 0;
    if (d->get_failure_text)
        d->get_failure_text(d, ret_text, HAL_TEXT_BYTES);
    ret_text[HAL_TEXT_BYTES - 1] = 0;
    text_clean(ret_text);
    for (char *c = ret_text; *c; c++)
        if (*c == '\n')
            *c = ' ';
}
