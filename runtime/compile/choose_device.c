#include "runtime/compile/choose_device.h"

#include <float.h>
#include <math.h>

#include "golden/base/logging.h"
#include "runtime/compile/operation_text.h"
#include "runtime/model/known_sizes.h"
#include "sim/hal/extension_codes.h"

#define LOG_TAG "ExecutionPlan"

int device_chooser_init(struct device_chooser *c, const ANeuralNetworksModel *m, uint32_t n_devices,
                        const ANeuralNetworksDevice *const *device, int32_t preference,
                        struct arena *a, struct why *w)
{
    size_t n_costs = (size_t) m->model.n_graphs * n_devices;
    *c = (struct device_chooser){
        .n_devices = n_devices,
        .device = device,
        .preference = preference,
        .abilities = { .m = m, .a = a },
        .graph = arena_alloc(a, m->model.n_graphs, sizeof *c->graph),
        .graph_cost = arena_alloc(a, n_costs, sizeof *c->graph_cost),
    };
    if (!c->graph || !c->graph_cost)
        return why_no_memory(w);
    for (size_t i = 0; i < n_costs; i++)
        c->graph_cost[i] = NAN;
    return 0;
}

/* ---- costs */

static float cost_of(const struct device_chooser *c, struct hal_performance p)
{
    return c->preference == ANEURALNETWORKS_PREFER_LOW_POWER ? p.power_usage : p.exec_time;
}

static float operation_cost(struct device_chooser *c, uint32_t graph, const struct operation *o,
                            uint32_t device);

static float graph_cost(struct device_chooser *c, uint32_t graph, uint32_t device)
{
    const struct graph *g = &c->abilities.m->model.graph[graph];
    float *known = &c->graph_cost[(size_t) graph * c->n_devices + device];
    if (isnan(*known)) {
        float sum = 0;
        for (uint32_t i = 0; i < g->n_operations; i++)
            sum += operation_cost(c, graph, &g->operation[i], device);
        *known = sum;
    }
    return *known;
}

static float subgraph_costs(struct device_chooser *c, const struct graph *g,
                            const struct operation *o, uint32_t device)
{
    float sum = 0;
    for (uint32_t k = 0; k < o->n_in; k++)
        if (g->operand[o->in[k]].life == LIFE_SUBGRAPH)
            sum += graph_cost(c, g->operand[o->in[k]].subgraph, device);
    return sum;
}

/* The type of the first input decides; IF counts half of both branches, WHILE condition and body.
 */
static float operation_cost(struct device_chooser *c, uint32_t graph, const struct operation *o,
                            uint32_t device)
{
    const ANeuralNetworksModel *m = c->abilities.m;
    const ANeuralNetworksDevice *d = c->device[device];
    const struct graph *g = &m->model.graph[graph];
    const struct op *op = op_find(o->code);
    const struct hal_performance reference = { REFERENCE_PERFORMANCE, REFERENCE_PERFORMANCE };
    const struct hal_capabilities *p = &d->performance;

    switch (op ? op->control_kind : CONTROL_NONE) {
    case CONTROL_BRANCH:
        return cost_of(c, d->is_reference ? reference : p->if_performance) +
               0.5f * subgraph_costs(c, g, o, device);
    case CONTROL_LOOP:
        return cost_of(c, d->is_reference ? reference : p->while_performance) +
               subgraph_costs(c, g, o, device);
    case CONTROL_NONE: break;
    }
    if (d->is_reference)
        return cost_of(c, reference);
    if (!o->n_in)
        return FLT_MAX;
    bool relaxed = m->graph_relaxed ? m->graph_relaxed[graph] : m->model.relaxed;
    return cost_of(c,
                   device_performance(d, extension_codes_hal_type(&g->operand[o->in[0]]), relaxed));
}

/* ---- the choice */

/* Of equal ones the first device is chosen, but always the reference. */
static uint32_t choose(const struct device_chooser *c, const struct device_candidate *candidate)
{
    uint32_t best = NO_DEVICE;
    for (uint32_t d = 0; d < c->n_devices; d++) {
        if (candidate[d].ability != ABILITY_CAN)
            continue;
        if (best == NO_DEVICE || candidate[d].cost < candidate[best].cost ||
            (candidate[d].cost == candidate[best].cost && c->device[d]->is_reference))
            best = d;
    }
    return best;
}

static void log_choice(const struct device_chooser *c, const struct operation *o, uint32_t i,
                       uint32_t best)
{
    char text[EXTENSION_TEXT];
    if (!VLOG_IS_ON(COMPILATION) || best == NO_DEVICE)
        return;
    bool is_device = best < c->n_devices;
    VLOG(COMPILATION, "ModelBuilder::findBestDeviceForEachOperation(%s:%u) = %d (%s)",
         operation_text(&c->abilities.m->model, o->code, text), i, is_device ? (int) best : -1,
         is_device ? c->device[best]->name : "NNAPI");
}

int device_chooser_graph(struct device_chooser *c, uint32_t graph,
                         const struct graph_choice **ret_choice, struct why *w)
{
    const struct model *m = &c->abilities.m->model;
    const struct graph *g = &m->graph[graph];
    uint32_t n = c->n_devices;

    *ret_choice = &c->graph[graph];
    if (c->graph[graph].candidate)
        return 0;
    struct device_candidate *to =
        arena_alloc(c->abilities.a, (size_t) g->n_operations * n, sizeof *to);
    uint32_t *best = arena_alloc(c->abilities.a, g->n_operations, sizeof *best);
    if (!to || !best)
        return why_no_memory(w);
    for (uint32_t d = 0; d < n; d++) {
        const enum ability *ability;
        TRY(abilities_find(&c->abilities, graph, c->device[d], &ability, w));
        for (uint32_t i = 0; i < g->n_operations; i++)
            to[(size_t) i * n + d] = (struct device_candidate){
                .ability = ability[i],
                .cost = operation_cost(c, graph, &g->operation[i], d),
            };
    }
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        best[i] = choose(c, &to[(size_t) i * n]);
        if (best[i] != NO_DEVICE && c->device[best[i]]->is_reference &&
            operation_has_subgraphs(o) && !operation_is_runtime_only(m, g, o))
            best[i] = n;
        log_choice(c, o, i, best[i]);
    }
    c->graph[graph] = (struct graph_choice){ .candidate = to, .best = best };
    return 0;
}
