/* A growable byte buffer, for messages and for text assembled in pieces. */
#ifndef HARNESS_BUFFER_H
#define HARNESS_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

/* All zero is an empty buffer.  After a failed allocation, `failed` stays set and everything
 * appended from then on is dropped. */
struct buffer {
    char *data; /* owned; followed by a NUL unless NULL */
    size_t length, capacity;
    bool failed;
};

/* Frees the bytes; the buffer is empty again. */
void buffer_done(struct buffer *b);

void buffer_put(struct buffer *b, const void *bytes, size_t length);
void buffer_puts(struct buffer *b, const char *text);
__attribute__((format(printf, 2, 3))) void buffer_printf(struct buffer *b, const char *fmt, ...);

__attribute__((format(printf, 2, 0))) void buffer_vprintf(struct buffer *b, const char *fmt,
                                                          va_list args);

/* Appends one argument of a command line, quoted for a shell where it needs quoting
 * (TEXT_SHELL of golden/base/text_escape.h). */
void buffer_put_quoted(struct buffer *b, const char *argument);

/* Removes the first `length` bytes; there must be that many. */
void buffer_drop(struct buffer *b, size_t length);

/* Appends formatted text to the string in text[size], cut off at size - 1; returns text. */
__attribute__((format(printf, 3, 4))) char *text_append(char *text, size_t size, const char *fmt,
                                                        ...);

/* "90 s", "5 min" or "2.1 h" in text; returns text. */
char *text_duration(double seconds, char text[32]);

/* Copies the most informative line of what a process printed before it died: a sanitizer's summary,
 * else the last line, "" if there is none.  Returns ret_line. */
char *text_last_line(const char *output, char *ret_line, size_t size);

/* The content as a string, "" when empty; valid until the buffer changes. */
const char *buffer_text(const struct buffer *b);

#endif
