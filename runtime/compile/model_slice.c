#include "runtime/compile/model_slice.h"

#include "golden/model/compliance.h"
#include "golden/model/extension.h"
#include "runtime/model/known_sizes.h"

/* ---- levels */

struct level_finder {
    const struct model *m;
    int **operand, **operation; /* [graph][...] */
    int *graph;                 /* 0: not known yet */
};

static int note_level(const struct level_requirement *n, void *user, struct why *w)
{
    struct level_finder *f = user;
    (void) w;
    (n->call ? f->operation : f->operand)[n->graph][n->index] = n->level;
    return 0;
}

static void raise(int *level, int to)
{
    if (to > *level)
        *level = to;
}

/* Subgraphs are nested at most as deep as model_api_levels() permits. */
static void find_graph_level(struct level_finder *f, uint32_t index)
{
    const struct graph *g = &f->m->graph[index];
    if (f->graph[index])
        return;
    f->graph[index] = L1;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        int *level = &f->operation[index][i];
        for (uint32_t k = 0; k < o->n_in; k++) {
            const struct operand *in = &g->operand[o->in[k]];
            raise(level, f->operand[index][o->in[k]]);
            if (in->life == LIFE_SUBGRAPH) {
                find_graph_level(f, in->subgraph);
                raise(level, f->graph[in->subgraph]);
            }
        }
        for (uint32_t k = 0; k < o->n_out; k++)
            raise(level, f->operand[index][o->out[k]]);
        if (extension_prefix_of(o->code) > EXTENSION_oem)
            raise(level, L3);
        if (operation_is_runtime_only(f->m, g, o))
            raise(level, RUNTIME_ONLY);
        raise(&f->graph[index], *level);
    }
    for (uint32_t i = 0; i < g->n_inputs; i++)
        raise(&f->graph[index], f->operand[index][g->input[i]]);
}

int model_level_list_make(const ANeuralNetworksModel *m, struct arena *a,
                          struct model_level_list *ret_list, struct why *w)
{
    uint32_t n = m->model.n_graphs;
    struct level_finder f = { .m = &m->model,
                              .operand = arena_alloc(a, n, sizeof *f.operand),
                              .operation = arena_alloc(a, n, sizeof *f.operation),
                              .graph = arena_alloc(a, n, sizeof *f.graph) };

    if (!f.operand || !f.operation || !f.graph)
        return why_no_memory(w);
    for (uint32_t g = 0; g < n; g++) {
        f.operand[g] = arena_alloc(a, m->model.graph[g].n_operands, sizeof **f.operand);
        f.operation[g] = arena_alloc(a, m->model.graph[g].n_operations, sizeof **f.operation);
        if (!f.operand[g] || !f.operation[g])
            return why_no_memory(w);
    }
    TRY(model_api_levels(&m->model, note_level, &f, w));
    for (uint32_t g = 0; g < n; g++)
        find_graph_level(&f, g);
    *ret_list = (struct model_level_list){ .operation = (const int *const *) f.operation,
                                           .graph = f.graph };
    return 0;
}

/* ---- slices */

/* By operand of the graph. */
enum use {
    READ_BY_KEPT = 1,
    READ_BY_REMOVED = 2,
    WRITTEN_BY_KEPT = 4,
    WRITTEN_BY_REMOVED = 8,
    IS_LISTED = 16 /* as an input of the slice */
};

static void note_uses(const struct graph *g, const int *needed, int level, unsigned char *use)
{
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        bool is_kept = needed[i] <= level;
        for (uint32_t k = 0; k < o->n_in; k++)
            use[o->in[k]] |= is_kept ? READ_BY_KEPT : READ_BY_REMOVED;
        for (uint32_t k = 0; k < o->n_out; k++)
            use[o->out[k]] |= is_kept ? WRITTEN_BY_KEPT : WRITTEN_BY_REMOVED;
    }
}

/* Lists the operations that are left, their inputs in the order of their first use, and their
 * outputs in the order of definition.  False: one refers to a subgraph. */
static bool list_kept(const struct graph *g, const int *needed, int level, unsigned char *use,
                      struct part_request *r, uint32_t *operation, uint32_t *input,
                      uint32_t *output)
{
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        if (needed[i] > level)
            continue;
        if (operation_has_subgraphs(o))
            return false;
        operation[r->n_operations++] = i;
        for (uint32_t k = 0; k < o->n_in; k++) {
            unsigned char *u = &use[o->in[k]];
            bool is_input = g->operand[o->in[k]].life == LIFE_INPUT || (*u & WRITTEN_BY_REMOVED);
            if (is_input && !(*u & IS_LISTED)) {
                input[r->n_inputs++] = o->in[k];
                *u |= IS_LISTED;
            }
        }
        for (uint32_t k = 0; k < o->n_out; k++) {
            unsigned readers = use[o->out[k]] & (READ_BY_KEPT | READ_BY_REMOVED);
            if (g->operand[o->out[k]].life == LIFE_OUTPUT || readers == READ_BY_REMOVED)
                output[r->n_outputs++] = o->out[k];
        }
    }
    return true;
}

int slice_make(const ANeuralNetworksModel *m, const struct model_level_list *levels, uint32_t graph,
               int level, struct arena *a, struct slice *ret_slice, struct why *w)
{
    const struct graph *g = &m->model.graph[graph];
    unsigned char *use = arena_alloc(a, g->n_operands, sizeof *use);
    uint32_t *operation = arena_alloc(a, g->n_operations, sizeof *operation);
    uint32_t *input = arena_alloc(a, g->n_operands, sizeof *input);
    uint32_t *output = arena_alloc(a, g->n_operands, sizeof *output);
    struct part_request r = {
        .graph = graph, .operation = operation, .input = input, .output = output
    };
    struct slice s = { .kind = SLICE_MADE, .operation = operation };

    if (!use || !operation || !input || !output)
        return why_no_memory(w);
    note_uses(g, levels->operation[graph], level, use);
    if (!list_kept(g, levels->operation[graph], level, use, &r, operation, input, output))
        s.kind = SLICE_SUBGRAPH;
    else if (!r.n_operations || !r.n_outputs)
        s.kind = SLICE_NOTHING;
    s.n_operations = r.n_operations;
    if (s.kind == SLICE_MADE)
        TRY(model_part_make(m, &r, a, &s.part, w));
    *ret_slice = s;
    return 0;
}
