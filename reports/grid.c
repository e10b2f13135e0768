#include "reports/grid.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void grid_add(struct grid *g, const char *fmt, ...)
{
    va_list args;

    if (g->n >= g->room) {
        int room = 2 * g->room + 64;
        void *cell = realloc(g->cell, (size_t) room * sizeof *g->cell);
        if (!cell)
            return;
        g->cell = cell;
        g->room = room;
    }
    va_start(args, fmt);
    vsnprintf(g->cell[g->n++], GRID_CELL, fmt, args);
    va_end(args);
}

void grid_done(struct grid *g)
{
    free(g->cell);
}

/* Whether the character has a meaning in Markdown; an underscore within a word has none. */
static bool is_mark(const char *at, const char *start)
{
    if (*at == '_')
        return at == start || !isalnum((unsigned char) at[-1]) || !isalnum((unsigned char) at[1]);
    return strchr("|*<\\", *at) != NULL;
}

void grid_text(const char *text, bool markdown, FILE *to)
{
    for (const char *at = text; *at; at++) {
        if (markdown && is_mark(at, text))
            fputc('\\', to);
        fputc(*at, to);
    }
}

static int width_of(const char *text, bool markdown)
{
    int width = 0;

    for (const char *at = text; *at; at++)
        width += 1 + (markdown && is_mark(at, text));
    return width;
}

static int column_width(const struct grid *g, int column, bool markdown)
{
    int width = 0;

    for (int i = column; i < g->n; i += g->columns) {
        int n = width_of(g->cell[i], markdown);
        width = n > width ? n : width;
    }
    return width;
}

static void print_row(const struct grid *g, int row, bool markdown, FILE *to)
{
    fputs(markdown ? "|" : "   ", to);
    for (int c = 0; c < g->columns; c++) {
        const char *text = g->cell[row * g->columns + c];
        bool last = c == g->columns - 1;
        int pad = column_width(g, c, markdown) - width_of(text, markdown);
        fputc(' ', to);
        grid_text(text, markdown, to);
        if (markdown || !last)
            fprintf(to, "%*s%s", pad, "", markdown ? " |" : " ");
    }
    fputc('\n', to);
}

void grid_print(const struct grid *g, bool markdown, FILE *to)
{
    for (int row = 0; row < g->n / g->columns; row++) {
        print_row(g, row, markdown, to);
        if (row > 0 || !markdown)
            continue;
        fputc('|', to); /* the rule under the heading */
        for (int c = 0; c < g->columns; c++) {
            for (int i = column_width(g, c, true) + 2; i > 0; i--)
                fputc('-', to);
            fputc('|', to);
        }
        fputc('\n', to);
    }
    fputc('\n', to);
}
