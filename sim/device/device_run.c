/* Execution on a device: runs the operations of a graph in order and advances the virtual clock. */
#include <inttypes.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/base/trace.h"
#include "sim/device/device.h"

/* Takes inputs of the graph with the shape {0} as omitted: an optional operand without that rank
 * can only be omitted by the request.  False: there are none. */
static bool omit_empty_inputs(const struct graph *g, const struct operation *o,
                              const struct tensor **arg)
{
    bool omitted = false;

    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *in = &g->operand[o->in[i]];
        if (in->life != LIFE_INPUT || in->tensor.shape.rank != 1 || in->tensor.shape.dim[0])
            continue;
        arg[i] = NULL;
        omitted = true;
    }
    return omitted;
}

int operation_bind(const struct graph_values *v, uint32_t operation, bool runtime, struct arena *a,
                   struct bound_operation *ret_site, struct why *w)
{
    const struct graph *g = &v->model->graph[v->graph];
    const struct operation *o = &g->operation[operation];
    const struct op *op = op_find(o->code);
    struct bound_operation *s = ret_site;

    *s = (struct bound_operation){ .constant = arena_alloc(a, o->n_in, sizeof(bool)) };
    s->k.arg = arena_alloc(a, o->n_in, sizeof(*s->k.arg));
    s->k.out = arena_alloc(a, o->n_out, sizeof(*s->k.out));
    s->k.scratch = a;
    if (!s->constant || !s->k.arg || !s->k.out)
        return why_no_memory(w);
    if (!op)
        return why_fail(w, WHY_UNSUPPORTED, "unknown operation code %d", o->code);
    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *in = &g->operand[o->in[i]];
        struct tensor *t = &v->tensor[o->in[i]];
        /* No value: declared so, or a model input that the request omits. */
        bool is_omitted = operand_omitted(in) || (runtime && in->life == LIFE_INPUT && !t->data);
        s->constant[i] = in->life == LIFE_CONSTANT_COPY || in->life == LIFE_CONSTANT_REFERENCE;
        s->k.arg[i] = is_omitted ? NULL : t;
    }
    for (uint32_t i = 0; i < o->n_out; i++)
        s->k.out[i] = &v->tensor[o->out[i]];
    int level = op_bind(op, s->k.arg, o->n_in, s->k.out, o->n_out, runtime, &s->k.call, w);
    if (level < 0 && !runtime && w->code == WHY_EXECUTION && omit_empty_inputs(g, o, s->k.arg))
        level = op_bind(op, s->k.arg, o->n_in, s->k.out, o->n_out, runtime, &s->k.call, w);
    return level;
}

int device_values(const struct device_run *r, uint32_t graph, struct arena *keep,
                  struct graph_values *ret_values, struct why *w)
{
    uint32_t n = r->program->model->graph[graph].n_operands;
    struct tensor *t = arena_copy(keep, r->program->constants[graph], n * sizeof(struct tensor));

    if (!t)
        return why_no_memory(w);
    *ret_values = (struct graph_values){ r->program->model, graph, t };
    return 0;
}

static bool sums_in_half(const struct device_run *r, const struct kernel_call *k)
{
    const struct tensor *x = k->call.n_in ? k->arg[0] : NULL;

    if (r->device->profile->arithmetic != ARITHMETIC_FP16 || !x)
        return k->kernel_faults & KERNEL_FAULT_HALF_SUMS;
    return x->dtype == DT_F16 || r->program->half || k->kernel_faults & KERNEL_FAULT_HALF_SUMS;
}

static int run_kernel(const struct bound_kernel *b, struct kernel_call *k, struct why *w)
{
    k->kernel = b->kernel;
    k->operand = b->operand;
    return k->kernel->run(k, w);
}

static int move(const struct device *d, struct kernel_call *k, struct why *w)
{
    const struct bound_kernel *own =
        d->moves ? kernel_find(d->moves, k->call.op, k->out[0]->dtype) : NULL;

    return own ? run_kernel(own, k, w) : kernel_move(k, w);
}

static int compute(const struct device_run *r, struct kernel_call *k, struct why *w)
{
    const struct fault_hooks *hooks = fault_hooks(r->device->base.fault);
    const struct bound_kernel *bound;

    if (hooks->before)
        TRY(hooks->before(k, w));
    if (kernel_only_moves(k)) {
        TRY(move(r->device, k, w));
    } else if (kernel_is_extension(k)) {
        TRY(kernel_extension(k, w));
    } else {
        bound = kernel_find(r->device->kernels, k->call.op, k->arg[0]->dtype);
        if (!bound)
            return why_fail(w, WHY_EXECUTION, "%s: no kernel for its first operand's type",
                            k->call.op->name);
        TRY(run_kernel(bound, k, w));
    }
    if (hooks->after)
        hooks->after(k);
    return 0;
}

int device_spend(struct device_run *r, const char *what, uint64_t ns, struct why *w)
{
    const struct job *j = r->limits->job;
    uint64_t now;

    r->limits->job->doing = what;
    r->elapsed = schedule_spend(r->limits->schedule, r->limits->job, ns);
    if (!job_is_active(j))
        return why_fail(w, WHY_EXECUTION, "the client has disconnected");
    now = j->arrival + r->elapsed;
    if (now > j->deadline)
        return why_fail(w, WHY_TIMEOUT, "the deadline has passed: %" PRIu64 " ns elapsed",
                        r->elapsed);
    if (clock_sum(now, j->ahead) > j->deadline)
        return why_fail(w, WHY_TIMEOUT,
                        "the deadline cannot be met: %" PRIu64 " ns elapsed, %" PRIu64
                        " more needed",
                        r->elapsed, j->ahead);
    return 0;
}

static int run_operation(struct device_run *r, struct graph_values *v, uint32_t i,
                         struct arena *keep, struct why *w)
{
    const struct operation *o = &v->model->graph[v->graph].operation[i];
    const struct device *d = r->device;
    struct bound_operation s;
    struct kernel_call *k = &s.k;

    if (operation_bind(v, i, true, r->scratch, &s, w) < 0) {
        if (w->code != WHY_MEMORY)
            w->code = WHY_EXECUTION;
        return -1;
    }
    TRACE(LD, PCO, k->call.op->name);
    k->keep = keep;
    k->half = r->program->half;
    k->kernel_faults = fault_hooks(d->base.fault)->kernel_faults;
    k->half_sums = sums_in_half(r, k);
    k->xnnpack = d->profile->arithmetic == ARITHMETIC_FP32;
    if (v->graph == 0)
        r->limits->job->ahead = r->program->ahead[i + 1];
    if (k->call.op->control_kind != CONTROL_NONE)
        return device_control(r, v, o, k, keep, w);
    for (uint32_t n = 0; n < k->call.n_out && !k->call.op->measure; n++) {
        struct shape shape = k->out[n]->shape;
        TRY(kernel_make_result(k, n, &shape, w));
        k->call.out[n]->data = k->out[n]->data;
    }
    TRY(compute(r, k, w));
    return device_spend(r, k->call.op->name, device_cost(d->profile, k), w);
}

int device_run_graph(struct device_run *r, struct graph_values *v, struct arena *keep,
                     struct why *w)
{
    const struct graph *g = &v->model->graph[v->graph];

    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct arena_mark mark = arena_mark(r->scratch);
        int rc = run_operation(r, v, i, keep, w);
        arena_rewind(r->scratch, mark);
        TRY(rc);
    }
    return 0;
}
