#include "golden/model/model.h"

#include <stdlib.h>
#include <string.h>

const char *const lifetime_name[LIFE_COUNT] = {
    [LIFE_TEMPORARY] = "TEMPORARY_VARIABLE",
    [LIFE_INPUT] = "SUBGRAPH_INPUT",
    [LIFE_OUTPUT] = "SUBGRAPH_OUTPUT",
    [LIFE_CONSTANT_COPY] = "CONSTANT_COPY",
    [LIFE_CONSTANT_REFERENCE] = "CONSTANT_REFERENCE",
    [LIFE_NO_VALUE] = "NO_VALUE",
    [LIFE_SUBGRAPH] = "SUBGRAPH",
};

bool operand_constant(const struct operand *o)
{
    return o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE;
}

bool operand_omitted(const struct operand *o)
{
    return o->life == LIFE_NO_VALUE || (operand_constant(o) && o->length == 0);
}

void model_count_consumers(struct model *m)
{
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        struct graph *graph = &m->graph[g];
        for (uint32_t i = 0; i < graph->n_operands; i++)
            graph->operand[i].consumers = 0;
        for (uint32_t i = 0; i < graph->n_operations; i++)
            for (uint32_t k = 0; k < graph->operation[i].n_in; k++)
                if (graph->operation[i].in[k] < graph->n_operands)
                    graph->operand[graph->operation[i].in[k]].consumers++;
    }
}

int64_t *list_positions(const uint32_t *list, uint32_t n, uint32_t n_operands)
{
    int64_t *position = malloc(((size_t) n_operands + 1) * sizeof *position);
    for (uint32_t i = 0; position && i < n_operands; i++)
        position[i] = -1;
    for (uint32_t k = n; position && k-- > 0;)
        if (list[k] < n_operands)
            position[list[k]] = k;
    return position;
}

/* Topological sort by depth-first search: the writers of an operation's inputs come before it. */
int graph_order(const struct graph *g, struct arena *scratch, uint32_t *ret_order, struct why *w)
{
    enum { UNSEEN, OPEN, DONE };
    struct visit {
        uint32_t operation, next_input;
    } *stack = arena_alloc(scratch, g->n_operations + 1, sizeof *stack);
    unsigned char *state = arena_alloc(scratch, g->n_operations + 1, 1);
    /* per operand: 1 + index of the operation that writes it; 0: none */
    uint32_t *writer = arena_alloc(scratch, g->n_operands + 1, sizeof *writer);
    uint32_t n = 0, depth = 0;

    if (!writer || !state || !stack)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            writer[g->operation[i].out[k]] = i + 1;
    for (uint32_t first = 0; first < g->n_operations; first++) {
        if (state[first] != UNSEEN)
            continue;
        state[first] = OPEN;
        stack[depth++] = (struct visit){ first, 0 };
        while (depth > 0) {
            struct visit *v = &stack[depth - 1];
            const struct operation *o = &g->operation[v->operation];
            if (v->next_input == o->n_in) {
                state[v->operation] = DONE;
                ret_order[n++] = v->operation;
                depth--;
                continue;
            }
            uint32_t by = writer[o->in[v->next_input++]];
            if (by == 0 || state[by - 1] == DONE)
                continue;
            REQUIRE(w, state[by - 1] == UNSEEN, "operation %u depends on itself in a cycle",
                    by - 1);
            state[by - 1] = OPEN;
            stack[depth++] = (struct visit){ by - 1, 0 };
        }
    }
    return 0;
}

static int copy_bytes(struct arena *a, const void *from, size_t length, const void **ret_copy)
{
    *ret_copy = from ? arena_copy(a, from, length) : NULL;
    return !from || *ret_copy ? 0 : -1;
}

static int copy_pools(struct model *m, struct arena *a)
{
    struct pool *to = arena_copy(a, m->pool, m->n_pools * sizeof *m->pool);

    if (!to)
        return -1;
    for (uint32_t i = 0; i < m->n_pools; i++)
        TRY(copy_bytes(a, m->pool[i].data, m->pool[i].length, &to[i].data));
    m->pool = to;
    return 0;
}

static int copy_operand(const struct model *source, const struct model *copy,
                        const struct operand *from, struct arena *a, struct operand *to)
{
    const void *data = from->tensor.data, *scales, *extension, *name;

    *to = *from;
    /* a constant's data: in the copied pool, or copied separately */
    if (from->life == LIFE_CONSTANT_REFERENCE && data && from->pool < source->n_pools) {
        const char *base = source->pool[from->pool].data;
        data = (const char *) copy->pool[from->pool].data + ((const char *) data - base);
    } else {
        TRY(copy_bytes(a, data, from->length, &data));
    }
    TRY(copy_bytes(a, from->tensor.channel_scale, sizeof(float) * from->tensor.n_channels,
                   &scales));
    TRY(copy_bytes(a, from->tensor.extension, from->tensor.extension_length, &extension));
    TRY(copy_bytes(a, from->name, from->name ? strlen(from->name) + 1 : 0, &name));
    to->tensor.data = (void *) data;
    to->tensor.channel_scale = scales;
    to->tensor.extension = extension;
    to->name = name;
    return 0;
}

static int copy_indexes(struct arena *a, uint32_t **list, uint32_t n)
{
    uint32_t *to = arena_copy(a, *list, n * sizeof **list);

    *list = to;
    return to ? 0 : -1;
}

static int copy_graph(const struct model *source, const struct model *copy, struct arena *a,
                      struct graph *g)
{
    const struct operand *from = g->operand;

    g->operand = arena_alloc(a, g->n_operands, sizeof *g->operand);
    if (!g->operand)
        return -1;
    for (uint32_t i = 0; i < g->n_operands; i++)
        TRY(copy_operand(source, copy, &from[i], a, &g->operand[i]));
    g->operation = arena_copy(a, g->operation, g->n_operations * sizeof *g->operation);
    if (!g->operation)
        return -1;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        TRY(copy_indexes(a, &g->operation[i].in, g->operation[i].n_in));
        TRY(copy_indexes(a, &g->operation[i].out, g->operation[i].n_out));
    }
    TRY(copy_indexes(a, &g->input, g->n_inputs));
    return copy_indexes(a, &g->output, g->n_outputs);
}

int model_copy(const struct model *from, struct arena *a, struct model *ret_model)
{
    struct model m = *from;

    m.graph = arena_copy(a, from->graph, from->n_graphs * sizeof *from->graph);
    m.extension = arena_copy(a, from->extension, from->n_extensions * sizeof *from->extension);
    if (!m.graph || !m.extension || copy_pools(&m, a) < 0)
        return -1;
    for (uint32_t i = 0; i < m.n_graphs; i++)
        TRY(copy_graph(from, &m, a, &m.graph[i]));
    for (uint32_t i = 0; i < m.n_extensions; i++)
        if (!(m.extension[i].name = arena_strdup(a, from->extension[i].name)))
            return -1;
    *ret_model = m;
    return 0;
}
