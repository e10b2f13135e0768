/* The manual of an operation, from its record: one page, as plain text or as Markdown. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/reports.h"

/* --- tables, the only thing that the two formats do differently in many places */

enum { MAX_COLUMNS = 3 + MAX_SLOTS, MAX_CELL = 400 };

struct grid {
    int columns, rows;
    char (*cell)[MAX_CELL]; /* row-major; the first row is the heading */
    int room;
};

static void grid_done(struct grid *g)
{
    free(g->cell);
}

/* The next cell, or NULL when out of memory: the table then ends there. */
__attribute__((format(printf, 3, 4))) static void grid_put(struct grid *g, int at, const char *fmt,
                                                           ...)
{
    va_list args;
    if (at >= g->room) {
        int room = 2 * at + 64;
        void *cell = realloc(g->cell, (size_t) room * sizeof(*g->cell));
        if (!cell)
            return;
        g->cell = cell;
        g->room = room;
    }
    va_start(args, fmt);
    vsnprintf(g->cell[at], MAX_CELL, fmt, args);
    va_end(args);
    if (at / g->columns >= g->rows)
        g->rows = at / g->columns + 1;
}

static size_t grid_width(const struct grid *g, int column)
{
    size_t width = 0;
    for (int r = 0; r < g->rows; r++) {
        size_t n = strlen(g->cell[r * g->columns + column]);
        width = n > width ? n : width;
    }
    return width;
}

/* A bar inside a cell would end it in Markdown. */
static void put_cell(const char *text, int width, bool markdown, FILE *to)
{
    int used = 0;
    for (; *text; text++, used++) {
        if (markdown && *text == '|')
            fputc('\\', to);
        fputc(*text, to);
    }
    for (; used < width; used++)
        fputc(' ', to);
}

static void grid_row(const struct grid *g, int row, bool markdown, FILE *to)
{
    fputs(markdown ? "|" : "   ", to);
    for (int c = 0; c < g->columns; c++) {
        bool last = c == g->columns - 1;
        fputc(' ', to);
        put_cell(g->cell[row * g->columns + c], last && !markdown ? 0 : (int) grid_width(g, c),
                 markdown, to);
        fputs(markdown ? " |" : last ? "" : " ", to);
    }
    fputc('\n', to);
}

static void grid_print(const struct grid *g, bool markdown, FILE *to)
{
    for (int r = 0; r < g->rows; r++) {
        grid_row(g, r, markdown, to);
        if (r || !markdown)
            continue;
        fputc('|', to);
        for (int c = 0; c < g->columns; c++) {
            for (size_t i = grid_width(g, c) + 2; i; i--)
                fputc('-', to);
            fputc('|', to);
        }
        fputc('\n', to);
    }
    fputc('\n', to);
}

/* --- operands */

static void put_type(const struct role *r, char *text, size_t room)
{
    int fixed = -1 - r->slot;
    if (r->slot >= 0)
        snprintf(text, room, "T%d", r->slot);
    else
        snprintf(text, room, "%s", dtype_info[fixed].name);
}

/* Shape as the record writes it; what is not a tensor is "scalar". */
static void put_shape(const struct role *r, char *text, size_t room)
{
    if (!r->dims)
        snprintf(text, room, "scalar");
    else if (!strcmp(r->dims, "?"))
        snprintf(text, room, "any");
    else if (!strcmp(r->dims, "*"))
        snprintf(text, room, "same");
    else
        snprintf(text, room, "[%s]", r->dims);
}

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t room, const char *fmt,
                                                         ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, room - used, fmt, args);
    va_end(args);
}

static void put_notes(const struct op *op, const struct role *r, char *text, size_t room)
{
    append(text, room, "%s", r->doc ? r->doc : "");
    if (r->many)
        append(text, room, "; one or more");
    if (r->optional && !r->dims)
        append(text, room, "; optional: %g", r->otherwise);
    else if (r->optional)
        append(text, room, "; optional");
    if (r->needs & NEEDS_CONST)
        append(text, room, "; constant for many drivers");
    if (r->since > op->since)
        append(text, room, "; since level %d", (int) r->since);
}

static void role_row(const struct op *op, const struct role *r, int position, struct grid *g)
{
    char type[64], shape[64], notes[MAX_CELL] = "";
    int at = g->rows * g->columns;
    put_type(r, type, sizeof(type));
    put_shape(r, shape, sizeof(shape));
    put_notes(op, r, notes, sizeof(notes));
    grid_put(g, at, "%d%s", position, r->many ? ".." : "");
    grid_put(g, at + 1, "%s", r->name);
    grid_put(g, at + 2, "%s", type);
    grid_put(g, at + 3, "%s", shape);
    grid_put(g, at + 4, "%s", notes);
}

static void role_head(struct grid *g)
{
    static const char *const head[] = { "#", "name", "type", "shape", "meaning" };
    g->columns = COUNT(head);
    for (int i = 0; i < COUNT(head); i++)
        grid_put(g, i, "%s", head[i]);
}

static void put_title(const char *title, bool markdown, FILE *to)
{
    fprintf(to, markdown ? "**%s**\n\n" : "%s\n", title);
}

static void put_form(const struct op *op, const struct form *f, bool markdown, FILE *to)
{
    struct grid g = { 0 };
    char title[160];
    snprintf(title, sizeof(title), "Inputs%s%s", f->name && *f->name ? ", " : "",
             f->name ? f->name : "");
    if (f->since > op->since)
        append(title, sizeof(title), " (since level %d)", (int) f->since);
    put_title(title, markdown, to);
    role_head(&g);
    for (int i = 0; i < form_len(f); i++)
        role_row(op, &op->in[f->role[i]], i, &g);
    grid_print(&g, markdown, to);
    grid_done(&g);
}

static void put_outputs(const struct op *op, bool markdown, FILE *to)
{
    struct grid g = { 0 };
    put_title("Outputs", markdown, to);
    role_head(&g);
    for (int i = 0; i < op->n_out; i++)
        role_row(op, &op->out[i], i, &g);
    grid_print(&g, markdown, to);
    grid_done(&g);
}

/* --- types */

static int count_slots(const struct op *op)
{
    int slots = 0;
    for (int i = 0; i < op->n_in; i++)
        slots = op->in[i].slot >= slots ? op->in[i].slot + 1 : slots;
    for (int i = 0; i < op->n_out; i++)
        slots = op->out[i].slot >= slots ? op->out[i].slot + 1 : slots;
    return slots;
}

/* "1-4", "2, 4": 0 is a tensor of unknown rank. */
static void put_ranks(unsigned ranks, char *text, size_t room)
{
    for (int lo = 0; lo <= MAX_RANK; lo++) {
        int hi = lo;
        if (!(ranks >> lo & 1))
            continue;
        while (hi < MAX_RANK && ranks >> (hi + 1) & 1)
            hi++;
        append(text, room, *text ? ", %d" : "%d", lo);
        if (hi > lo)
            append(text, room, "-%d", hi);
        lo = hi;
    }
}

static void put_typings(const struct op *op, bool markdown, FILE *to)
{
    struct grid g = { .columns = 2 + count_slots(op) };
    grid_put(&g, 0, "level");
    grid_put(&g, 1, "ranks");
    for (int s = 2; s < g.columns; s++)
        grid_put(&g, s, "T%d", s - 2);
    for (int i = 0; i < op->n_typings; i++) {
        const struct typing *t = &op->typings[i];
        char ranks[64] = "";
        int at = g.rows * g.columns;
        put_ranks(t->ranks, ranks, sizeof(ranks));
        grid_put(&g, at, "%d", (int) t->since);
        grid_put(&g, at + 1, "%s", ranks);
        for (int s = 2; s < g.columns; s++)
            grid_put(&g, at + s, "%s", dtype_info[t->slot[s - 2]].name);
    }
    put_title("Types, with the feature level that introduced them", markdown, to);
    grid_print(&g, markdown, to);
    grid_done(&g);
}

/* --- rules */

static void put_bullet(bool markdown, FILE *to)
{
    fputs(markdown ? "- " : "    ", to);
}

static void put_quantisation(const struct op *op, const struct role *r, bool markdown, FILE *to)
{
    if (r->q == Q_FREE)
        return;
    put_bullet(markdown, to);
    switch (r->q) {
    case Q_SAME: fprintf(to, "%s: scale and zero point of the first input\n", r->name); break;
    case Q_FIXED:
        fprintf(to, "%s: scale 1/%g, zero point %" PRId32 " above the lowest value\n", r->name,
                1 / r->qscale, r->qzero);
        break;
    case Q_PRODUCT:
        fprintf(
            to,
            "%s: scale of input times scale of filter (0 for filters with a scale per channel), "
            "zero point 0\n",
            r->name);
        break;
    case Q_OVER:
        fprintf(to,
                "%s: before level 3 a scale larger than the product of the first two inputs' "
                "scales\n",
                r->name);
        break;
    case Q_LIKE:
        fprintf(to, "%s: scale and zero point of %s\n", r->name, op->in[r->qlike].name);
        break;
    case Q_POWER:
        fprintf(to, "%s: scale a power of two from 1/%g to 1/%g, zero point 0\n", r->name,
                64 / r->qscale, 1 / r->qscale);
        break;
    case Q_FREE: break;
    }
}

static void put_rules(const struct op *op, bool markdown, FILE *to)
{
    bool any = op->layout > 0;
    for (int i = 0; i < op->n_in; i++)
        any = any || op->in[i].q != Q_FREE;
    for (int i = 0; i < op->n_out; i++)
        any = any || op->out[i].q != Q_FREE;
    if (!any)
        return;
    put_title("Rules", markdown, to);
    for (int i = 0; i < op->n_in; i++)
        put_quantisation(op, &op->in[i], markdown, to);
    for (int i = 0; i < op->n_out; i++)
        put_quantisation(op, &op->out[i], markdown, to);
    if (op->layout > 0) {
        put_bullet(markdown, to);
        fprintf(to, "%s selects NCHW for the images\n", op->in[op->layout - 1].name);
    }
    fputc('\n', to);
}

static void put_error(const struct op *op, bool markdown, FILE *to)
{
    static const char *const kind[] = {
        [ERROR_EXACT] = "exact: no error of its own",
        [ERROR_ELEMENT] = "each element is rounded a few times at most",
        [ERROR_DOT] = "sums of products: grows with the root of their number",
        [ERROR_DISCRETE] = "discontinuous: either side of a tie within the bound is right",
    };
    const struct error_model *e = &op->error;
    put_title("Error allowed by the judge `bound`", markdown, to);
    put_bullet(markdown, to);
    fputs(kind[e->kind], to);
    if (e->ulps > 0)
        fprintf(to, "; %g ulp of a float result", e->ulps);
    if (e->steps > 0)
        fprintf(to, "; %g steps of a quantised result beside its rounding", e->steps);
    fputc('\n', to);
    if (e->text && *e->text) {
        put_bullet(markdown, to);
        fprintf(to, "%s\n", e->text);
    }
    fputc('\n', to);
}

static void put_manual(const struct op *op, bool markdown, FILE *to)
{
    fprintf(to,
            markdown ? "## %s\n\nOperation %" PRId32 ", since feature level %d.\n\n"
                     : "%s (%" PRId32 "), since feature level %d\n\n",
            op->name, op->code, (int) op->since);
    fprintf(to, markdown ? "%s\n\n```\n" : "    %s\n\n", op->summary);
    /* A formula may have several lines. */
    for (const char *line = op->formula; line && *line;) {
        int n = (int) strcspn(line, "\n");
        fprintf(to, "%s%.*s\n", markdown ? "" : "        ", n, line);
        line += n + (line[n] == '\n');
    }
    fputs(markdown ? "```\n\n" : "\n", to);
    for (int i = 0; i < op->n_forms; i++)
        put_form(op, &op->forms[i], markdown, to);
    put_outputs(op, markdown, to);
    if (count_slots(op))
        put_typings(op, markdown, to);
    put_rules(op, markdown, to);
    put_error(op, markdown, to);
}

void op_manual_text(const struct op *op, FILE *to)
{
    put_manual(op, false, to);
}

void op_manual_markdown(const struct op *op, FILE *to)
{
    put_manual(op, true, to);
}
