/* Colours of verdicts on a terminal.
 *
 * --color always or never decides; with auto NO_COLOR (not empty: none), then CLICOLOR_FORCE (not
 * empty, not 0: always), then whether the output is a terminal, but for CLICOLOR=0 and TERM=dumb.
 */
#ifndef HARNESS_COLOUR_H
#define HARNESS_COLOUR_H

#include <stdbool.h>
#include <stdio.h>

#include "harness/check/buffer.h"
#include "harness/check/verdict.h"

enum colour_when { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* What --color says; before that: auto. */
void colour_choose(enum colour_when when);
/* Whether colours are written to this file descriptor. */
bool colour_wanted(int fd);

/* The escape sequences before and after a verdict. */
const char *colour_of(enum verdict v);
extern const char colour_dim[], colour_end[];

/* Prints the verdict's name on stdout, coloured where that is wanted, then blanks up to `width`. */
void colour_print_verdict(enum verdict v, const char *name, int width);

#endif
