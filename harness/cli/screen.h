/* A block of lines at the end of a terminal (stderr) that is drawn over itself.
 *
 * The cursor rests at the beginning of the line below the block, and no mode of the terminal stays
 * changed between two writes: however the process ends, what follows begins on a line of its own.
 * Each drawing is one write(), so that nothing flickers.  Text that is printed meanwhile, by this
 * process or by one that it has forked since, goes above the block: screen_clear() before it, or
 * screen_print(). */
#ifndef HARNESS_SCREEN_H
#define HARNESS_SCREEN_H

#include <stdbool.h>

#include "harness/check/buffer.h"

/* Whether stderr is a terminal that can be drawn on; of one that cannot TERM is "dumb". */
bool screen_is_terminal(void);
/* Before the first drawing, and before forking.  Does nothing when called again. */
void screen_start(void);

struct screen_size {
    unsigned columns, lines;
};
/* That of the terminal now; 80 x 24 where it does not tell. */
struct screen_size screen_size(void);

enum { SCREEN_LINES = 16 };
struct screen_line {
    struct buffer text; /* may have escape sequences that change colours */
    unsigned cells;     /* columns that it takes */
};
/* Draws up to SCREEN_LINES lines in place of those that were drawn before.  Does nothing while the
 * process is in the background. */
void screen_draw(const struct screen_line *line, unsigned n);
void screen_clear(void);
/* Prints one line above the block, which the next drawing shows again. */
void screen_print(int fd, const char *line, size_t length);

#endif
