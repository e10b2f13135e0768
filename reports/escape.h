/* Escapes text from outside (names of operands, reasons, specifications) for XML: HTML pages and
 * the labels of graphs.  The result is well-formed for any input. */
#ifndef REPORTS_ESCAPE_H
#define REPORTS_ESCAPE_H

#include <stdio.h>

/* Writes at most `most` characters of text (0: all), then an ellipsis if it was longer.  The five
 * special characters become entities; bytes that XML does not allow (control characters but line
 * ends and tabs, invalid UTF-8) become U+FFFD.  NULL writes nothing. */
void escape_put(const char *text, size_t most, FILE *to);

#endif
