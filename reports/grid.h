/* Tables of text, with columns as wide as they must be, plain or in Markdown. */
#ifndef REPORTS_GRID_H
#define REPORTS_GRID_H

#include <stdbool.h>
#include <stdio.h>

enum { GRID_CELL = 400 };

struct grid {
    int columns; /* set before the first cell */
    int n, room; /* cells, row by row; the first row is the heading */
    char (*cell)[GRID_CELL];
};

/* The next cell.  Out of memory, the table ends there. */
__attribute__((format(printf, 2, 3))) void grid_add(struct grid *g, const char *fmt, ...);
/* Writes the whole rows and an empty line. */
void grid_print(const struct grid *g, bool markdown, FILE *to);
void grid_done(struct grid *g);

/* Text with its marks of Markdown taken as they are. */
void grid_text(const char *text, bool markdown, FILE *to);

#endif
