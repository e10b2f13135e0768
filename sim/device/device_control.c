/* IF and WHILE: runs the subgraphs that they refer to. */
#include <math.h>
#include <string.h>

#include "golden/base/clock.h"
#include "sim/device/device.h"

/* The arguments of a subgraph; of a loop, its state. */
struct state {
    uint32_t n;
    struct tensor *tensor;
};

/* Runs a graph; sets one element of ret_out per output, with data from `keep`. */
static int call_graph(struct device_run *r, uint32_t graph, const struct tensor *in,
                      struct arena *keep, struct tensor *ret_out, struct why *w)
{
    const struct graph *g = &r->program->model->graph[graph];
    struct graph_values v;

    TRY(device_values(r, graph, keep, &v, w));
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        struct tensor *t = &v.tensor[g->input[i]];
        t->shape = in[i].shape;
        t->data = in[i].data;
    }
    TRY(device_run_graph(r, &v, keep, w));
    for (uint32_t i = 0; i < g->n_outputs; i++)
        ret_out[i] = v.tensor[g->output[i]];
    return 0;
}

static uint32_t subgraph(const struct graph_values *v, const struct operation *o, uint32_t i)
{
    return v->model->graph[v->graph].operand[o->in[i]].subgraph;
}

/* The inputs of the operation after the first `skip`; omitted ones have no data. */
static int gather(const struct kernel_call *k, uint32_t skip, struct state *ret_state,
                  struct arena *a, struct why *w)
{
    struct state s = { k->call.n_in - skip, NULL };

    s.tensor = arena_alloc(a, s.n + 1, sizeof(*s.tensor));
    if (!s.tensor)
        return why_no_memory(w);
    for (uint32_t i = 0; i < s.n; i++)
        if (k->arg[skip + i])
            s.tensor[i] = *k->arg[skip + i];
    *ret_state = s;
    return 0;
}

/* Copies shapes and data, into `keep`, to the results of the operation. */
static int put_outputs(const struct kernel_call *k, const struct tensor *from, struct arena *keep,
                       struct why *w)
{
    for (uint32_t i = 0; i < k->call.n_out; i++) {
        struct tensor *t = k->out[i];
        if (!from[i].data && tensor_bytes(&from[i]))
            return why_fail(w, WHY_EXECUTION, "result %u is an input that the request omits", i);
        t->shape = from[i].shape;
        t->data = arena_copy(keep, from[i].data, tensor_bytes(&from[i]));
        if (!t->data)
            return why_no_memory(w);
    }
    return 0;
}

static bool is_true(const struct tensor *t)
{
    return t->data && *(const uint8_t *) t->data;
}

static int branch(struct device_run *r, struct graph_values *v, const struct operation *o,
                  struct kernel_call *k, struct arena *keep, struct why *w)
{
    if (!k->arg[0] || !k->arg[0]->data || tensor_count(k->arg[0]) != 1)
        return why_fail(w, WHY_EXECUTION, "the condition is omitted or does not have one element");
    bool truth = is_true(k->arg[0]) != ((k->kernel_faults & KERNEL_FAULT_BRANCH) != 0);
    uint32_t graph = subgraph(v, o, truth ? 1 : 2);
    uint32_t n_out = v->model->graph[graph].n_outputs;
    struct tensor *out = arena_alloc(keep, n_out + 1, sizeof(*out));
    struct arena *frame = arena_new((size_t) r->device->profile->memory);
    struct state arguments = { 0 };
    int rc = -1;

    if (!out || !frame)
        why_no_memory(w);
    else if (gather(k, 3, &arguments, keep, w) == 0 &&
             call_graph(r, graph, arguments.tensor, frame, out, w) == 0)
        rc = put_outputs(k, out, keep, w);
    arena_free(frame);
    return rc;
}

/* A running WHILE.  Iterations allocate from two arenas in turn: the current state lives in one
 * while the next is computed in the other. */
struct loop {
    uint32_t condition, body; /* subgraphs */
    struct state state;
    struct tensor *next, *before; /* the state being computed, and that before the last iteration */
    struct arena *frame[2], *test;
    uint64_t since, processor_since; /* the job's device time and the thread's processor time in ns
                                      * when the loop started */
    uint64_t iterations;
};

static void rewind_all(struct arena *a)
{
    arena_rewind(a, (struct arena_mark){ 0 });
}

/* The limit of a loop in device time alone lets an endless loop run for long where this machine is
 * slower than the cost model, as for large tensors.  So its thread may also compute for no more
 * than 1.75 times the limit, and at least for SHORTEST_NS, so that rare delays do not matter where
 * the limit is short.  This is processor time: the machine's load does not change it.  An endless
 * loop ends with the same status whichever limit it reaches first, and a loop that ends has the
 * same result on every machine that computes its device time no slower than that. */
static bool is_used_up(const struct device_run *r, const struct loop *l)
{
    static const uint64_t SHORTEST_NS = 250000000;
    const uint64_t limit = r->limits->loop_ns, most = clock_sum(limit, limit / 4 * 3);

    if (r->limits->job->used - l->since > limit)
        return true;
    return clock_ns(CLOCK_THREAD_CPUTIME_ID) - l->processor_since >
           (most > SHORTEST_NS ? most : SHORTEST_NS);
}

/* Runs iterations until the condition is false or the loop's time is used up. */
static int run_loop(struct device_run *r, struct loop *l, struct why *w)
{
    const size_t size = r->program->model->graph[l->body].n_outputs * sizeof(*l->next);
    const uint64_t iteration_ns = device_whole_ns(fmax(1, r->device->profile->operation_ns));

    for (;;) {
        struct tensor truth;
        rewind_all(l->test);
        TRY(call_graph(r, l->condition, l->state.tensor, l->test, &truth, w));
        if (!is_true(&truth))
            return 0;
        struct arena *frame = l->frame[l->iterations++ % 2];
        rewind_all(frame);
        TRY(call_graph(r, l->body, l->state.tensor, frame, l->next, w));
        memcpy(l->before, l->state.tensor, size);
        memcpy(l->state.tensor, l->next, size);
        TRY(device_spend(r, "loop iteration", iteration_ns, w));
        if (is_used_up(r, l))
            return why_fail(w, WHY_TIMEOUT, "WHILE ran for more than its limit of %llu ns",
                            (unsigned long long) r->limits->loop_ns);
    }
}

static int start_loop(struct device_run *r, struct graph_values *v, const struct operation *o,
                      struct kernel_call *k, struct arena *keep, struct loop *l, struct why *w)
{
    l->condition = subgraph(v, o, 0);
    l->body = subgraph(v, o, 1);
    l->since = r->limits->job->used;
    l->processor_since = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    TRY(gather(k, 2, &l->state, keep, w));
    l->next = arena_alloc(keep, v->model->graph[l->body].n_outputs + 1, sizeof(*l->next));
    l->before = arena_alloc(keep, v->model->graph[l->body].n_outputs + 1, sizeof(*l->next));
    for (int i = 0; i < 2; i++)
        l->frame[i] = arena_new((size_t) r->device->profile->memory);
    l->test = arena_new((size_t) r->device->profile->memory);
    return l->next && l->before && l->frame[0] && l->frame[1] && l->test ? 0 : why_no_memory(w);
}

static int loop(struct device_run *r, struct graph_values *v, const struct operation *o,
                struct kernel_call *k, struct arena *keep, struct why *w)
{
    struct loop l = { 0 };
    int rc = start_loop(r, v, o, k, keep, &l, w);

    if (rc == 0)
        rc = run_loop(r, &l, w);
    if (rc == 0)
        rc = put_outputs(
            k, k->kernel_faults & KERNEL_FAULT_LOOP && l.iterations ? l.before : l.state.tensor,
            keep, w);
    arena_free(l.frame[0]);
    arena_free(l.frame[1]);
    arena_free(l.test);
    return rc;
}

int device_control(struct device_run *r, struct graph_values *v, const struct operation *o,
                   struct kernel_call *k, struct arena *keep, struct why *w)
{
    return k->call.op->control_kind == CONTROL_BRANCH ? branch(r, v, o, k, keep, w)
                                                      : loop(r, v, o, k, keep, w);
}
