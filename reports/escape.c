#include "reports/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Length of the UTF-8 character at s; 0 if it is not well-formed or not allowed in XML. */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80)
        return s[0] >= 0x20 || s[0] == '\n' || s[0] == '\t' ? 1 : 0;
    size_t n = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    uint32_t code = s[0] & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3fu);
    }
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return code < least[n] || code > 0x10ffff || surrogate || (code & 0xfffe) == 0xfffe ? 0 : n;
}

static const char *entity(char c)
{
    switch (c) {
    case '&': return "&amp;";
    case '<': return "&lt;";
    case '>': return "&gt;";
    case '"': return "&quot;";
    case '\'': return "&#39;";
    default: return NULL;
    }
}

void escape_put(const char *text, size_t most, FILE *to)
{
    const char *s = text ? text : "";
    for (size_t n = 0; *s; n++) {
        if (most && n == most) {
            fputs("\xe2\x80\xa6", to); /* ellipsis */
            return;
        }
        size_t length = utf8_length((const unsigned char *) s);
        if (!length)
            fputs("\xef\xbf\xbd", to);
        else if (entity(*s))
            fputs(entity(*s), to);
        else
            fwrite(s, 1, length, to);
        s += length ? length : 1;
    }
}
