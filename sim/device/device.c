/* The engine of a simulated device: which operations it supports, preparing and running models. */
#include "sim/device/device.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "sim/kernels/half.h"

#define LOG_TAG "Device"

/* ---- supported operations */

enum graph_support { UNKNOWN, SUPPORTED, NOT_SUPPORTED };

/* One query.  The support of each subgraph is computed once, however many operations refer to it:
 * with nested branches the time would grow exponentially. */
struct query {
    const struct device *device;
    const struct model *model;
    struct arena *arena;
    enum graph_support *graph; /* per graph: whether all its operations are supported */
};

static int supports_graph(struct query *q, uint32_t graph, struct why *w);

/* Whether the subgraphs that an IF or WHILE refers to are supported. */
static int supports_subgraphs(struct query *q, const struct graph *g, const struct operation *o,
                              struct why *w)
{
    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *in = &g->operand[o->in[i]];
        if (in->life != LIFE_SUBGRAPH)
            continue;
        if (q->graph[in->subgraph] == UNKNOWN)
            TRY(supports_graph(q, in->subgraph, w));
        if (q->graph[in->subgraph] == NOT_SUPPORTED)
            return why_fail(w, WHY_UNSUPPORTED, "subgraph %u is not supported", in->subgraph);
    }
    return 0;
}

static bool has_kernel(const struct device *d, const struct kernel_call *k)
{
    enum dtype type = k->call.n_in && k->arg[0] ? k->arg[0]->dtype : DT_F32;

    return k->call.op->control_kind != CONTROL_NONE || kernel_only_moves(k) ||
           kernel_is_extension(k) || kernel_find(d->kernels, k->call.op, type);
}

static int supports_call(struct query *q, const struct graph_values *v, uint32_t i, struct why *w)
{
    const struct graph *g = &v->model->graph[v->graph];
    struct bound_operation s;

    if (operation_is_foreign(g, &g->operation[i]))
        return why_fail(w, WHY_UNSUPPORTED, "operation %u is of an unknown extension", i);
    TRY(operation_bind(v, i, false, q->arena, &s, w));
    TRY(profile_supports(q->device->profile, &s.k.call, s.constant, w));
    if (!has_kernel(q->device, &s.k))
        return why_fail(w, WHY_UNSUPPORTED, "%s: no kernel for its first operand's type",
                        s.k.call.op->name);
    return supports_subgraphs(q, g, &g->operation[i], w);
}

/* Sets a flag per operation; -1: out of memory. */
static int supports_operations(struct query *q, uint32_t graph, bool *ret_supported, struct why *w)
{
    const struct graph *g = &q->model->graph[graph];
    struct graph_values v = { q->model, graph,
                              arena_alloc(q->arena, g->n_operands, sizeof(struct tensor)) };

    if (!v.tensor)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operands; i++)
        v.tensor[i] = g->operand[i].tensor;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        ret_supported[i] = supports_call(q, &v, i, w) == 0;
        if (ret_supported[i])
            continue;
        if (w->code == WHY_MEMORY)
            return -1;
        VLOG(COMPILATION, "%s does not support operation %u of graph %u: %s", q->device->base.name,
             i, graph, w->text);
    }
    return 0;
}

static int supports_graph(struct query *q, uint32_t graph, struct why *w)
{
    uint32_t n = q->model->graph[graph].n_operations;
    bool *supported = arena_alloc(q->arena, n, sizeof(*supported)), all = true;

    if (!supported)
        return why_no_memory(w);
    TRY(supports_operations(q, graph, supported, w));
    for (uint32_t i = 0; i < n; i++)
        all = all && supported[i];
    q->graph[graph] = all ? SUPPORTED : NOT_SUPPORTED;
    return 0;
}

static int supported(struct engine *e, const struct model *m, bool *ret_supported, struct why *w)
{
    struct query q = { (struct device *) e, m, arena_new(0), NULL };

    q.graph = q.arena ? arena_alloc(q.arena, m->n_graphs, sizeof(*q.graph)) : NULL;
    int rc = q.graph ? supports_operations(&q, 0, ret_supported, w) : why_no_memory(w);
    arena_free(q.arena);
    return rc;
}

/* ---- preparing models */

/* Rounds an fp32 constant to fp16 if the device stores it so. */
static int load_constant(const struct program *p, struct tensor *t, struct why *w)
{
    size_t n = tensor_count(t);
    float *to;

    if (!p->half || t->dtype != DT_F32 || !t->data)
        return 0;
    to = arena_alloc_raw(p->arena, n + 1, sizeof(*to));
    if (!to)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        to[i] = half_round(((const float *) t->data)[i]);
    t->data = to;
    return 0;
}

static int load_constants(struct program *p, struct why *w)
{
    const struct model *m = p->model;

    p->constants = arena_alloc(p->arena, m->n_graphs, sizeof(*p->constants));
    if (!p->constants)
        return why_no_memory(w);
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        const struct graph *graph = &m->graph[g];
        p->constants[g] = arena_alloc(p->arena, graph->n_operands, sizeof(struct tensor));
        if (!p->constants[g])
            return why_no_memory(w);
        for (uint32_t i = 0; i < graph->n_operands; i++) {
            p->constants[g][i] = graph->operand[i].tensor;
            TRY(load_constant(p, &p->constants[g][i], w));
        }
    }
    return 0;
}

static void program_free(struct program *p)
{
    arena_free(p->arena);
    free(p);
}

static int prepare(struct engine *e, const struct model *m, struct program **ret_program,
                   struct why *w)
{
    const struct device *d = (const struct device *) e;
    struct program *p = calloc(1, sizeof(*p));

    if (!p)
        return why_no_memory(w);
    *p = (struct program){ .device = d, .model = m, .arena = arena_new(0) };
    p->half = m->relaxed && d->profile->arithmetic == ARITHMETIC_FP16;
    int rc = p->arena ? load_constants(p, w) : why_no_memory(w);
    if (rc == 0)
        rc = device_estimate(p, w);
    if (rc < 0) {
        program_free(p);
        return -1;
    }
    *ret_program = p;
    return 0;
}

/* ---- execution */

/* Sets an input value, rounded to fp16 if the device stores it so. */
static void upload(const struct program *p, const struct tensor *in, struct tensor *t)
{
    t->shape = in->shape;
    t->data = in->data; /* the driver's copy, which run() may change */
    if (!p->half || t->dtype != DT_F32 || !t->data)
        return;
    for (size_t i = 0; i < tensor_count(t); i++)
        ((float *) t->data)[i] = half_round(((float *) t->data)[i]);
}

static int run(struct program *p, const struct tensor *in, const struct run_limits *limits,
               struct arena *a, struct run_output *ret_output, struct why *w)
{
    const struct graph *g = &p->model->graph[0];
    const struct profile *profile = p->device->profile;
    struct device_run r = { .device = p->device,
                            .program = p,
                            .limits = limits,
                            .scratch = arena_new((size_t) profile->memory) };
    struct tensor *out = arena_alloc(a, g->n_outputs, sizeof(*out));
    struct graph_values v;
    int rc;

    if (!r.scratch || !out || device_values(&r, 0, a, &v, w) < 0) {
        arena_free(r.scratch);
        return why_no_memory(w);
    }
    for (uint32_t i = 0; i < g->n_inputs; i++)
        upload(p, &in[i], &v.tensor[g->input[i]]);
    limits->job->ahead = p->ahead[0];
    rc = device_spend(&r, "launch", device_whole_ns(profile->launch_ns), w);
    if (rc == 0)
        rc = device_run_graph(&r, &v, a, w);
    arena_free(r.scratch);
    if (rc < 0 && w->code == WHY_MEMORY)
        why_prefix(w, "%s", profile->name);
    TRY(rc);
    for (uint32_t i = 0; i < g->n_outputs; i++)
        out[i] = v.tensor[g->output[i]];
    *ret_output = (struct run_output){ out, r.elapsed,
                                       clock_sum(r.elapsed, device_whole_ns(profile->driver_ns)) };
    return 0;
}

static void device_free(struct engine *e)
{
    struct device *d = (struct device *) e;

    profile_free(d->profile);
    kernel_set_free(d->kernels);
    kernel_set_free(d->moves);
    free(d);
}

static uint64_t estimate(const struct program *p)
{
    return clock_sum(device_whole_ns(p->device->profile->launch_ns), p->ahead[0]);
}

const struct engine_methods device_methods = {
    supported, prepare, program_free, estimate, run, device_free, device_preparation_ns
};

int engine_device(struct profile *p, const struct fault *fault, struct engine **ret_engine,
                  struct why *w)
{
    struct device *d = calloc(1, sizeof(*d));
    bool fixed = p->arithmetic == ARITHMETIC_FIXED;
    struct kernel_set *kernels = NULL, *moves = NULL;

    if (!d || kernel_set_new(fixed ? fixed_tables : float_tables, &kernels, w) < 0 ||
        (fixed && kernel_set_new(fixed_move_tables, &moves, w) < 0)) {
        int failed = d ? -1 : why_no_memory(w);
        kernel_set_free(kernels);
        free(d);
        profile_free(p);
        return failed;
    }
    *d = (struct device){
        .base = { .methods = &device_methods,
                  .name = p->name,
                  .version = p->version,
                  .type = p->type,
                  .hal = p->hal,
                  .capabilities = p->capabilities,
                  .memory = p->memory,
                  .queue_depth = p->queue_depth,
                  .priorities = p->priorities,
                  .burst_idle_ns = p->burst_idle_ns,
                  .model_cache_files = p->model_cache_files,
                  .data_cache_files = p->data_cache_files,
                  .limits = p->limits,
                  .extensions = p->extensions,
                  .fault = fault },
        .profile = p,
        .kernels = kernels,
        .moves = moves,
    };
    *ret_engine = &d->base;
    return 0;
}
