/* The order of a plan's steps: operations that are ready wait in a queue for each device; the
 * queues are emptied from the last device to the first, each into one step; IF and WHILE that the
 * runtime interprets come first, their subgraphs' steps in the place of the construct. */
#include "runtime/compile/partition.h"

#include <string.h>

#include "golden/base/logging.h"
#include "runtime/compile/choose_device.h"
#include "runtime/compile/operation_text.h"
#include "runtime/compile/plan_text.h"
#include "runtime/compile/step_model.h"

#define LOG_TAG "ExecutionPlan"

/* A graph that several constructs refer to is planned for each of them: this limits those whose
 * number grows exponentially with the nesting. */
enum { MOST_SOURCES = 1 << 14 };

struct plan_maker {
    const ANeuralNetworksModel *m;
    struct device_chooser *chooser;
    struct arena *a;
    struct why *w;
    struct plan_step *step;
    uint32_t n_steps, step_room;
    struct placed_source *source;
    uint32_t n_sources, source_room;
    struct operand_list dynamic, downstream;
};

/* ---- growing arrays */

/* The array, or a larger copy, with zeroed room for one more element; NULL: out of memory. */
static void *with_room(struct plan_maker *p, void *array, uint32_t n, uint32_t *room, size_t size)
{
    if (n < *room)
        return array;
    uint32_t more = n < UINT32_MAX / 4 ? 2 * n + 16 : 0;
    void *to = more ? arena_alloc(p->a, more, size) : NULL;
    if (to && n)
        memcpy(to, array, n * size);
    *room = more;
    return to;
}

/* Appends a step; steps may move. */
static int add_step(struct plan_maker *p, enum step_kind kind, uint32_t source, uint32_t *ret_at)
{
    p->step = with_room(p, p->step, p->n_steps, &p->step_room, sizeof *p->step);
    if (!p->step)
        return why_no_memory(p->w);
    p->step[p->n_steps].kind = kind;
    p->step[p->n_steps].source = source;
    *ret_at = p->n_steps++;
    return 0;
}

/* Appends a source model; sources may move. */
static int add_source(struct plan_maker *p, uint32_t graph, uint32_t parent, uint32_t *ret_source)
{
    const struct graph *g = &p->m->model.graph[graph];
    struct placed_source s = { .graph = graph, .parent = parent };

    if (p->n_sources == MOST_SOURCES)
        return why_fail(p->w, WHY_EXECUTION,
                        "the subgraphs of IF and WHILE occur more than %d times", MOST_SOURCES);
    p->source = with_room(p, p->source, p->n_sources, &p->source_room, sizeof *p->source);
    TRY(readiness_init(&s.readiness, g, p->a, p->w));
    s.step_of_operation = arena_alloc(p->a, g->n_operations, sizeof *s.step_of_operation);
    s.seen = arena_alloc(p->a, g->n_operands, sizeof *s.seen);
    if (!p->source || !s.step_of_operation || !s.seen)
        return why_no_memory(p->w);
    p->source[p->n_sources] = s;
    *ret_source = p->n_sources++;
    return 0;
}

/* ---- the operations of one source model */

/* First in, first out, of operations; each operation is in one queue at most. */
struct operation_queue {
    uint32_t head, tail; /* 1 + operation; 0: empty */
};

struct source_plan {
    struct plan_maker *p;
    uint32_t source;
    const struct graph *graph;
    const uint32_t *best;
    struct operation_queue *queue; /* by device; the last: IF and WHILE to interpret */
    uint32_t *next;                /* by operation: 1 + the next one in its queue */
    uint32_t *order; /* operations in the order of execution steps; n_ordered so far */
    uint32_t n_ordered;
};

static void enqueue(uint32_t operation, void *user)
{
    struct source_plan *s = user;
    struct operation_queue *q = &s->queue[s->best[operation]];
    if (q->tail)
        s->next[q->tail - 1] = operation + 1;
    else
        q->head = operation + 1;
    q->tail = operation + 1;
}

static uint32_t dequeue(struct source_plan *s, struct operation_queue *q)
{
    uint32_t operation = q->head - 1;
    q->head = s->next[operation];
    if (!q->head)
        q->tail = 0;
    return operation;
}

/* The operation is done in that step: others become ready, possibly in the same queue. */
static void finish_operation(struct source_plan *s, uint32_t operation, uint32_t step)
{
    struct placed_source *placed = &s->p->source[s->source];
    placed->step_of_operation[operation] = step;
    readiness_done(&placed->readiness, operation, enqueue, s);
}

/* All operations of the queue, and those that become ready for it meanwhile, as one step. */
static int put_device_step(struct source_plan *s, uint32_t device)
{
    struct plan_maker *p = s->p;
    struct operation_queue *q = &s->queue[device];
    uint32_t first = s->n_ordered, at;

    TRY(add_step(p, STEP_EXECUTE, s->source, &at));
    while (q->head) {
        uint32_t operation = dequeue(s, q);
        s->order[s->n_ordered++] = operation;
        finish_operation(s, operation, at);
    }
    p->step[at].device = p->chooser->device[device];
    p->step[at].operation = s->order + first;
    p->step[at].n_operations = s->n_ordered - first;
    return 0;
}

/* The devices of a graph's operations; WHY_UNSUPPORTED: there is none for one of them. */
static int choose_all(struct plan_maker *p, uint32_t graph, const struct graph_choice **ret_choice)
{
    const struct graph *g = &p->m->model.graph[graph];
    char name[EXTENSION_TEXT];

    TRY(device_chooser_graph(p->chooser, graph, ret_choice, p->w));
    for (uint32_t i = 0; i < g->n_operations; i++)
        if ((*ret_choice)->best[i] == NO_DEVICE)
            return why_fail(p->w, WHY_UNSUPPORTED, "No driver can do operation %s",
                            operation_text(&p->m->model, g->operation[i].code, name));
    return 0;
}

static int put_source(struct plan_maker *p, uint32_t source);

/* The graphs that IF or WHILE refers to: then and else, condition and body. */
static void find_subgraphs(const struct graph *g, const struct operation *o, uint32_t graph[2])
{
    int n = 0;
    for (uint32_t k = 0; k < o->n_in && n < 2; k++)
        if (g->operand[o->in[k]].life == LIFE_SUBGRAPH)
            graph[n++] = g->operand[o->in[k]].subgraph;
}

/*      a           IF, or WHILE
 *      a+1...      then, or condition
 *                  GOTO after the construct, or to a
 *                  else, or body
 *                  of WHILE: GOTO a */
static int put_construct(struct source_plan *s, uint32_t operation)
{
    struct plan_maker *p = s->p;
    const struct operation *o = &s->graph->operation[operation];
    bool is_loop = op_find(o->code)->control_kind == CONTROL_LOOP;
    uint32_t graph[2] = { 0 }, at, middle, end = 0, first, second;

    find_subgraphs(s->graph, o, graph);
    TRY(add_step(p, is_loop ? STEP_WHILE : STEP_IF, s->source, &at));
    TRY(add_source(p, graph[0], s->source, &first));
    TRY(add_source(p, graph[1], s->source, &second));
    TRY(put_source(p, first));
    TRY(add_step(p, STEP_GOTO, s->source, &middle));
    TRY(put_source(p, second));
    if (is_loop)
        TRY(add_step(p, STEP_GOTO, s->source, &end));
    struct plan_step *step = &p->step[at];
    step->construct = operation;
    step->first_part = at + 1;
    step->second_part = middle + 1;
    step->first_source = first;
    step->second_source = second;
    step->to = p->n_steps;
    p->step[middle].to = is_loop ? at : p->n_steps;
    if (is_loop)
        p->step[end].to = at;
    finish_operation(s, operation, at);
    return 0;
}

/* The steps of a source model.  Recursion is as deep as constructs are nested. */
static int put_source(struct plan_maker *p, uint32_t source)
{
    const struct graph_choice *choice;
    uint32_t n_devices = p->chooser->n_devices, graph = p->source[source].graph;
    const struct graph *g = &p->m->model.graph[graph];
    struct source_plan s = {
        .p = p,
        .source = source,
        .graph = g,
        .queue = arena_alloc(p->a, (size_t) n_devices + 1, sizeof *s.queue),
        .next = arena_alloc(p->a, g->n_operations, sizeof *s.next),
        .order = arena_alloc(p->a, g->n_operations, sizeof *s.order),
    };

    if (!s.queue || !s.next || !s.order)
        return why_no_memory(p->w);
    TRY(choose_all(p, graph, &choice));
    s.best = choice->best;
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!p->source[source].readiness.missing[i])
            enqueue(i, &s);
    for (;;) {
        uint32_t q = n_devices + 1;
        while (q > 0 && !s.queue[q - 1].head)
            q--;
        if (q == 0)
            return 0;
        if (q - 1 < n_devices)
            TRY(put_device_step(&s, q - 1));
        else
            while (s.queue[n_devices].head)
                TRY(put_construct(&s, dequeue(&s, &s.queue[n_devices])));
    }
}

/* ---- plans */

/* The device that all operations of the main graph have; NO_DEVICE: there is none. */
static uint32_t only_device(const struct plan_maker *p, const struct graph_choice *choice)
{
    for (uint32_t i = 1; i < p->m->model.graph[0].n_operations; i++)
        if (choice->best[i] != choice->best[0])
            return NO_DEVICE;
    return choice->best[0] < p->chooser->n_devices ? choice->best[0] : NO_DEVICE;
}

static int list_arguments(const struct plan_maker *p, enum argument_from from, const uint32_t *list,
                          uint32_t n, const struct step_argument **ret_list)
{
    struct step_argument *to = arena_alloc(p->a, n, sizeof *to);
    if (!to)
        return why_no_memory(p->w);
    for (uint32_t i = 0; i < n; i++)
        to[i] = (struct step_argument){ from, { 0, list[i] } };
    *ret_list = to;
    return 0;
}

/* One step: the whole model. */
static int make_simple(struct plan_maker *p, uint32_t device)
{
    const struct graph *g = &p->m->model.graph[0];
    uint32_t source, at;
    uint32_t *operation = arena_alloc(p->a, g->n_operations, sizeof *operation);
    const struct model_part *whole;

    VLOG(COMPILATION, "ModelBuilder::partitionTheWork: only one best device: %u = %s", device,
         p->chooser->device[device]->name);
    if (!operation)
        return why_no_memory(p->w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        operation[i] = i;
    TRY(add_source(p, 0, 0, &source));
    TRY(add_step(p, STEP_EXECUTE, source, &at));
    TRY(abilities_whole(&p->chooser->abilities, 0, &whole, p->w));
    struct plan_step *step = &p->step[at];
    step->device = p->chooser->device[device];
    step->n_operations = g->n_operations;
    step->operation = operation;
    step->model = whole->model;
    step->model.relaxed = whole->model.relaxed && step->device->level >= L2;
    step->pool = whole->pool;
    step->n_inputs = g->n_inputs;
    step->n_outputs = g->n_outputs;
    TRY(list_arguments(p, ARGUMENT_SOURCE_INPUT, g->input, g->n_inputs, &step->input));
    return list_arguments(p, ARGUMENT_SOURCE_OUTPUT, g->output, g->n_outputs, &step->output);
}

static int make_compound(struct plan_maker *p)
{
    uint32_t source;

    TRY(add_source(p, 0, 0, &source));
    TRY(put_source(p, source));
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->step[i].kind == STEP_EXECUTE)
            TRY(step_model_make(p->m, &p->source[p->step[i].source], i, &p->step[i], p->a,
                                &p->dynamic, &p->downstream, p->w));
    return 0;
}

static int make_partition(struct plan_maker *p, struct partition *ret)
{
    const struct graph_choice *choice;
    TRY(choose_all(p, 0, &choice));
    uint32_t device = only_device(p, choice);
    TRY(device != NO_DEVICE ? make_simple(p, device) : make_compound(p));
    struct source_model *source = arena_alloc(p->a, p->n_sources, sizeof *source);
    if (!source)
        return why_no_memory(p->w);
    for (uint32_t i = 0; i < p->n_sources; i++)
        source[i] = (struct source_model){ p->source[i].graph, p->source[i].parent };
    *ret = (struct partition){
        .kind = device != NO_DEVICE ? PLAN_SIMPLE : PLAN_COMPOUND,
        .n_steps = p->n_steps,
        .step = p->step,
        .n_sources = p->n_sources,
        .source = source,
        .n_dynamic = p->dynamic.n,
        .dynamic = p->dynamic.operand,
        .n_downstream = p->downstream.n,
        .downstream = p->downstream.operand,
    };
    return 0;
}

static int result_of(const struct why *w)
{
    switch (w->code) {
    case WHY_INVALID:
    case WHY_UNSUPPORTED: return ANEURALNETWORKS_BAD_DATA;
    case WHY_MEMORY: return ANEURALNETWORKS_OUT_OF_MEMORY;
    default: return ANEURALNETWORKS_OP_FAILED;
    }
}

int partition_make_chosen(struct device_chooser *chooser, struct arena *a, struct partition *ret,
                          struct why *w)
{
    struct plan_maker p = { .m = chooser->abilities.m, .chooser = chooser, .a = a, .w = w };

    if (make_partition(&p, ret) < 0)
        return result_of(w);
    if (VLOG_IS_ON(COMPILATION))
        plan_log(p.m, ret);
    return ANEURALNETWORKS_NO_ERROR;
}

int partition_make(const ANeuralNetworksModel *m, uint32_t n_devices,
                   const ANeuralNetworksDevice *const *device, int32_t preference, struct arena *a,
                   struct partition *ret, struct why *w)
{
    struct device_chooser chooser;

    if (device_chooser_init(&chooser, m, n_devices, device, preference, a, w) < 0)
        return result_of(w);
    int result = partition_make_chosen(&chooser, a, ret, w);
    if (result != ANEURALNETWORKS_BAD_DATA || !chooser.abilities.gone)
        return result;
    why_prefix(w, "the service of %s has ended", chooser.abilities.gone->name);
    return ANEURALNETWORKS_UNAVAILABLE_DEVICE;
}
