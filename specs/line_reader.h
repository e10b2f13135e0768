/* The lines of a text file, plain or compressed with xz, one at a time. */
#ifndef SPECS_LINE_READER_H
#define SPECS_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "golden/base/why.h"

struct line_reader;

/* A file has at most 2^24 lines, a compressed one inflates to at most 1 GiB; more is WHY_INVALID,
 * as it is with any file that a few kB of xz can describe. */

/* Reads from `from`; takes ownership and closes it, also on failure.  xz: the file is compressed.
 * limit: length in bytes of the longest line accepted. */
int line_reader_new(FILE *from, bool xz, size_t limit, struct line_reader **ret_lines,
                    struct why *w);
void line_reader_free(struct line_reader *l);

/* 1: a line that is not blank, without its newline or a terminating zero, valid until the next
 * call; 0: end of file; -1: the reason. */
int line_reader_next(struct line_reader *l, const char **ret_text, size_t *ret_length,
                     struct why *w);

/* Number of lines read so far, blank ones included: the number of the line returned last. */
size_t line_reader_count(const struct line_reader *l);

#endif
