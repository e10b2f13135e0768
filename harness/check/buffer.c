#include "harness/check/buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"

void buffer_done(struct buffer *b)
{
    free(b->data);
    *b = (struct buffer){ 0 };
}

static bool buffer_reserve(struct buffer *b, size_t more)
{
    if (b->failed || more > SIZE_MAX / 4 - b->length) {
        b->failed = true;
        return false;
    }
    size_t need = b->length + more + 1;
    if (need <= b->capacity)
        return true;
    size_t capacity = b->capacity ? b->capacity : 256;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(b->data, capacity);
    if (!data) {
        b->failed = true;
        return false;
    }
    b->data = data;
    b->capacity = capacity;
    return true;
}

void buffer_put(struct buffer *b, const void *bytes, size_t length)
{
    if (!length || !buffer_reserve(b, length))
        return;
    memcpy(b->data + b->length, bytes, length);
    b->length += length;
    b->data[b->length] = 0;
}

void buffer_puts(struct buffer *b, const char *text)
{
    buffer_put(b, text, strlen(text));
}

void buffer_vprintf(struct buffer *b, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n >= 0 && buffer_reserve(b, (size_t) n)) {
        vsnprintf(b->data + b->length, (size_t) n + 1, fmt, again);
        b->length += (size_t) n;
    }
    va_end(again);
}

void buffer_printf(struct buffer *b, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buffer_vprintf(b, fmt, args);
    va_end(args);
}

void buffer_put_quoted(struct buffer *b, const char *argument)
{
    char *text = text_escaped(TEXT_SHELL, argument);
    if (text)
        buffer_puts(b, text);
    else
        b->failed = true;
    free(text);
}

void buffer_drop(struct buffer *b, size_t length)
{
    if (!length)
        return;
    memmove(b->data, b->data + length, b->length - length);
    b->length -= length;
}

char *text_append(char *text, size_t size, const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, size - used, fmt, args);
    va_end(args);
    return text;
}

char *text_duration(double seconds, char text[32])
{
    if (seconds < 120)
        snprintf(text, 32, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text, 32, "%.0f min", seconds / 60);
    else
        snprintf(text, 32, "%.1f h", seconds / 3600);
    return text;
}

char *text_last_line(const char *output, char *ret_line, size_t size)
{
    static const char mark[] = "SUMMARY: ";
    const char *best = strstr(output, mark);
    if (best)
        best += strlen(mark);
    for (const char *line = best ? "" : output; *line; line += strspn(line, "\n")) {
        best = line;
        line += strcspn(line, "\n");
    }
    snprintf(ret_line, size, "%.*s", best ? (int) strcspn(best, "\n") : 0, best ? best : "");
    text_clean(ret_line);
    return ret_line;
}

const char *buffer_text(const struct buffer *b)
{
    return b->data ? b->data : "";
}
