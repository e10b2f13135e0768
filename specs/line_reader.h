/* The lines of a text file, plain or compressed with xz, one at a time. */
#ifndef SPECS_LINES_H
#define SPECS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "golden/base/why.h"

struct lines;

/* Reads from `from`; takes ownership and closes it, also on failure.  xz: the file is compressed.
 * limit: length in bytes of the longest line accepted. */
int lines_new(FILE *from, bool xz, size_t limit, struct lines **ret_lines, struct why *w);
void lines_free(struct lines *l);

/* 1: a line, without its newline or a terminating zero, valid until the next call; 0: end of file;
 * -1: the reason. */
int lines_next(struct lines *l, const char **ret_text, size_t *ret_length, struct why *w);

/* Number of lines returned so far. */
size_t lines_count(const struct lines *l);

#endif
