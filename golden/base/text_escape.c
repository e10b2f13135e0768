#include "golden/base/text_escape.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

size_t text_utf8(const char *s, uint32_t *ret_code)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    const unsigned char *at = (const unsigned char *) s;
    size_t n = at[0] < 0x80 ? 1 : at[0] >= 0xf0 ? 4 : at[0] >= 0xe0 ? 3 : 2;
    uint32_t code = n == 1 ? at[0] : at[0] & (0x7fu >> n);
    if (at[0] >= 0x80 && (at[0] < 0xc2 || at[0] > 0xf4))
        return 0;
    for (size_t i = 1; i < n; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (at[i] & 0x3fu);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret_code = code;
    return n;
}

/* Whether a character does something else than to show itself: control characters; the marks,
 * embeddings, overrides and isolates of text direction; line and paragraph separators; the byte
 * order mark; noncharacters, of which XML forbids two. */
static bool is_hidden(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || (c >= 0x200e && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff ||
           (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

static void put_hidden(FILE *to, uint32_t c)
{
    if (c == '\n' || c == '\t' || c == '\r')
        fprintf(to, "\\%c", c == '\n' ? 'n' : c == '\t' ? 't' : 'r');
    else
        fprintf(to, c < 0x100 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned) c);
}

static const char *entity(uint32_t c)
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

/* What stands for a character that means something to the medium; NULL: itself. */
static const char *escape_of(enum text_medium medium, uint32_t c)
{
    switch (medium) {
    case TEXT_XML: return c == '\n' ? "&#10;" : c == '\t' ? "&#9;" : entity(c);
    case TEXT_HTML: return entity(c);
    case TEXT_CSV: return c == '"' ? "\"\"" : NULL;
    case TEXT_TAP: return c == '#' ? "\\#" : c == '\\' ? "\\\\" : NULL;
    case TEXT_TERMINAL:
    case TEXT_LINES:
    case TEXT_JSON:
    case TEXT_SHELL: break;
    }
    return NULL;
}

/* Shows a character or byte that is not visible. */
static void show(FILE *to, enum text_medium medium, uint32_t c)
{
    if (medium == TEXT_TAP)
        putc('\\', to); /* of the escape */
    put_hidden(to, c);
}

/* Writes the character c, which has n bytes at s. */
static void put_character(FILE *to, enum text_medium medium, uint32_t c, const char *s, size_t n)
{
    bool one_line = medium == TEXT_TERMINAL || medium == TEXT_TAP;
    bool space = c == '\n' || c == '\t';
    if (escape_of(medium, c))
        fputs(escape_of(medium, c), to);
    else if (medium == TEXT_JSON || (space && !one_line) || !is_hidden(c))
        fwrite(s, 1, n, to);
    else
        show(to, medium, c);
}

/* ---- the shell */

static bool is_visible(const char *text)
{
    uint32_t c = 0;
    for (size_t n; *text; text += n)
        if (!(n = text_utf8(text, &c)) || is_hidden(c))
            return false;
    return true;
}

/* 'it'\''s' */
static void put_quoted(FILE *to, const char *text)
{
    putc('\'', to);
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", to);
        else
            putc(*text, to);
    }
    putc('\'', to);
}

/* $'it\'s\012': bytes of what cannot be shown in octal, which always has three digits. */
static void put_shell_bytes(FILE *to, const char *text)
{
    uint32_t c = 0;
    fputs("$'", to);
    for (size_t n; *text; text += n) {
        n = text_utf8(text, &c);
        if (n && !is_hidden(c)) {
            fputs(c == '\'' || c == '\\' ? "\\" : "", to);
            fwrite(text, 1, n, to);
            continue;
        }
        n = n ? n : 1;
        for (size_t i = 0; i < n; i++)
            fprintf(to, "\\%03o", (unsigned char) text[i]);
    }
    putc('\'', to);
}

static void put_argument(FILE *to, const char *text)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:,=+@%^";
    if (*text && text[strspn(text, plain)] == 0)
        fputs(text, to);
    else if (is_visible(text))
        put_quoted(to, text);
    else
        put_shell_bytes(to, text);
}

/* ---- all media */

void text_put(FILE *to, enum text_medium medium, const char *text, size_t most)
{
    uint32_t c = 0;
    if (!text)
        return;
    if (medium == TEXT_SHELL) {
        put_argument(to, text);
        return;
    }
    for (size_t i = 0, n; *text; i++, text += n) {
        if (most && i == most) {
            fputs("\xe2\x80\xa6", to); /* ellipsis */
            return;
        }
        n = text_utf8(text, &c);
        if (n)
            put_character(to, medium, c, text, n);
        else
            show(to, medium, (unsigned char) *text);
        n = n ? n : 1;
    }
}

char *text_escaped(enum text_medium medium, const char *text)
{
    char *escaped = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&escaped, &length);
    if (!to)
        return NULL;
    text_put(to, medium, text, 0);
    if (fclose(to) == 0)
        return escaped;
    free(escaped);
    return NULL;
}

void text_clean(char *text)
{
    uint32_t c = 0;
    for (size_t n; *text; text += n) {
        n = text_utf8(text, &c);
        if (n && (c == '\n' || !is_hidden(c)))
            continue;
        n = n ? n : 1;
        memset(text, '?', n);
    }
}
