/* Text from outside (names of operands, reasons, specifications) inside XML: HTML pages and the
 * labels of graphs.  Whatever it holds, the result is well-formed. */
#ifndef REPORTS_ESCAPE_H
#define REPORTS_ESCAPE_H

#include <stdio.h>

/* Writes text, at most `most` characters of it (0: all), with the five special characters as
 * entities; bytes that XML cannot hold (control characters, broken UTF-8) become U+FFFD.  Line ends
 * and tabs stay.  NULL writes nothing. */
void escape_put(const char *text, size_t most, FILE *to);

#endif
