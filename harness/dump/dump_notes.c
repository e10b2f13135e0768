#include "harness/dump/dump_notes.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int dump_notes_begin(struct dump_notes *n, const struct example *e, struct arena *a, struct why *w)
{
    const struct model *m = &e->model;
    struct graph_notes *notes = arena_alloc(a, m->n_graphs, sizeof *notes);

    *n = (struct dump_notes){ .e = e, .arena = a, .options = { .mark_output = -1 } };
    n->operation = arena_alloc(a, m->n_graphs, sizeof *n->operation);
    n->operand = arena_alloc(a, m->n_graphs, sizeof *n->operand);
    if (!notes || !n->operation || !n->operand)
        return why_no_memory(w);
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        const struct graph *graph = &m->graph[g];
        n->operation[g] = arena_alloc(a, (size_t) graph->n_operations + 1, sizeof **n->operation);
        n->operand[g] = arena_alloc(a, (size_t) graph->n_operands + 1, sizeof **n->operand);
        if (!n->operation[g] || !n->operand[g])
            return why_no_memory(w);
        for (uint32_t i = 0; i < graph->n_operations; i++)
            n->operation[g][i].ratio = NAN;
        for (uint32_t i = 0; i < graph->n_operands; i++)
            n->operand[g][i].ratio = NAN;
        notes[g].operation = n->operation[g];
        notes[g].operand = n->operand[g];
    }
    n->options.notes = notes;
    return 0;
}

int dump_note_add(struct dump_notes *n, struct graph_note *note, const char *fmt, ...)
{
    struct buffer b = { 0 };
    va_list args;

    if (note->text)
        buffer_printf(&b, "%s\n", note->text);
    va_start(args, fmt);
    buffer_vprintf(&b, fmt, args);
    va_end(args);
    char *text = b.failed ? NULL : arena_strdup(n->arena, buffer_text(&b));
    buffer_done(&b);
    if (text)
        note->text = text;
    return text ? 0 : -1;
}
