#include "golden/base/why.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int why_fail(struct why *w, enum why_code code, const char *fmt, ...)
{
    if (!w)
        return -1;
    va_list ap;
    va_start(ap, fmt);
    w->code = code;
    vsnprintf(w->text, sizeof w->text, fmt, ap);
    va_end(ap);
    return -1;
}

int why_no_memory(struct why *w)
{
    return why_fail(w, WHY_MEMORY, "out of memory");
}

int why_no_memory_for(struct why *w, const char *fmt, ...)
{
    char what[sizeof w->text];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof what, fmt, ap);
    va_end(ap);
    return why_fail(w, WHY_MEMORY, "out of memory for %.*s",
                    (int) (sizeof what - sizeof "out of memory for "), what);
}

bool why_is_shortage(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOSPC || error == EDQUOT ||
           error == EFBIG || error == ENOMEM || error == EIO;
}

int why_file(struct why *w, const char *path, int error)
{
    return why_fail(w, why_is_shortage(error) ? WHY_SYSTEM : WHY_INVALID, "%s: %s", path,
                    strerror(error));
}

int why_prefix(struct why *w, const char *fmt, ...)
{
    if (!w)
        return -1;
    struct why whole = { .code = w->code };
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(whole.text, sizeof whole.text, fmt, ap);
    va_end(ap);
    if (strlen(whole.text) + strlen(": ") + strlen(w->text) >= sizeof whole.text)
        return -1;
    strcat(whole.text, ": ");
    strcat(whole.text, w->text);
    *w = whole;
    return -1;
}

/* Length of the UTF-8 sequence at `at`; 0 if it is not valid: an overlong form, a surrogate or a
 * code above U+10FFFF, which the first two bytes show, included. */
static size_t utf8_length(const unsigned char *at)
{
    unsigned char c = at[0];
    size_t n = c < 0x80                ? 1
               : c >= 0xc2 && c < 0xe0 ? 2
               : c >= 0xe0 && c < 0xf0 ? 3
               : c >= 0xf0 && c < 0xf5 ? 4
                                       : 0;
    for (size_t i = 1; i < n; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((c == 0xe0 && at[1] < 0xa0) || (c == 0xed && at[1] > 0x9f) || (c == 0xf0 && at[1] < 0x90) ||
        (c == 0xf4 && at[1] > 0x8f))
        return 0;
    return n;
}

/* U+2028 to U+202E, U+2066 to U+2069: line ends, and changes of the direction of writing. */
static bool is_direction(const unsigned char *at)
{
    return at[0] == 0xe2 && ((at[1] == 0x80 && at[2] >= 0xa8 && at[2] <= 0xae) ||
                             (at[1] == 0x81 && at[2] >= 0xa6 && at[2] <= 0xa9));
}

void text_clean(char *text)
{
    unsigned char *at = (unsigned char *) text;
    while (*at) {
        size_t n = utf8_length(at);
        if (n == 0 || (n == 1 && (*at < 0x20 || *at == 0x7f) && *at != '\n') ||
            (n == 2 && at[0] == 0xc2 && at[1] < 0xa0)) {
            *at++ = '?';
            continue;
        }
        if (n == 3 && is_direction(at))
            memset(at, '?', n);
        at += n;
    }
}
