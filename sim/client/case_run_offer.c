/* Converts a model to the driver's HAL version, or reports why it is not representable. */
#include <stdio.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/client/case_run.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "ExecutionPlan"

/* ---- which operations are too new */

struct marking {
    int most;
    bool *supported; /* of the main graph's operations */
    int *level;      /* of each graph */
};

static int mark(const struct level_requirement *n, void *user, struct why *w)
{
    struct marking *m = user;

    (void) w;
    if (n->level > m->level[n->graph])
        m->level[n->graph] = n->level;
    if (n->call && n->graph == 0)
        m->supported[n->index] = n->level <= m->most;
    return 0;
}

/* Of a graph and of those that it refers to, which is without cycles.  within[]: what is known of
 * each already, else 0. */
static int level_within(const struct model *m, uint32_t graph, const int *level, int *within)
{
    const struct graph *g = &m->graph[graph];
    int highest = level[graph];

    if (within[graph])
        return within[graph];
    for (uint32_t i = 0; i < g->n_operands; i++) {
        if (g->operand[i].life != LIFE_SUBGRAPH)
            continue;
        int inner = level_within(m, g->operand[i].subgraph, level, within);
        highest = inner > highest ? inner : highest;
    }
    return within[graph] = highest;
}

/* Marks the operations that feature level `most` has, with all that they run. */
static int mark_supported(const struct model *m, int most, struct arena *a, bool *supported,
                          struct why *w)
{
    const struct graph *g = &m->graph[0];
    struct marking marking = { most, supported, arena_alloc(a, m->n_graphs, sizeof(int)) };
    int *within = arena_alloc(a, m->n_graphs, sizeof(int));

    if (!marking.level || !within)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        supported[i] = most >= L3; /* that of vendors' operations */
    TRY(model_levels(m, mark, &marking, NULL, w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++) {
            const struct operand *in = &g->operand[g->operation[i].in[k]];
            if (in->life == LIFE_SUBGRAPH &&
                level_within(m, in->subgraph, marking.level, within) > most)
                supported[i] = false;
        }
    return 0;
}

/* ---- the model at the driver's version */

/* Before HAL 1.2 executions report no shapes, and 0 is no dimension. */
static bool are_shapes_known(const struct case_run *c)
{
    const struct graph *g = &c->m->graph[0];

    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (c->in[i].data && dtype_info[c->in[i].dtype].tensor && !shape_known(&c->in[i].shape))
            return false;
    for (uint32_t i = 0; i < g->n_outputs; i++)
        if (!case_run_is_known(case_run_output(c, i)) &&
            (!c->out_shape || !shape_known(&c->out_shape[i])))
            return false;
    return true;
}

static int refuse(struct case_run *c, const char *why)
{
    enum hal_version version = target_version(c->t);

    snprintf(c->o->not_passed, sizeof(c->o->not_passed), "%.220s; the target has HAL %s", why,
             hal_version_name(version));
    VLOG(MANAGER, "%s is not asked: %s", c->t->uri, c->o->not_passed);
    TRY(mark_supported(c->m, hal_level(version), c->o->arena, c->o->supported, c->w));
    return 1;
}

/* The driver is not asked about a model that this process may not use. */
static bool is_withheld(struct case_run *c)
{
    struct outcome *o = c->o;

    if (!c->t->no_extensions || !model_uses_extensions(c->m))
        return false;
    snprintf(o->not_passed, sizeof(o->not_passed), "%s", c->t->no_extensions);
    VLOG(MANAGER, "%s is not asked: %s", c->t->uri, o->not_passed);
    return true;
}

int case_run_offer(struct case_run *c)
{
    enum hal_version version = target_version(c->t);
    struct why why;
    int level;

    if (is_withheld(c))
        return 1;
    TRACE(LR, PP, "model_prepare");
    TRY(level = model_prepare(c->m, NULL, c->w));
    if (level > hal_level(version)) {
        if (model_convert(c->m, hal_level(version), c->o->arena, &c->conversion, &why) < 0) {
            if (why.code == WHY_UNSUPPORTED)
                return refuse(c, why.text);
            *c->w = why;
            return -1;
        }
        c->m = &c->conversion.model;
    }
    if (version >= HAL_FL5 && model_uses_oem(c->m))
        return refuse(c, "feature level 5 has done away with OEM operations and types");
    if (!execution_way_is_of(case_run_way(c), version)) {
        const enum execution_way way = case_run_way(c);
        const struct wire_method *m = execution_way_method(way);
        snprintf(why.text, sizeof(why.text), "%s executions need HAL %s to %s",
                 execution_ways[way].name, hal_version_name(m->since), hal_version_name(m->until));
        return refuse(c, why.text);
    }
    if (version < HAL_1_2 && !are_shapes_known(c))
        return refuse(c, "executions need shapes that are known and without dimensions of 0");
    return 0;
}
