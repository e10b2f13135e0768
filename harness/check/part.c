#include "harness/check/part.h"

#include <stdlib.h>
#include <string.h>

/* ---- the values */

/* The executions of an operation of a subgraph. */
struct calls {
    uint64_t n;            /* so far */
    struct body_call last; /* if that is not kept already; .in NULL: it is */
};

/* Collects them while the reference runs. */
struct capture {
    struct parts *p;
    struct calls **calls; /* per graph and operation */
    uint32_t capacity;
    bool failed; /* out of memory */
};

static int add_call(struct capture *k, const struct body_call *b)
{
    struct parts *p = k->p;

    if (p->n_bodies == k->capacity) {
        uint32_t capacity = k->capacity ? 2 * k->capacity : 64;
        struct body_call *body = arena_alloc(p->arena, capacity, sizeof *body);
        if (!body)
            return -1;
        if (p->n_bodies)
            memcpy(body, p->body, p->n_bodies * sizeof *body);
        p->body = body;
        k->capacity = capacity;
    }
    p->body[p->n_bodies++] = *b;
    return 0;
}

/* Copies the inputs; memory of an earlier execution that is large enough is used again. */
static int take_inputs(struct parts *p, const struct exec_event *event, struct body_call *b)
{
    const uint32_t n = p->e->model.graph[event->graph].operation[event->operation].n_in;

    if (!b->in)
        b->in = arena_alloc(p->arena, n + 1, sizeof *b->in);
    for (uint32_t i = 0; b->in && i < n; i++) {
        const struct tensor *arg = event->call->arg[i], old = b->in[i];
        b->in[i] = arg && arg->data ? *arg : (struct tensor){ 0 };
        if (!b->in[i].data)
            continue;
        const size_t bytes = tensor_bytes(arg);
        b->in[i].data = old.data && tensor_bytes(&old) >= bytes
                            ? memcpy(old.data, arg->data, bytes)
                            : arena_copy(p->arena, arg->data, bytes);
        if (!b->in[i].data)
            return -1;
    }
    return b->in ? 0 : -1;
}

static int keep_call(struct capture *k, const struct exec_event *event)
{
    struct calls *c = &k->calls[event->graph][event->operation];
    struct body_call b = { event->graph, event->operation, ++c->n, NULL };

    if ((c->n & (c->n - 1)) != 0) {
        b.in = c->last.in;
        c->last = b;
        return take_inputs(k->p, event, &c->last);
    }
    c->last.in = NULL;
    return take_inputs(k->p, event, &b) < 0 ? -1 : add_call(k, &b);
}

static int keep_last_calls(struct capture *k)
{
    const struct model *m = &k->p->e->model;

    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++)
            if (k->calls[g][i].last.in && add_call(k, &k->calls[g][i].last) < 0)
                return -1;
    return 0;
}

/* Results of the main graph, of an execution that ends early.  Not of NCHW, whose results are still
 * stored otherwise here. */
static int keep_results(struct parts *p, const struct exec_event *event)
{
    const struct operation *o = &p->e->model.graph[0].operation[event->operation];

    for (uint32_t i = 0; i < o->n_out && !event->call->nchw; i++) {
        struct tensor *value = &p->value[o->out[i]];
        *value = *event->call->out[i];
        value->data = arena_copy(p->arena, value->data, tensor_bytes(value));
        if (!value->data)
            return -1;
    }
    return 0;
}

static void capture_operation(const struct exec_event *event, void *user)
{
    struct capture *k = user;

    if (k->failed)
        return;
    if (event->graph)
        k->failed = keep_call(k, event) < 0;
    else if (k->p->e->expect_failure)
        k->failed = keep_results(k->p, event) < 0;
}

/* The main graph with the results of all operations as outputs. */
static int open_graph(const struct graph *from, struct arena *a, struct graph *ret, struct why *w)
{
    struct graph g = *from;
    size_t n = 0;

    for (uint32_t i = 0; i < g.n_operations; i++)
        n += g.operation[i].n_out;
    g.operand = arena_copy(a, from->operand, from->n_operands * sizeof *from->operand);
    g.output = arena_alloc(a, n + 1, sizeof *g.output);
    g.n_outputs = 0;
    if (!g.operand || !g.output)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g.n_operations; i++)
        for (uint32_t k = 0; k < g.operation[i].n_out; k++) {
            uint32_t at = g.operation[i].out[k];
            g.operand[at].life = LIFE_OUTPUT;
            g.output[g.n_outputs++] = at;
        }
    *ret = g;
    return 0;
}

static int make_calls(const struct model *m, struct arena *a, struct calls ***ret, struct why *w)
{
    struct calls **calls = arena_alloc(a, m->n_graphs, sizeof *calls);

    for (uint32_t g = 0; calls && g < m->n_graphs; g++) {
        calls[g] = arena_alloc(a, m->graph[g].n_operations + 1, sizeof **calls);
        if (!calls[g])
            return why_no_memory(w);
    }
    *ret = calls;
    return calls ? 0 : why_no_memory(w);
}

static int run_open(struct parts *p, struct capture *k, struct why *w)
{
    struct model m = p->e->model;
    struct exec_options options = { .arena = p->arena,
                                    .on_operation = capture_operation,
                                    .user = k };
    struct plan *plan;
    struct result result;

    m.graph = arena_copy(p->arena, m.graph, m.n_graphs * sizeof *m.graph);
    if (!m.graph)
        return why_no_memory(w);
    TRY(open_graph(&p->e->model.graph[0], p->arena, &m.graph[0], w));
    TRY(plan_new(&m, &plan, w));
    int rc = plan_run(plan, p->e->in, &options, &result, w);
    plan_free(plan);
    if (rc < 0 && p->e->expect_failure && w->code == WHY_EXECUTION)
        return k->failed ? why_no_memory(w) : 0;
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; i < result.n; i++)
        p->value[m.graph[0].output[i]] = result.out[i];
    result_done(&result); /* the values stay in the arena */
    return k->failed || keep_last_calls(k) < 0 ? why_no_memory(w) : 0;
}

int parts_find(const struct example *e, struct arena *arena, struct parts *ret, struct why *w)
{
    const struct graph *g = &e->model.graph[0];
    struct parts p = { .e = e,
                       .arena = arena,
                       .value = arena_alloc(arena, g->n_operands + 1, sizeof *p.value),
                       .order = arena_alloc(arena, g->n_operations + 1, sizeof *p.order) };
    struct capture k = { .p = &p };

    if (!p.value || !p.order)
        return why_no_memory(w);
    TRY(make_calls(&e->model, arena, &k.calls, w));
    for (uint32_t i = 0; i < g->n_inputs; i++)
        p.value[g->input[i]] = e->in[i];
    TRY(graph_order(g, arena, p.order, w));
    TRY(run_open(&p, &k, w));
    *ret = p;
    return 0;
}

bool part_is_control(const struct parts *p, uint32_t operation)
{
    const struct op *op = op_find(p->e->model.graph[0].operation[operation].code);

    return op && op->control;
}

/* ---- the example */

/* A part while it is made. */
struct making {
    const struct graph *from;
    struct graph *g;
    struct example *e;
    const struct tensor *value; /* per operand of `from` */
    uint32_t *place;            /* per operand of `from`: its index in g, UINT32_MAX: none yet */
    uint32_t *readers;          /* per operand of `from`: reading operations within the part */
    bool *is_written;           /* per operand of `from`: by an operation of the part */
    struct operation *slice;    /* operations that make inputs without elements */
    uint32_t n_slices;
};

static uint32_t place_operand(struct making *k, uint32_t index)
{
    if (k->place[index] == UINT32_MAX) {
        k->place[index] = k->g->n_operands;
        k->g->operand[k->g->n_operands++] = k->from->operand[index];
    }
    return k->place[index];
}

static bool is_empty(const struct tensor *t)
{
    return t->data && dtype_info[t->dtype].tensor && t->shape.rank && tensor_count(t) == 0;
}

bool part_has_empty_input(const struct example *e)
{
    for (uint32_t i = 0; i < e->model.graph[0].n_inputs; i++)
        if (is_empty(&e->in[i]))
            return true;
    return false;
}

static const struct op *slice_op(void)
{
    return op_by_name("SLICE");
}

static bool slice_takes(enum dtype type)
{
    const struct op *slice = slice_op();

    for (int i = 0; i < slice->n_typings; i++)
        if (slice->typings[i].slot[0] == type)
            return true;
    return false;
}

static uint32_t add_operand(struct making *k, enum lifetime life, const struct tensor *t)
{
    struct operand *o = &k->g->operand[k->g->n_operands];

    *o = (struct operand){ .tensor = *t, .life = life };
    if (life == LIFE_CONSTANT_COPY)
        o->length = tensor_bytes(t);
    else
        o->tensor.data = NULL;
    return k->g->n_operands++;
}

/* A request cannot give an input without elements: dimension 0 means unknown.  So the operand gets
 * its value from a SLICE of no elements of another input. */
static int place_slice(struct making *k, uint32_t at, const struct tensor *value, struct arena *a)
{
    struct operand *o = &k->g->operand[at];
    uint32_t rank = value->shape.rank;
    struct tensor whole = *value;
    int32_t *list = arena_alloc(a, 2 * rank, sizeof *list);
    uint32_t *index = arena_alloc(a, 4, sizeof *index);

    for (uint32_t i = 0; i < rank; i++)
        whole.shape.dim[i] += whole.shape.dim[i] == 0;
    whole.data = arena_alloc(a, tensor_bytes(&whole), 1);
    if (!list || !index || !whole.data)
        return -1;
    for (uint32_t i = 0; i < rank; i++)
        list[rank + i] = (int32_t) value->shape.dim[i];
    struct tensor begin = { .dtype = DT_I32, .shape = { 1, { rank } }, .data = list };
    struct tensor size = begin;
    size.data = list + rank;
    o->tensor.data = NULL;
    o->tensor.shape = value->shape;
    o->life = LIFE_TEMPORARY;
    index[0] = add_operand(k, LIFE_INPUT, &whole);
    index[1] = add_operand(k, LIFE_CONSTANT_COPY, &begin);
    index[2] = add_operand(k, LIFE_CONSTANT_COPY, &size);
    index[3] = at;
    k->e->in[k->g->n_inputs] = whole;
    k->g->input[k->g->n_inputs++] = index[0];
    k->slice[k->n_slices++] = (struct operation){ slice_op()->code, 3, 1, index, index + 3 };
    return 0;
}

/* Values from outside become inputs; constants and subgraphs stay what they are. */
static int place_input(struct making *k, uint32_t index, struct arena *a, uint32_t *ret_at)
{
    bool is_new = k->place[index] == UINT32_MAX;
    uint32_t at = place_operand(k, index);
    struct operand *o = &k->g->operand[at];
    const struct tensor *value = &k->value[index];

    *ret_at = at;
    if (!is_new || k->is_written[index] || operand_constant(o) || o->life == LIFE_NO_VALUE ||
        o->life == LIFE_SUBGRAPH)
        return 0;
    if (is_empty(value) && slice_takes(value->dtype))
        return place_slice(k, at, value, a);
    o->tensor.data = NULL;
    o->life = value->data ? LIFE_INPUT : LIFE_NO_VALUE;
    if (!value->data)
        return 0;
    o->tensor.shape = value->shape;
    k->e->in[k->g->n_inputs] = *value;
    k->g->input[k->g->n_inputs++] = at;
    return 0;
}

/* The operations that make inputs come first. */
static int put_slices(struct making *k, struct arena *a)
{
    struct graph *g = k->g;
    uint32_t n = k->n_slices + g->n_operations;
    struct operation *all = arena_alloc(a, n, sizeof *all);

    if (!all)
        return -1;
    memcpy(all, k->slice, k->n_slices * sizeof *all);
    memcpy(all + k->n_slices, g->operation, g->n_operations * sizeof *all);
    g->operation = all;
    g->n_operations = n;
    return 0;
}

static bool is_output(const struct graph *g, uint32_t operand)
{
    for (uint32_t i = 0; i < g->n_outputs; i++)
        if (g->output[i] == operand)
            return true;
    return false;
}

static uint32_t place_output(struct making *k, uint32_t index)
{
    uint32_t at = place_operand(k, index);
    struct operand *o = &k->g->operand[at];
    bool is_inner = k->readers[index] && k->readers[index] == k->from->operand[index].consumers &&
                    !is_output(k->from, index);

    o->life = is_inner ? LIFE_TEMPORARY : LIFE_OUTPUT;
    if (is_inner)
        return at;
    k->e->expected[k->g->n_outputs] = o->tensor;
    k->g->output[k->g->n_outputs++] = at;
    return at;
}

static int allocate(struct making *k, const uint32_t *operation, uint32_t n, struct arena *a,
                    struct why *w)
{
    size_t operands = 1;

    for (uint32_t i = 0; i < n; i++) /* 3 of a SLICE for each input */
        operands += 4 * (size_t) k->from->operation[operation[i]].n_in +
                    k->from->operation[operation[i]].n_out;
    *k->g = (struct graph){
        .operand = arena_alloc(a, operands, sizeof *k->g->operand),
        .operation = arena_alloc(a, n, sizeof *k->g->operation),
        .input = arena_alloc(a, operands, sizeof *k->g->input),
        .output = arena_alloc(a, operands, sizeof *k->g->output),
        .n_operations = n,
    };
    k->e->in = arena_alloc(a, operands, sizeof *k->e->in);
    k->e->expected = arena_alloc(a, operands, sizeof *k->e->expected);
    k->e->ignored = arena_alloc(a, operands, sizeof *k->e->ignored);
    k->place = arena_alloc(a, k->from->n_operands + 1, sizeof *k->place);
    k->readers = arena_alloc(a, k->from->n_operands + 1, sizeof *k->readers);
    k->is_written = arena_alloc(a, k->from->n_operands + 1, sizeof *k->is_written);
    k->slice = arena_alloc(a, operands, sizeof *k->slice);
    if (!k->g->operand || !k->g->operation || !k->g->input || !k->g->output || !k->e->in ||
        !k->e->expected || !k->e->ignored || !k->place || !k->readers || !k->is_written ||
        !k->slice)
        return why_no_memory(w);
    memset(k->place, 0xff, (k->from->n_operands + (size_t) 1) * sizeof *k->place);
    for (uint32_t i = 0; i < n; i++) {
        const struct operation *o = &k->from->operation[operation[i]];
        struct operation *to = &k->g->operation[i];
        *to = *o;
        to->in = arena_copy(a, o->in, o->n_in * sizeof *o->in);
        to->out = arena_copy(a, o->out, o->n_out * sizeof *o->out);
        if ((o->n_in && !to->in) || (o->n_out && !to->out))
            return why_no_memory(w);
        for (uint32_t j = 0; j < o->n_in; j++)
            k->readers[o->in[j]]++;
        for (uint32_t j = 0; j < o->n_out; j++)
            k->is_written[o->out[j]] = true;
    }
    return 0;
}

/* The part's only graph, or, with IF and WHILE, the first one, before all subgraphs. */
static int make_model(const struct model *from, bool has_control, const struct graph *g,
                      struct arena *a, struct model *ret, struct why *w)
{
    uint32_t n = has_control ? from->n_graphs : 1;
    struct graph *graph = arena_copy(a, from->graph, n * sizeof *graph);

    if (!graph)
        return why_no_memory(w);
    graph[0] = *g;
    *ret = *from;
    ret->graph = graph;
    ret->n_graphs = n;
    for (uint32_t i = 0; has_control && i < n; i++) { /* their consumers are counted */
        graph[i].operand =
            arena_copy(a, graph[i].operand, graph[i].n_operands * sizeof *graph[i].operand);
        if (!graph[i].operand)
            return why_no_memory(w);
    }
    model_count_consumers(ret);
    return 0;
}

/* operation: n operations of graph `graph`, in order of execution. */
static int make_part(const struct parts *p, uint32_t graph, const struct tensor *value,
                     const uint32_t *operation, uint32_t n, struct arena *a, struct example *ret,
                     struct why *w)
{
    struct graph g;
    struct example e = { .since = p->e->since, .expect_failure = p->e->expect_failure };
    struct making k = { .from = &p->e->model.graph[graph], .g = &g, .e = &e, .value = value };
    bool has_control = false;

    TRY(allocate(&k, operation, n, a, w));
    for (uint32_t i = 0; i < n; i++) {
        struct operation *o = &g.operation[i];
        const struct op *op = op_find(o->code);
        has_control = has_control || (op && op->control);
        for (uint32_t j = 0; j < o->n_in; j++)
            if (place_input(&k, o->in[j], a, &o->in[j]) < 0)
                return why_no_memory(w);
        for (uint32_t j = 0; j < o->n_out; j++)
            o->out[j] = place_output(&k, o->out[j]);
    }
    if (k.n_slices && put_slices(&k, a) < 0)
        return why_no_memory(w);
    TRY(make_model(&p->e->model, has_control, &g, a, &e.model, w));
    *ret = e;
    return 0;
}

static int compare_places(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;

    return x < y ? -1 : x > y;
}

/* Sorts operations of the main graph into the order of execution. */
static int sort_operations(const struct parts *p, const uint32_t *operation, uint32_t n,
                           struct arena *a, uint32_t **ret, struct why *w)
{
    const struct graph *g = &p->e->model.graph[0];
    uint32_t *place = arena_alloc(a, g->n_operations + 1, sizeof *place);
    uint32_t *sorted = arena_alloc(a, n + 1, sizeof *sorted);

    if (!place || !sorted)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        place[p->order[i]] = i;
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = place[operation[i]];
    qsort(sorted, n, sizeof *sorted, compare_places);
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = p->order[sorted[i]];
    *ret = sorted;
    return 0;
}

static const char *operation_text(const struct operation *o)
{
    const struct op *op = op_find(o->code);

    return op ? op->name : "unknown";
}

int part_make(const struct parts *p, const uint32_t *operation, uint32_t n, struct arena *arena,
              struct example *ret, struct why *w)
{
    struct example e;
    uint32_t *sorted;

    TRY(sort_operations(p, operation, n, arena, &sorted, w));
    TRY(make_part(p, 0, p->value, sorted, n, arena, &e, w));
    e.name = n == 1 ? arena_printf(arena, "operation %u (%s)", sorted[0],
                                   operation_text(&p->e->model.graph[0].operation[sorted[0]]))
                    : arena_printf(arena, "operations %u to %u", sorted[0], sorted[n - 1]);
    if (!e.name)
        return why_no_memory(w);
    *ret = e;
    return 0;
}

int part_make_body(const struct parts *p, uint32_t body, struct arena *arena, struct example *ret,
                   struct why *w)
{
    const struct body_call *b = &p->body[body];
    const struct graph *g = &p->e->model.graph[b->graph];
    const struct operation *o = &g->operation[b->operation];
    struct tensor *value = arena_alloc(arena, g->n_operands + 1, sizeof *value);
    struct example e;

    if (!value)
        return why_no_memory(w);
    for (uint32_t i = 0; i < o->n_in; i++)
        value[o->in[i]] = b->in[i];
    TRY(make_part(p, b->graph, value, &b->operation, 1, arena, &e, w));
    e.name = arena_printf(arena, "subgraph %u, operation %u (%s)", b->graph, b->operation,
                          operation_text(o));
    if (!e.name)
        return why_no_memory(w);
    *ret = e;
    return 0;
}
