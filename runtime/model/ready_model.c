#include "runtime/model/ready_model.h"

#include "runtime/model/known_sizes.h"
#include "runtime/model/model_builder.h"
#include "runtime/model/model_sort.h"

/* Sorts a graph's operations; *ret_order: where they were. */
static int sort_graph(struct graph *g, struct arena *a, const uint32_t **ret_order, struct why *w)
{
    uint32_t *order = arena_alloc(a, g->n_operations, sizeof *order);
    struct operation *to = arena_alloc(a, g->n_operations, sizeof *to);

    if (!order || !to)
        return why_no_memory(w);
    TRY(model_sort(g, a, order, w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        to[i] = g->operation[order[i]];
    g->operation = to;
    *ret_order = order;
    return 0;
}

int ready_model_make(const struct model *from, struct arena *a, ANeuralNetworksModel *ret_model,
                     struct why *w)
{
    ANeuralNetworksModel m = { .state = MODEL_VALID, .model = *from };
    bool removed;

    TRY(model_prepare(from, NULL, w));
    m.model.graph = arena_copy(a, from->graph, from->n_graphs * sizeof *from->graph);
    if (!m.model.graph)
        return why_no_memory(w);
    for (uint32_t i = from->n_graphs; i-- > 0;) {
        TRY(sort_graph(&m.model.graph[i], a, &m.order, w));
        if (graph_remove_defaults(&m.model.graph[i], a, &removed) != ANEURALNETWORKS_NO_ERROR)
            return why_no_memory(w);
    }
    int level = model_prepare(&m.model, NULL, w);
    TRY(level);
    m.level = model_is_runtime_only(&m.model) ? RUNTIME_ONLY : (enum level) level;
    *ret_model = m;
    return 0;
}
