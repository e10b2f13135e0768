/* A growing array of bytes, for messages and for text that is put together. */
#ifndef HARNESS_BUFFER_H
#define HARNESS_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct buffer {
    char *data; /* followed by a zero byte whenever not NULL */
    size_t length, capacity;
    bool failed; /* memory ran out: what was put since is lost */
};

void buffer_done(struct buffer *b);
void buffer_put(struct buffer *b, const void *bytes, size_t length);
void buffer_puts(struct buffer *b, const char *text);
__attribute__((format(printf, 2, 3))) void buffer_printf(struct buffer *b, const char *fmt, ...);
/* Appends an argument so that a POSIX shell reads it back unchanged. */
void buffer_put_quoted(struct buffer *b, const char *argument);
/* Removes bytes at the front. */
void buffer_drop(struct buffer *b, size_t length);
/* Appends to text[size] what fits; returns text. */
__attribute__((format(printf, 3, 4))) char *text_append(char *text, size_t size, const char *fmt,
                                                        ...);
/* The text of the buffer; "" when empty. */
const char *buffer_text(const struct buffer *b);

/* Strings of drivers reach terminals, JSON and databases: control characters and bytes that are not
 * UTF-8 become '?'. */
void text_clean(char *text);

#endif
