/* Finishing a model: from the lists of the builder to a valid golden model. */
#include <stdlib.h>

#include "reports/reports.h"
#include "runtime/base/failure.h"
#include "runtime/model/known_sizes.h"
#include "runtime/model/model_builder.h"
#include "runtime/model/model_sort.h"

#define LOG_TAG "ModelBuilder"

/* Puts the operations of the main graph into the order of model_sort(). */
static int sort(ANeuralNetworksModel *m)
{
    struct arena *a = m->builder->arena, *scratch = arena_new(0);
    struct graph *g = &m->model.graph[0];
    uint32_t *order = arena_alloc(a, g->n_operations, sizeof *order);
    struct operation *sorted = arena_alloc(a, g->n_operations, sizeof *sorted);
    struct why w;

    if (!scratch || !order || !sorted) {
        arena_free(scratch);
        return FAIL(OUT_OF_MEMORY, "out of memory for the order of %u operations", g->n_operations);
    }
    int sorts = model_sort(g, scratch, order, &w);
    arena_free(scratch);
    if (sorts < 0)
        return FAIL_WHY(&w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        sorted[i] = g->operation[order[i]];
    g->operation = sorted;
    m->order = order;
    return ANEURALNETWORKS_NO_ERROR;
}

static int validate(ANeuralNetworksModel *m)
{
    struct why w;
    int level = model_check_api(&m->model, &w);

    if (level < 0)
        return FAIL_WHY(&w);
    m->level = (enum level) level;
    return ANEURALNETWORKS_NO_ERROR;
}

/* The hash is that of the model before arguments are left off. */
static int note_arities(ANeuralNetworksModel *m)
{
    const struct graph *g = &m->model.graph[0];
    uint32_t *n_in = arena_alloc_raw(m->builder->arena, g->n_operations, sizeof *n_in);

    if (!n_in)
        return FAIL(OUT_OF_MEMORY, "out of memory for %u operations", g->n_operations);
    for (uint32_t i = 0; i < g->n_operations; i++)
        n_in[i] = g->operation[i].n_in;
    m->builder->n_in = n_in;
    return ANEURALNETWORKS_NO_ERROR;
}

static int finish(ANeuralNetworksModel *m)
{
    bool removed;

    PASS(model_gather_pools(m));
    PASS(model_gather_parts(m));
    PASS(sort(m));
    PASS(validate(m));
    PASS(note_arities(m));
    PASS(model_remove_defaults(m, &removed));
    if (removed)
        PASS(validate(m)); /* it may need a lower level now */
    if (model_is_runtime_only(&m->model))
        m->level = (enum level) RUNTIME_ONLY;
    model_count_consumers(&m->model);
    return ANEURALNETWORKS_NO_ERROR;
}

int model_finish(ANeuralNetworksModel *m)
{
    REQUIRE_GIVEN(m);
    PASS(model_check_building(m));
    int result = finish(m);
    struct why w;

    if (result == ANEURALNETWORKS_NO_ERROR && VLOG_IS_ON(MODEL) &&
        graph_dump_log(&m->model, "ANeuralNetworksModel_finish", &w) < 0)
        log_write(LOG_WARNING, LOG_TAG, "%s", w.text);
    m->state = result == ANEURALNETWORKS_NO_ERROR ? MODEL_VALID : MODEL_INVALID;
    return result;
}
