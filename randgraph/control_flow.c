/* IF and WHILE.  Every result of a branch and every state of a loop has the type, shape and
 * quantisation of an argument: subgraphs are chains of operations that preserve them.  A loop's
 * counter runs up to a constant. */
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { MAX_ARGUMENTS = 3, MAX_CHAIN = 3, FEW_ITERATIONS = 4, MAX_ITERATIONS = 50, MAX_DEPTH = 2 };

/* The operation's arguments in the enclosing graph, and the inputs of the subgraphs that receive
 * them.  none: no arguments are passed; the subgraphs have constants with the same values. */
struct arguments {
    struct graph_value *outside[MAX_ARGUMENTS + 1], *inside[MAX_ARGUMENTS + 1];
    uint32_t n;
    bool none;
};

/* Capacity of the list of graphs: the next power of two. */
static uint32_t room_for(uint32_t n)
{
    uint32_t room = MIN_GRAPHS;

    while (room < n)
        room *= 2;
    return room;
}

/* Appends n graphs to the model; the index of the first. */
static int reserve_graphs(struct builder *b, uint32_t n, uint32_t *ret_first)
{
    struct model *m = b->model;
    uint32_t room = room_for(m->n_graphs + n);

    if (room > room_for(m->n_graphs)) {
        struct graph *g = arena_alloc(b->arena, room, sizeof *g);
        if (!g)
            return -1;
        memcpy(g, m->graph, m->n_graphs * sizeof *g);
        m->graph = g;
    }
    *ret_first = b->model->n_graphs;
    b->model->n_graphs += n;
    return 0;
}

static void add_argument(struct arguments *a, struct graph_value *k)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (a->outside[i] == k)
            return;
    a->outside[a->n++] = k;
}

/* Whether the driver supports the operation on a value of the type. */
static bool may_control(const struct builder *b, bool loop, enum dtype type)
{
    const struct randgraph_support *s = b->support;
    bool counts = !s || (support_has(s, "LESS", DT_I32) && support_has(s, "ADD", DT_I32));

    return !s || (support_control(s, loop, type) && (!loop || counts));
}

static void pick_arguments(struct builder *b, bool loop, struct graph_value *first,
                           struct arguments *a)
{
    uint32_t n = 1 + rng_below(b->rng, MAX_ARGUMENTS);

    add_argument(a, first);
    for (uint32_t i = 1; i < n && b->n_live; i++) {
        struct graph_value *k = b->live[rng_below(b->rng, b->n_live)];
        if (may_control(b, loop, k->t.dtype))
            add_argument(a, k);
    }
}

/* In a nested graph only the first result is read by the rest of its chain: no others are made. */
static uint32_t draw_results(struct builder *b, uint32_t most)
{
    return b->depth ? 1 : 1 + rng_below(b->rng, most);
}

static struct graph_value *copy_known(struct builder *b, const struct graph_value *k,
                                      enum lifetime life)
{
    struct graph_value *to = graph_value_new(b, k->t.dtype, life);

    if (to) {
        to->t = k->t;
        to->lo = k->lo;
        to->hi = k->hi;
        to->measured = k->measured;
    }
    return to;
}

/* A subgraph whose inputs are the arguments. */
static int begin_subgraph(struct builder *b, struct arguments *a, struct builder *ret_inside)
{
    struct builder s = builder_for_subgraph(b);

    s.control = b->control && s.depth < MAX_DEPTH;
    for (uint32_t i = 0; i < a->n; i++) {
        a->inside[i] = copy_known(&s, a->outside[i], a->none ? LIFE_CONSTANT_COPY : LIFE_INPUT);
        if (!a->inside[i] || builder_add(&s, a->inside[i]) < 0)
            return -1;
    }
    *ret_inside = s;
    return 0;
}

static int finish_subgraph(struct builder *b, struct builder *s, const struct arguments *a,
                           struct graph_value *const *result, uint32_t n, uint32_t graph)
{
    return finish_graph(s, a->inside, a->none ? 0 : a->n, result, n, &b->model->graph[graph]);
}

/* A chain of a few operations; its result has the argument's type, shape and quantisation. */
static int grow_chain(struct builder *s, struct graph_value *from, struct graph_value **ret_result)
{
    const struct tensor like = from->t;

    for (uint32_t i = 1 + rng_below(s->rng, MAX_CHAIN); i > 0; i--) {
        bool nested = s->control && rng_percent(s->rng, s->weights->control);
        if (!nested || grow_control(s, from, &from) < 0)
            TRY(grow_matching(s, from, &like, &from));
    }
    *ret_result = from;
    return 0;
}

static struct graph_value *subgraph_operand(struct builder *b, uint32_t graph)
{
    struct graph_value *k = graph_value_new(b, DT_MODEL, LIFE_SUBGRAPH);

    if (k)
        k->subgraph = graph;
    return k;
}

/* A tensor of shape [1] and value x, of a type without scale. */
static struct graph_value *single(struct builder *b, enum dtype dtype, double x, enum lifetime life)
{
    struct graph_value *k = graph_value_new(b, dtype, life);

    if (!k)
        return NULL;
    k->t.shape = (struct shape){ 1, { 1 } };
    if (graph_value_allocate(b, k) < 0)
        return NULL;
    tensor_narrow(&x, &k->t);
    graph_value_measure(k);
    return k;
}

/* Adds the IF or WHILE: leading operands (condition, graphs), then the arguments; its results have
 * the values of `value`. */
static int add_control(struct builder *b, const struct op *op, struct graph_value *const *leading,
                       uint32_t n_leading, const struct arguments *a,
                       struct graph_value *const *value, uint32_t n_value,
                       struct graph_value **ret_first)
{
    struct graph_value *in[MAX_CALL], *out[MAX_RESULTS];
    uint32_t n = 0;

    for (uint32_t i = 0; i < n_leading; i++)
        in[n++] = leading[i];
    for (uint32_t i = 0; i < a->n && !a->none; i++)
        in[n++] = a->outside[i];
    for (uint32_t i = 0; i < n; i++)
        if (!in[i])
            return -1;
    for (uint32_t i = 0; i < n_value; i++) {
        out[i] = copy_known(b, value[i], LIFE_TEMPORARY);
        if (!out[i])
            return -1;
        out[i]->result = true;
    }
    *ret_first = out[0];
    return builder_operation(b, op, in, n, out, n_value);
}

/* Adds an operation on two tensors of shape [1]; its other operands are 0.  The caller sets the
 * result's value. */
static int add_arithmetic(struct builder *s, const char *name, struct graph_value *x,
                          struct graph_value *y, enum dtype result, struct graph_value **ret_result)
{
    const struct op *op = op_by_name(name);
    struct graph_value *in[MAX_CALL], *pair[] = { x, y },
                                      *out = single(s, result, 0, LIFE_TEMPORARY);
    uint32_t n = 0, next = 0;

    if (!op || !x || !y || !out)
        return -1;
    for (int i = 0; op->forms[0].role[i] != END && n < MAX_CALL; i++) {
        const struct role *r = &op->in[op->forms[0].role[i]];
        struct graph_value *zero =
            r->dims ? NULL : graph_value_new(s, DT_INT32, LIFE_CONSTANT_COPY);
        if (zero && graph_value_allocate(s, zero) == 0)
            *(int32_t *) zero->t.data = 0;
        in[n++] = r->dims && next < 2 ? pair[next++] : zero;
        if (!in[n - 1] || !in[n - 1]->t.data)
            return -1;
    }
    out->result = true;
    *ret_result = out;
    return builder_operation(s, op, in, n, &out, 1);
}

static bool is_single(const struct graph_value *k)
{
    return k->t.shape.rank == 1 && k->t.shape.dim[0] == 1;
}

/* A condition: x < constant, with the constant at least 1 away, so that rounding does not decide.
 */
static struct graph_value *compute_condition(struct builder *b, struct graph_value *x)
{
    double far = 1 + fabs(x->lo), to = rng_below(b->rng, 2) ? x->lo + far : x->lo - far;
    struct graph_value *than = single(b, x->t.dtype, to, LIFE_CONSTANT_COPY), *result;

    if (!than || add_arithmetic(b, "LESS", x, than, DT_B8, &result) < 0)
        return NULL;
    result->measured = true;
    result->lo = result->hi = *(uint8_t *) result->t.data = x->lo < than->lo;
    return result;
}

static struct graph_value *find_condition(struct builder *b)
{
    const struct randgraph_support *s = b->support;
    bool room = b->depth > 0 || (b->n_operations + 1 < b->goal && !b->only_control);

    for (uint32_t i = b->n_live; i-- > 0;) {
        struct graph_value *k = b->live[i];
        bool number = k->t.dtype == DT_F32 || k->t.dtype == DT_F16 || k->t.dtype == DT_I32;
        if (is_single(k) && k->t.dtype == DT_B8)
            return k;
        bool comparable = !s || (number && support_has(s, "LESS", k->t.dtype));
        if (room && is_single(k) && number && comparable && (k->result || rng_percent(b->rng, 50)))
            return compute_condition(b, k);
    }
    return single(b, DT_B8, rng_below(b->rng, 2), b->depth ? LIFE_CONSTANT_COPY : LIFE_INPUT);
}

static int grow_branch(struct builder *b, struct graph_value *from, struct graph_value **ret_result)
{
    struct arguments a = { .n = 0 };
    struct graph_value *condition = find_condition(b);
    struct graph_value *taken[MAX_ARGUMENTS], *result[MAX_ARGUMENTS];
    uint32_t graph;

    if (!b->rows->branch || !condition || !may_control(b, false, from->t.dtype))
        return -1;
    pick_arguments(b, false, from, &a);
    a.none = condition->result && rng_percent(b->rng, 25); /* only the condition is an input */
    TRY(reserve_graphs(b, 2, &graph));
    uint32_t n = draw_results(b, a.n), chosen = *(const uint8_t *) condition->t.data ? 0 : 1;
    for (uint32_t branch = 0; branch < 2; branch++) {
        struct builder s;
        TRY(begin_subgraph(b, &a, &s));
        for (uint32_t i = 0; i < n; i++)
            TRY(grow_chain(&s, a.inside[i], &result[i]));
        TRY(finish_subgraph(b, &s, &a, result, n, graph + branch));
        if (branch == chosen)
            memcpy(taken, result, n * sizeof *result);
    }
    struct graph_value *leading[] = { condition, subgraph_operand(b, graph),
                                      subgraph_operand(b, graph + 1) };
    return add_control(b, b->rows->branch, leading, COUNT(leading), &a, taken, n, ret_result);
}

/* Checks the values of a loop's body in each iteration: it was drawn with those of the first. */
struct range_check {
    const struct builder *b;
    bool exceeded; /* a value is not finite, or too large */
};

static void check_operation(const struct exec_event *e, void *user)
{
    struct range_check *c = user;

    for (uint32_t i = 0; i < e->call->n_out; i++) {
        const struct tensor *t = e->call->out[i];
        size_t n = dtype_info[t->dtype].codec->integer ? 0 : tensor_count(t);
        double limit = t->dtype == DT_F16 ? fmin(c->b->limit, fp16_limit) : c->b->limit;
        for (size_t k = 0; k < n; k++)
            c->exceeded |= !(fabs(tensor_at(t, k)) <= limit);
    }
}

/* The state after the last iteration, by running the body as a model of its own. */
static int loop_state(struct builder *b, const struct arguments *a, int32_t iterations,
                      uint32_t graph, struct tensor *state, uint32_t n_state)
{
    struct range_check check = { b, false };
    struct exec_options options = { .arena = b->scratch,
                                    .on_operation = check_operation,
                                    .user = &check };
    struct model m = *b->model;
    struct tensor in[MAX_ARGUMENTS + 1];
    struct result r;
    struct plan *p;
    int rc = 0;

    m.graph = arena_copy(b->scratch, m.graph, m.n_graphs * sizeof *m.graph);
    if (!m.graph)
        return -1;
    m.graph[0] = m.graph[graph];
    TRY(plan_new(&m, &p, NULL));
    for (uint32_t i = 0; i < a->n; i++)
        in[i] = a->outside[i]->t;
    for (; rc == 0 && iterations > 0; iterations--) {
        rc = plan_run(p, in, &options, &r, NULL);
        if (rc == 0) {
            memcpy(in, r.out, n_state * sizeof *in);
            result_done(&r);
        }
    }
    plan_free(p);
    if (rc < 0 || check.exceeded)
        return -1;
    memcpy(state, in, n_state * sizeof *state);
    return 0;
}

/* Computes the loop's results.  -1 also where one exceeds the limit, or where all but the counter,
 * which is last, have equal elements only. */
static int compute_results(struct builder *b, const struct arguments *a, int32_t iterations,
                           uint32_t body, struct graph_value **result, uint32_t n)
{
    struct tensor state[MAX_ARGUMENTS + 1];
    bool useful = false;

    TRY(loop_state(b, a, iterations, body, state, n));
    for (uint32_t i = 0; i < n; i++) {
        struct graph_value *k = graph_value_new(b, state[i].dtype, LIFE_TEMPORARY);
        if (!k)
            return -1;
        k->t = state[i];
        k->t.data = arena_copy(b->arena, state[i].data, tensor_bytes(&state[i]));
        if (!k->t.data)
            return -1;
        graph_value_measure(k);
        if (!(fabs(k->lo) <= b->limit && fabs(k->hi) <= b->limit))
            return -1;
        useful |= i + 1 < n && (k->lo < k->hi || tensor_count(&k->t) == 1);
        result[i] = k;
    }
    return useful ? 0 : -1;
}

static int grow_loop(struct builder *b, struct graph_value *from, struct graph_value **ret_result)
{
    struct arguments a = { .n = 0 }, picked = { .n = 0 };
    struct graph_value *result[MAX_ARGUMENTS + 1], *go_on;
    bool many = rng_percent(b->rng, b->weights->long_loop);
    int32_t iterations = (int32_t) rng_below(b->rng, (many ? MAX_ITERATIONS : FEW_ITERATIONS) + 1);
    struct builder s;
    uint32_t graph;

    if (!b->rows->loop || !may_control(b, true, from->t.dtype))
        return -1;

    /* arguments: the states, the counter, then those that no iteration changes */
    pick_arguments(b, true, from, &picked);
    uint32_t counter = draw_results(b, picked.n);
    memcpy(a.outside, picked.outside, counter * sizeof *a.outside);
    a.outside[counter] = single(b, DT_I32, 0, LIFE_CONSTANT_COPY);
    if (!a.outside[counter])
        return -1;
    memcpy(a.outside + counter + 1, picked.outside + counter,
           (picked.n - counter) * sizeof *a.outside);
    a.n = picked.n + 1;
    TRY(reserve_graphs(b, 2, &graph));

    /* the condition: counter < iterations */
    TRY(begin_subgraph(b, &a, &s));
    struct graph_value *end = single(&s, DT_I32, iterations, LIFE_CONSTANT_COPY);
    TRY(add_arithmetic(&s, "LESS", a.inside[counter], end, DT_B8, &go_on));
    TRY(finish_subgraph(b, &s, &a, &go_on, 1, graph));

    /* the body: a chain per state, and counter + 1 */
    TRY(begin_subgraph(b, &a, &s));
    for (uint32_t i = 0; i < counter; i++)
        TRY(grow_chain(&s, a.inside[i], &result[i]));
    struct graph_value *one = single(&s, DT_I32, 1, LIFE_CONSTANT_COPY);
    TRY(add_arithmetic(&s, "ADD", a.inside[counter], one, DT_I32, &result[counter]));
    TRY(finish_subgraph(b, &s, &a, result, counter + 1, graph + 1));

    struct arena_mark mark = arena_mark(b->scratch);
    int rc = compute_results(b, &a, iterations, graph + 1, result, counter + 1);
    arena_rewind(b->scratch, mark);
    TRY(rc);
    struct graph_value *leading[] = { subgraph_operand(b, graph), subgraph_operand(b, graph + 1) };
    uint32_t results =
        counter + (b->depth ? 0 : rng_below(b->rng, 2)); /* with the counter or not */
    return add_control(b, b->rows->loop, leading, COUNT(leading), &a, result, results, ret_result);
}

/* The state of the builder before an attempt that may fail. */
struct snapshot {
    uint32_t n_graphs, n_graph_values, n_live, n_operations;
};

static struct snapshot snapshot(const struct builder *b)
{
    return (struct snapshot){ b->model->n_graphs, b->n_graph_values, b->n_live, b->n_operations };
}

static void restore(struct builder *b, const struct snapshot *s)
{
    for (uint32_t i = s->n_operations; i < b->n_operations; i++)
        for (uint32_t k = 0; k < b->operation[i].n_in; k++)
            b->known[b->operation[i].in[k]]->uses--;
    b->model->n_graphs = s->n_graphs;
    b->n_graph_values = s->n_graph_values;
    b->n_live = s->n_live;
    b->n_operations = s->n_operations;
}

int grow_control(struct builder *b, struct graph_value *from, struct graph_value **ret_result)
{
    struct snapshot before = snapshot(b);
    struct graph_value *result;
    bool branch = b->branches && (!b->loops || rng_percent(b->rng, 50));

    /* after a failure the arena is not rewound: lists of the graph may have been reallocated in it
     */
    if ((branch ? grow_branch(b, from, &result) : grow_loop(b, from, &result)) < 0) {
        restore(b, &before);
        return -1;
    }
    *ret_result = result;
    return 0;
}
