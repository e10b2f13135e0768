/* Which operations of a model a version of the HAL is too old for. */
#include "sim/device.h"
#include "sim/runtime.h"

/* Highest level of what a graph's operations need; ret_level: of each, may be NULL. */
static int graph_level(const struct model *m, uint32_t graph, struct arena *a, int *ret_level,
                       struct why *w);

static int operation_level(const struct values *v, uint32_t i, struct arena *a, struct why *w)
{
    const struct graph *g = &v->model->graph[v->graph];
    const struct operation *o = &g->operation[i];
    struct site s;
    int level = site_bind(v, i, false, a, &s, w);

    for (uint32_t k = 0; level >= 0 && k < o->n_in; k++) {
        const struct operand *in = &g->operand[o->in[k]];
        if (in->life != LIFE_SUBGRAPH)
            continue;
        int inner = graph_level(v->model, in->subgraph, a, NULL, w);
        level = inner < 0 ? inner : inner > level ? inner : level;
    }
    return level;
}

static int graph_level(const struct model *m, uint32_t graph, struct arena *a, int *ret_level,
                       struct why *w)
{
    const struct graph *g = &m->graph[graph];
    struct values v = { m, graph, arena_alloc(a, g->n_operands, sizeof(struct tensor)) };
    int highest = 1;

    if (!v.tensor)
        return why_fail(w, WHY_MEMORY, "out of memory");
    for (uint32_t i = 0; i < g->n_operands; i++)
        v.tensor[i] = g->operand[i].tensor;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        int level = operation_level(&v, i, a, w);
        TRY(level);
        highest = level > highest ? level : highest;
        if (ret_level)
            ret_level[i] = level;
    }
    return highest;
}

int levels_allow(const struct model *m, int most, struct arena *a, bool *supported, struct why *w)
{
    uint32_t n = m->graph[0].n_operations;
    int *level = arena_alloc(a, n, sizeof(*level));

    if (!level)
        return why_fail(w, WHY_MEMORY, "out of memory");
    int highest = graph_level(m, 0, a, level, w);
    for (uint32_t i = 0; i < n; i++)
        supported[i] = highest >= 0 && level[i] <= most;
    return highest < 0 && w->code == WHY_MEMORY ? -1 : 0;
}
