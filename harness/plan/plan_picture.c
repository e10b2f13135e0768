/* A plan as a graph: each step is a cluster in the colour of its device, operations are nodes,
 * operands that one reads and another writes are edges. */
#include <inttypes.h>

#include "golden/base/text_escape.h"
#include "golden/model/extension.h"
#include "harness/plan/shown_plan.h"

/* Of devices in their order, again from the first one after the last; the reference is grey. */
static const struct {
    const char *line, *fill;
} colors[] = {
    { "#2563eb", "#dbeafe" }, { "#15803d", "#dcfce7" }, { "#b45309", "#fef3c7" },
    { "#9333ea", "#f3e8ff" }, { "#be123c", "#ffe4e6" }, { "#0f766e", "#ccfbf1" },
};
#define GREY_LINE "#64748b"
#define GREY_FILL "#f1f5f9"

static void put_cluster_color(const struct shown_plan *p, const ANeuralNetworksDevice *d, FILE *to)
{
    uint32_t i = 0;
    while (i < p->devices->n && p->devices->device[i] != d)
        i++;
    i %= COUNT(colors);
    fprintf(to, "color=\"%s\"; fillcolor=\"%s\";", d->is_reference ? GREY_LINE : colors[i].line,
            d->is_reference ? GREY_FILL : colors[i].fill);
}

static void put_node(const struct shown_plan *p, uint32_t source, uint32_t operation,
                     const char *look, FILE *to)
{
    const uint32_t graph = p->partition.source[source].graph;
    char name[EXTENSION_TEXT];
    fprintf(to, "    s%" PRIu32 "_n%" PRIu32 " [%s, label=<", source, operation, look);
    text_put(to, TEXT_XML, shown_operation_name(p, graph, operation, name), 0);
    fprintf(to, ":%" PRIu32 ">];\n", operation);
}

static void put_execution(const struct shown_plan *p, uint32_t at, FILE *to)
{
    const struct plan_step *s = &p->partition.step[at];

    fprintf(to, "subgraph cluster_%" PRIu32 " {\n    label=<step %" PRIu32 ": ", at, at);
    text_put(to, TEXT_XML, s->device->name, 0);
    fputs(">; style=\"rounded,filled\"; ", to);
    put_cluster_color(p, s->device, to);
    putc('\n', to);
    for (uint32_t i = 0; i < s->n_operations; i++)
        put_node(p, s->source, s->operation[i],
                 "shape=box, style=filled, color=\"#1e293b\", fillcolor=\"#1e293b\", "
                 "fontcolor=\"#f8fafc\"",
                 to);
    fputs("}\n", to);
}

static void put_steps(const struct shown_plan *p, uint32_t from, uint32_t end, FILE *to);

/* The first or last operation of a step. */
static uint32_t end_operation(const struct plan_step *s, bool last)
{
    if (s->kind != STEP_EXECUTE)
        return s->construct;
    return s->operation[last ? s->n_operations - 1 : 0];
}

/* A part of a construct, its steps from `from` on, in a box to which the construct points. */
static void put_part(const struct shown_plan *p, const struct plan_step *s, const char *label,
                     uint32_t from, uint32_t end, FILE *to)
{
    const struct plan_step *first = &p->partition.step[from];

    fprintf(to,
            "subgraph cluster_part%" PRIu32 " {\n    label=\"%s\"; style=\"rounded,dashed\"; "
            "color=\"" GREY_LINE "\";\n",
            from, label);
    put_steps(p, from, end, to);
    fprintf(to,
            "}\n    s%" PRIu32 "_n%" PRIu32 " -> s%" PRIu32 "_n%" PRIu32
            " [lhead=cluster_part%" PRIu32 ", style=dashed];\n",
            s->source, s->construct, first->source, end_operation(first, false), from);
}

/* The steps of one source, from top to bottom. */
static void put_steps(const struct shown_plan *p, uint32_t from, uint32_t end, FILE *to)
{
    const struct plan_step *step = p->partition.step, *before = NULL;

    for (uint32_t i = from; i < end;) {
        const struct plan_step *s = &step[i];
        bool is_loop = s->kind == STEP_WHILE;
        if (s->kind == STEP_EXECUTE) {
            put_execution(p, i, to);
        } else {
            put_node(p, s->source, s->construct,
                     "shape=diamond, style=filled, color=\"" GREY_LINE "\", fillcolor=\"#ffffff\"",
                     to);
            put_part(p, s, is_loop ? "condition" : "then", s->first_part, s->second_part - 1, to);
            put_part(p, s, is_loop ? "body" : "else", s->second_part, s->to - is_loop, to);
        }
        if (before)
            fprintf(to,
                    "    s%" PRIu32 "_n%" PRIu32 " -> s%" PRIu32 "_n%" PRIu32 " [style=invis];\n",
                    s->source, end_operation(before, true), s->source, end_operation(s, false));
        before = s;
        i = s->kind == STEP_EXECUTE ? i + 1 : s->to;
    }
}

/* The inputs and outputs of the main graph, and edges between an operand's writer and readers. */
struct edge_ends {
    const struct shown_plan *p;
    uint32_t source;
    const struct graph *g;
    uint32_t *writer; /* by operand: 1 + operation; 0: none */
    FILE *to;
};

static void put_terminal(const struct edge_ends *e, uint32_t operand, const char *what,
                         uint32_t position)
{
    fprintf(e->to,
            "    s%" PRIu32 "_d%" PRIu32 " [shape=box, style=\"rounded\", color=\"" GREY_LINE
            "\", label=\"%s %" PRIu32 "\"];\n",
            e->source, operand, what, position);
}

static void put_reading(const struct edge_ends *e, uint32_t operation)
{
    const struct operation *o = &e->g->operation[operation];
    for (uint32_t k = 0; k < o->n_in; k++) {
        enum lifetime life = e->g->operand[o->in[k]].life;
        bool is_repeated = false;
        for (uint32_t i = 0; i < k; i++)
            is_repeated |= o->in[i] == o->in[k];
        if (is_repeated)
            continue;
        if (e->writer[o->in[k]])
            fprintf(e->to, "    s%" PRIu32 "_n%" PRIu32, e->source, e->writer[o->in[k]] - 1);
        else if (life == LIFE_INPUT && e->source == 0)
            fprintf(e->to, "    s0_d%" PRIu32, o->in[k]);
        else
            continue;
        fprintf(e->to, " -> s%" PRIu32 "_n%" PRIu32 ";\n", e->source, operation);
    }
}

static void put_edges(const struct edge_ends *e)
{
    for (uint32_t i = 0; i < e->g->n_operations; i++)
        for (uint32_t k = 0; k < e->g->operation[i].n_out; k++)
            e->writer[e->g->operation[i].out[k]] = i + 1;
    for (uint32_t i = 0; i < e->g->n_operations; i++)
        put_reading(e, i);
    for (uint32_t i = 0; i < e->g->n_inputs && e->source == 0; i++)
        put_terminal(e, e->g->input[i], "input", i);
    for (uint32_t i = 0; i < e->g->n_outputs && e->source == 0; i++) {
        put_terminal(e, e->g->output[i], "output", i);
        fprintf(e->to, "    s0_n%" PRIu32 " -> s0_d%" PRIu32 ";\n", e->writer[e->g->output[i]] - 1,
                e->g->output[i]);
    }
}

int shown_plan_print_dot(const struct shown_plan *p, struct arena *scratch, FILE *to, struct why *w)
{
    const struct partition *t = &p->partition;

    fputs("digraph plan {\n"
          "    graph [fontname=\"Courier\", fontsize=11, labelloc=t, compound=true, nodesep=0.2, "
          "ranksep=0.35, bgcolor=\"transparent\", label=<",
          to);
    text_put(to, TEXT_XML, p->name, 0);
    fputs(">];\n"
          "    node [fontname=\"Courier\", fontsize=9, margin=\"0.12,0.06\", height=0.3];\n"
          "    edge [fontname=\"Courier\", fontsize=8, color=\"#64748b\", fontcolor=\"#64748b\", "
          "arrowsize=0.6];\n",
          to);
    put_steps(p, 0, t->n_steps, to);
    for (uint32_t i = 0; i < t->n_sources; i++) {
        const struct graph *g = &p->model.model.graph[t->source[i].graph];
        struct edge_ends e = { p, i, g, arena_alloc(scratch, g->n_operands, sizeof *e.writer), to };
        if (!e.writer)
            return why_no_memory(w);
        put_edges(&e);
    }
    fputs("}\n", to);
    return 0;
}
