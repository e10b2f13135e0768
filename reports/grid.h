/* Tables of text with aligned columns, plain or in Markdown. */
#ifndef REPORTS_GRID_H
#define REPORTS_GRID_H

#include <stdbool.h>
#include <stdio.h>

enum { GRID_CELL = 400 }; /* bytes; longer cells are cut off */

struct grid {
    int columns;             /* set before the first cell; all else starts as zero */
    int n, room;             /* cells, row by row; the first row is the heading */
    char (*cell)[GRID_CELL]; /* owned */
};

/* Appends a cell.  Out of memory it is dropped. */
__attribute__((format(printf, 2, 3))) void grid_add(struct grid *g, const char *fmt, ...);
/* Writes the complete rows and an empty line. */
void grid_print(const struct grid *g, bool markdown, FILE *to);
void grid_done(struct grid *g);

/* Writes text; in Markdown with its special characters escaped. */
void grid_text(const char *text, bool markdown, FILE *to);

#endif
