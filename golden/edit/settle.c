/* Makes a changed example consistent again. */
#include <string.h>

#include "golden/edit/edit.h"

/* ---- removing what is not used */

/* Marks the operands of a graph that something reads, or that its signature has. */
static void mark_read(const struct graph *g, bool is_main, bool *read)
{
    memset(read, 0, g->n_operands);
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            read[g->operation[i].in[k]] = true;
    for (uint32_t k = 0; k < g->n_outputs; k++)
        read[g->output[k]] = true;
    for (uint32_t k = 0; k < g->n_inputs && !is_main; k++)
        read[g->input[k]] = true;
}

/* True: some were removed, which may make others useless. */
static bool remove_operations(struct graph *g, const bool *read)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        bool used = false;
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            used = used || read[g->operation[i].out[k]];
        if (used)
            g->operation[n++] = g->operation[i];
    }
    bool removed = n < g->n_operations;
    g->n_operations = n;
    return removed;
}

static void renumber(uint32_t *list, uint32_t n, const uint32_t *number)
{
    for (uint32_t i = 0; i < n; i++)
        list[i] = number[list[i]];
}

static void remove_inputs(struct edit *c, struct graph *g, const bool *read)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < g->n_inputs; k++)
        if (read[g->input[k]]) {
            c->e.in[n] = c->e.in[k];
            g->input[n++] = g->input[k];
        }
    g->n_inputs = n;
}

static int tidy_graph(struct edit *c, uint32_t index)
{
    struct graph *g = &c->e.model.graph[index];
    bool *read = arena_alloc(c->arena, g->n_operands + 1, sizeof *read);
    uint32_t *number = arena_alloc(c->arena, g->n_operands + 1, sizeof *number);
    if (!read || !number)
        return -1;
    do
        mark_read(g, index == 0, read);
    while (remove_operations(g, read));
    if (index == 0)
        remove_inputs(c, g, read);
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            read[g->operation[i].out[k]] = true;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (read[i]) {
            number[i] = n;
            g->operand[n++] = g->operand[i];
        }
    g->n_operands = n;
    renumber(g->input, g->n_inputs, number);
    renumber(g->output, g->n_outputs, number);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        renumber(g->operation[i].in, g->operation[i].n_in, number);
        renumber(g->operation[i].out, g->operation[i].n_out, number);
    }
    return 0;
}

static void mark_graphs(const struct model *m, uint32_t index, bool *used)
{
    if (used[index])
        return;
    used[index] = true;
    for (uint32_t i = 0; i < m->graph[index].n_operands; i++)
        if (m->graph[index].operand[i].life == LIFE_SUBGRAPH)
            mark_graphs(m, m->graph[index].operand[i].subgraph, used);
}

static int tidy(struct edit *c)
{
    struct model *m = &c->e.model;
    bool *used = arena_alloc(c->arena, m->n_graphs, sizeof *used);
    uint32_t *number = arena_alloc(c->arena, m->n_graphs, sizeof *number), n = 0;
    if (!used || !number)
        return -1;
    for (uint32_t g = 0; g < m->n_graphs; g++)
        TRY(tidy_graph(c, g));
    mark_graphs(m, 0, used);
    for (uint32_t g = 0; g < m->n_graphs; g++)
        if (used[g]) {
            number[g] = n;
            m->graph[n++] = m->graph[g];
        }
    m->n_graphs = n;
    for (uint32_t g = 0; g < n; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (m->graph[g].operand[i].life == LIFE_SUBGRAPH)
                m->graph[g].operand[i].subgraph = number[m->graph[g].operand[i].subgraph];
    model_count_consumers(m);
    return 0;
}

/* ---- shapes and values */

/* The shapes that the reference computes, by graph and operand. */
struct observation {
    const struct edit *c;
    const struct model *m;
    struct shape **shape;
};

static void observe(const struct exec_event *event, void *user)
{
    struct observation *s = user;
    const struct operation *o = &s->m->graph[event->graph].operation[event->operation];
    struct shape *shape = s->shape[event->graph];
    for (uint32_t k = 0; k < o->n_in; k++)
        if (event->call->arg[k])
            shape[o->in[k]] = event->call->arg[k]->shape;
    for (uint32_t k = 0; k < o->n_out && !event->call->nchw; k++) /* of NCHW: views */
        shape[o->out[k]] = event->call->out[k]->shape;
    if (s->c->on_operation)
        s->c->on_operation(event, s->c->user);
}

static int run_reference(const struct edit *c, struct shape **ret_shapes, struct why *w)
{
    const struct model *m = &c->e.model;
    struct observation s = { .c = c, .m = m, .shape = ret_shapes };
    struct exec_options options = {
        .arena = c->arena, .on_operation = observe, .user = &s, .max_iterations = 1000
    };
    struct plan *plan;
    struct result result;
    for (uint32_t g = 0; g < m->n_graphs; g++)
        if (!(s.shape[g] = arena_alloc(c->arena, m->graph[g].n_operands + 1, sizeof **s.shape)))
            return why_no_memory(w);
    TRY(plan_new(m, &plan, w));
    int failed = plan_run(plan, c->e.in, &options, &result, w);
    plan_free(plan);
    if (failed < 0 && c->e.expect_failure && w->code == WHY_EXECUTION)
        return 0;
    if (failed < 0)
        return -1;
    for (uint32_t k = 0; k < result.n; k++)
        s.shape[0][m->graph[0].output[k]] = result.out[k].shape;
    result_done(&result);
    REQUIRE(w, !c->e.expect_failure, "the execution must fail, and does not");
    return 0;
}

static bool is_written(const struct operand *o, uint32_t graph)
{
    return o->life == LIFE_TEMPORARY || o->life == LIFE_OUTPUT || (graph && o->life == LIFE_INPUT);
}

/* The shape to declare: dimensions that were unknown stay so, unless they are to be specified. */
static struct shape declare(const struct edit *c, const struct shape *was,
                            const struct shape *computed)
{
    struct shape s = *computed;
    if (c->specify)
        return s;
    if (!was->rank || (c->e.expect_failure && !computed->rank))
        return *was;
    for (uint32_t d = 0; d < s.rank && was->rank == s.rank; d++)
        if (!was->dim[d])
            s.dim[d] = 0;
    return s;
}

static int infer_shapes(struct edit *c, struct why *w)
{
    struct model *m = &c->e.model;
    struct shape **is = arena_alloc(c->arena, m->n_graphs, sizeof *is);
    struct shape **was = arena_alloc(c->arena, m->n_graphs, sizeof *was);
    if (!is || !was)
        return why_no_memory(w);
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        was[g] = arena_alloc(c->arena, m->graph[g].n_operands + 1, sizeof **was);
        if (!was[g])
            return why_no_memory(w);
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++) {
            struct operand *o = &m->graph[g].operand[i];
            was[g][i] = o->tensor.shape;
            if (is_written(o, g) && dtype_info[o->tensor.dtype].tensor)
                o->tensor.shape = (struct shape){ 0 };
        }
    }
    TRY(run_reference(c, is, w));
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (is_written(&m->graph[g].operand[i], g))
                m->graph[g].operand[i].tensor.shape = declare(c, &was[g][i], &is[g][i]);
    for (uint32_t k = 0; k < m->graph[0].n_inputs && c->specify; k++)
        m->graph[0].operand[m->graph[0].input[k]].tensor.shape = c->e.in[k].shape;
    return 0;
}

int edit_settle(struct edit *c, struct why *w)
{
    struct graph *g = &c->e.model.graph[0];
    const bool has_inputs = g->n_inputs;
    if (tidy(c) < 0)
        return why_no_memory(w);
    REQUIRE(w, g->n_operations && g->n_outputs && (g->n_inputs || !has_inputs),
            "nothing is left of the operations, inputs or outputs");
    TRY(infer_shapes(c, w));
    TRY(model_prepare(&c->e.model, NULL, w)); /* that it can be executed has been seen */
    c->e.expected = arena_alloc(c->arena, g->n_outputs, sizeof *c->e.expected);
    if (!c->e.expected)
        return why_no_memory(w);
    for (uint32_t k = 0; k < g->n_outputs; k++)
        c->e.expected[k] = g->operand[g->output[k]].tensor;
    return 0;
}
