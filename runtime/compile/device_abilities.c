#include "runtime/compile/device_abilities.h"

#include "golden/base/logging.h"
#include "golden/model/extension.h"
#include "runtime/compile/operation_text.h"
#include "runtime/compile/partition.h"
#include "runtime/memory/runtime_memory.h"
#include "runtime/model/known_sizes.h"
#include "sim/hal/convert.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "ExecutionPlan"

const char *const ability_text[ABILITY_COUNT] = {
    [ABILITY_CAN] = "",
    [ABILITY_UNSUPPORTED] = "unsupported",
    [ABILITY_LEVEL] = "newer than the driver",
    [ABILITY_NOT_ASKED] = "not asked: no output is left",
    [ABILITY_SLICE] = "not asked: control flow",
    [ABILITY_NO_ANSWER] = "no valid answer",
    [ABILITY_REFERENCE_ONLY] = "unknown sizes",
    [ABILITY_VENDOR] = "vendor's own",
};

static bool is_vendors(const struct operand *o)
{
    return o->tensor.dtype >= DT_COUNT;
}

bool operation_is_vendors(const struct graph *g, const struct operation *o)
{
    if (extension_prefix_of(o->code) || o->code == OEM_CODE)
        return true;
    for (uint32_t k = 0; k < o->n_in; k++)
        if (is_vendors(&g->operand[o->in[k]]))
            return true;
    for (uint32_t k = 0; k < o->n_out; k++)
        if (is_vendors(&g->operand[o->out[k]]))
            return true;
    return false;
}

/* ---- the reference */

/* Whether a graph, or one below it, has such an operation; seen[] graphs have none. */
static bool graph_is_vendors(const struct model *m, uint32_t graph, bool *seen)
{
    const struct graph *g = &m->graph[graph];
    if (seen[graph])
        return false;
    seen[graph] = true;
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (operation_is_vendors(g, &g->operation[i]))
            return true;
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operand[i].life == LIFE_SUBGRAPH &&
            graph_is_vendors(m, g->operand[i].subgraph, seen))
            return true;
    return false;
}

/* IF and WHILE whose sizes are known are interpreted, their subgraphs partitioned by themselves.
 * The others run whole, so the reference must be able to do their subgraphs. */
static int find_of_reference(const struct model *m, uint32_t graph, struct arena *scratch,
                             enum ability *to, struct why *w)
{
    const struct graph *g = &m->graph[graph];
    bool *seen = arena_alloc(scratch, m->n_graphs, sizeof *seen);

    if (!seen)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        bool is_vendors = operation_is_vendors(g, o);
        for (uint32_t k = 0; k < o->n_in && operation_is_runtime_only(m, g, o); k++)
            if (g->operand[o->in[k]].life == LIFE_SUBGRAPH)
                is_vendors |= graph_is_vendors(m, g->operand[o->in[k]].subgraph, seen);
        to[i] = is_vendors ? ABILITY_VENDOR : ABILITY_CAN;
    }
    return 0;
}

/* ---- drivers */

/* Gives the pools the descriptors of their memories, so that a driver in another process can map
 * them.  False: one cannot be mapped. */
static bool use_memories(enum level level, const struct model_part *p, struct hal_model *hal,
                         struct hal_memory *to)
{
    for (uint32_t i = 0; p->pool && i < hal->n_pools; i++)
        if (memory_for_driver(p->pool[i], level, &to[i]) != ANEURALNETWORKS_NO_ERROR)
            return false;
    if (p->pool)
        hal->pools = to;
    return true;
}

/* Asks the driver about a part.  False, with a line in the log: it gives no valid answer.  -1: out
 * of memory. */
static int ask_driver(struct ability_finder *f, const ANeuralNetworksDevice *d,
                      const struct model_part *part, struct arena *a, bool **ret_supported,
                      bool *ret_answered, struct why *w)
{
    struct hal_model hal;
    uint32_t n = 0, n_operations = part->model.graph[0].n_operations;
    bool *supported = arena_alloc(a, n_operations, sizeof *supported);
    struct hal_memory *pools = arena_alloc(a, part->model.n_pools, sizeof *pools);

    if (!supported || !pools)
        return why_no_memory(w);
    TRY(convert_to_hal(&part->model, a, &hal, w));
    if (!use_memories(d->level, part, &hal, pools))
        return why_fail(w, WHY_SYSTEM, "the memory of a constant cannot be mapped");
    enum hal_status status =
        d->driver->get_supported_operations(d->driver, d->entry, &hal, supported, &n);
    *ret_answered = status == HAL_NONE && n == n_operations;
    *ret_supported = supported;
    if (d->is_service && status == HAL_DEVICE_UNAVAILABLE)
        f->gone = d;
    if (status != HAL_NONE)
        log_write(LOG_ERROR, LOG_TAG, "getSupportedOperations of %s failed: %s", d->name,
                  hal_status_name(status));
    else if (!*ret_answered)
        log_write(LOG_ERROR, LOG_TAG,
                  "getSupportedOperations of %s answered for %u operations, the model has %u",
                  d->name, n, n_operations);
    return 0;
}

int abilities_whole(struct ability_finder *f, uint32_t graph, const struct model_part **ret_part,
                    struct why *w)
{
    if (!f->whole)
        f->whole = arena_alloc(f->a, f->m->model.n_graphs, sizeof(struct model_part *));
    if (!f->whole)
        return why_no_memory(w);
    if (!f->whole[graph]) {
        struct model_part *part = arena_alloc(f->a, 1, sizeof *part);
        if (!part)
            return why_no_memory(w);
        TRY(model_part_whole(f->m, graph, f->a, part, w));
        f->whole[graph] = part;
    }
    *ret_part = f->whole[graph];
    return 0;
}

/* A driver of at least the model's level: it is asked about the whole graph. */
static int find_of_whole(struct ability_finder *f, uint32_t graph, const ANeuralNetworksDevice *d,
                         struct arena *scratch, enum ability *to, struct why *w)
{
    const struct model_part *part;
    bool *supported, answered;

    TRY(abilities_whole(f, graph, &part, w));
    TRY(ask_driver(f, d, part, scratch, &supported, &answered, w));
    for (uint32_t i = 0; i < part->model.graph[0].n_operations; i++)
        to[i] = !answered ? ABILITY_NO_ANSWER : supported[i] ? ABILITY_CAN : ABILITY_UNSUPPORTED;
    return 0;
}

static int find_of_slice(struct ability_finder *f, uint32_t graph, const ANeuralNetworksDevice *d,
                         struct arena *scratch, enum ability *to, struct why *w)
{
    const struct graph *g = &f->m->model.graph[graph];
    const int *needed = f->levels.operation[graph];
    struct slice s;
    bool *supported, answered;

    TRY(slice_make(f->m, &f->levels, graph, (int) d->level, scratch, &s, w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        to[i] = needed[i] == RUNTIME_ONLY    ? ABILITY_REFERENCE_ONLY
                : needed[i] > (int) d->level ? ABILITY_LEVEL
                : s.kind == SLICE_SUBGRAPH   ? ABILITY_SLICE
                                             : ABILITY_NOT_ASKED;
    if (s.kind != SLICE_MADE)
        return 0;
    s.part.model.relaxed = s.part.model.relaxed && d->level >= L2;
    TRY(ask_driver(f, d, &s.part, scratch, &supported, &answered, w));
    for (uint32_t i = 0; i < s.n_operations; i++)
        to[s.operation[i]] = !answered      ? ABILITY_NO_ANSWER
                             : supported[i] ? ABILITY_CAN
                                            : ABILITY_UNSUPPORTED;
    return 0;
}

/* The level of the graph by itself is only looked for where that of the whole model is too high. */
static int find_of_driver(struct ability_finder *f, uint32_t graph, const ANeuralNetworksDevice *d,
                          struct arena *scratch, enum ability *to, struct why *w)
{
    if ((int) f->m->level <= (int) d->level)
        return find_of_whole(f, graph, d, scratch, to, w);
    if (!f->has_levels)
        TRY(model_level_list_make(f->m, f->a, &f->levels, w));
    f->has_levels = true;
    bool fits =
        f->levels.graph[graph] <= (int) d->level && (!f->m->model.relaxed || d->level >= L2);
    return fits ? find_of_whole(f, graph, d, scratch, to, w)
                : find_of_slice(f, graph, d, scratch, to, w);
}

int abilities_find(struct ability_finder *f, uint32_t graph, const ANeuralNetworksDevice *device,
                   const enum ability **ret_abilities, struct why *w)
{
    const struct graph *g = &f->m->model.graph[graph];
    enum ability *to = arena_alloc(f->a, g->n_operations, sizeof *to);
    struct arena *scratch = arena_new(0);
    char name[EXTENSION_TEXT];
    int failed;

    if (!to || !scratch)
        failed = why_no_memory(w);
    else if (device->is_reference)
        failed = find_of_reference(&f->m->model, graph, scratch, to, w);
    else
        failed = find_of_driver(f, graph, device, scratch, to, w);
    arena_free(scratch);
    TRY(failed);
    for (uint32_t i = 0; i < g->n_operations && VLOG_IS_ON(COMPILATION); i++)
        if (to[i] != ABILITY_CAN)
            VLOG(COMPILATION, "Device %s can't do operation %s:%u: %s", device->name,
                 operation_text(&f->m->model, g->operation[i].code, name), i, ability_text[to[i]]);
    *ret_abilities = to;
    return 0;
}

int partition_supported(const ANeuralNetworksModel *m, uint32_t graph,
                        const ANeuralNetworksDevice *device, struct arena *a,
                        const bool **ret_supported, struct why *w)
{
    struct ability_finder f = { .m = m, .a = a };
    uint32_t n = m->model.graph[graph].n_operations;
    const enum ability *ability;
    bool *supported = arena_alloc(a, n, sizeof *supported);

    if (!supported)
        return why_no_memory(w);
    TRY(abilities_find(&f, graph, device, &ability, w));
    for (uint32_t i = 0; i < n; i++)
        supported[i] = ability[i] == ABILITY_CAN;
    *ret_supported = supported;
    return 0;
}
