#include "runtime/compile/model_part.h"

#include <stdlib.h>

#include "golden/model/extension.h"

struct part_maker {
    const ANeuralNetworksModel *m;
    struct arena *a;
    struct why *w;
    struct model to;
    ANeuralNetworksMemory **pool;
    uint32_t *graph_number, *pool_number; /* 1 + index in `to`; 0: not in it yet */
    bool *prefix_used;                    /* by extension of m */
};

/* A graph while it is copied. */
struct graph_copy {
    const struct graph *from;
    struct graph to;
    uint32_t *number;    /* by operand of `from`: 1 + index in `to`; 0: not in it yet */
    unsigned char *life; /* by operand of `from`: LIFE_INPUT or LIFE_OUTPUT where it is one of the
                            part; else 0 */
};

static int put_graph(struct part_maker *p, const struct part_request *r, uint32_t at);

static struct part_request whole_graph(const struct graph *g, uint32_t index)
{
    return (struct part_request){ .graph = index,
                                  .n_operations = g->n_operations,
                                  .n_inputs = g->n_inputs,
                                  .n_outputs = g->n_outputs,
                                  .input = g->input,
                                  .output = g->output };
}

/* The number in the part of graph `from`, which is added unless it is in it. */
static int put_subgraph(struct part_maker *p, uint32_t from, uint32_t *ret_number)
{
    if (!p->graph_number[from]) {
        struct part_request all = whole_graph(&p->m->model.graph[from], from);
        uint32_t at = p->to.n_graphs++;
        p->graph_number[from] = at + 1;
        TRY(put_graph(p, &all, at));
    }
    *ret_number = p->graph_number[from] - 1;
    return 0;
}

static uint32_t put_pool(struct part_maker *p, uint32_t from)
{
    if (!p->pool_number[from]) {
        uint32_t at = p->to.n_pools++;
        p->to.pool[at] = p->m->model.pool[from];
        if (p->m->pool)
            p->pool[at] = p->m->pool[from];
        p->pool_number[from] = at + 1;
    }
    return p->pool_number[from] - 1;
}

static void note_prefix(struct part_maker *p, uint32_t prefix)
{
    for (uint32_t i = 0; prefix && i < p->m->model.n_extensions; i++)
        if (p->m->model.extension[i].prefix == prefix)
            p->prefix_used[i] = true;
}

static void note_extension_of(struct part_maker *p, const struct operand *o)
{
    uint16_t number;
    note_prefix(p, o->tensor.dtype == DT_FOREIGN ? extension_prefix_of(o->foreign)
                                                 : extension_of_type(o->tensor.dtype, &number));
}

/* Copies operand `from`, unless it has been, and gives its number in the part. */
static int put_operand(struct part_maker *p, struct graph_copy *c, uint32_t from,
                       uint32_t *ret_number)
{
    if (!c->number[from]) {
        struct operand o = c->from->operand[from];
        if (c->life[from])
            o.life = (enum lifetime) c->life[from];
        else if (o.life == LIFE_INPUT || o.life == LIFE_OUTPUT)
            o.life = LIFE_TEMPORARY;
        if (o.life == LIFE_CONSTANT_REFERENCE)
            o.pool = put_pool(p, o.pool);
        if (o.life == LIFE_SUBGRAPH)
            TRY(put_subgraph(p, o.subgraph, &o.subgraph));
        note_extension_of(p, &o);
        c->to.operand[c->to.n_operands] = o;
        c->number[from] = ++c->to.n_operands;
    }
    *ret_number = c->number[from] - 1;
    return 0;
}

static int put_list(struct part_maker *p, struct graph_copy *c, const uint32_t *from, uint32_t n,
                    uint32_t **ret_list)
{
    uint32_t *to = arena_alloc(p->a, n, sizeof *to);
    if (!to)
        return why_no_memory(p->w);
    for (uint32_t i = 0; i < n; i++)
        TRY(put_operand(p, c, from[i], &to[i]));
    *ret_list = to;
    return 0;
}

static int put_operations(struct part_maker *p, struct graph_copy *c, const struct part_request *r)
{
    for (uint32_t i = 0; i < r->n_operations; i++) {
        const struct operation *from = &c->from->operation[r->operation ? r->operation[i] : i];
        struct operation *to = &c->to.operation[i];
        *to = *from;
        note_prefix(p, extension_prefix_of(from->code));
        TRY(put_list(p, c, from->in, from->n_in, &to->in));
        TRY(put_list(p, c, from->out, from->n_out, &to->out));
    }
    TRY(put_list(p, c, r->input, r->n_inputs, &c->to.input));
    return put_list(p, c, r->output, r->n_outputs, &c->to.output);
}

/* At most as many operands as the operations and lists have places. */
static size_t most_operands(const struct graph *g, const struct part_request *r)
{
    size_t n = (size_t) r->n_inputs + r->n_outputs;
    for (uint32_t i = 0; i < r->n_operations; i++) {
        const struct operation *o = &g->operation[r->operation ? r->operation[i] : i];
        n += (size_t) o->n_in + o->n_out;
    }
    return n < g->n_operands ? n : g->n_operands;
}

/* r->operation NULL: all. */
static int put_graph(struct part_maker *p, const struct part_request *r, uint32_t at)
{
    const struct graph *g = &p->m->model.graph[r->graph];
    struct graph_copy c = { .from = g };
    int failed = -1;

    c.to.n_operations = r->n_operations;
    c.to.n_inputs = r->n_inputs;
    c.to.n_outputs = r->n_outputs;
    c.to.operand = arena_alloc(p->a, most_operands(g, r), sizeof *c.to.operand);
    c.to.operation = arena_alloc(p->a, r->n_operations, sizeof *c.to.operation);
    c.number = calloc((size_t) g->n_operands + 1, sizeof *c.number);
    c.life = calloc((size_t) g->n_operands + 1, sizeof *c.life);
    if (c.to.operand && c.to.operation && c.number && c.life) {
        for (uint32_t i = 0; i < r->n_inputs; i++)
            c.life[r->input[i]] = LIFE_INPUT;
        for (uint32_t i = 0; i < r->n_outputs; i++)
            c.life[r->output[i]] = LIFE_OUTPUT;
        failed = put_operations(p, &c, r);
        p->to.graph[at] = c.to;
    } else {
        why_no_memory(p->w);
    }
    free(c.number);
    free(c.life);
    return failed;
}

static int put_extensions(struct part_maker *p)
{
    const struct model *m = &p->m->model;
    p->to.extension = arena_alloc(p->a, m->n_extensions, sizeof *p->to.extension);
    if (!p->to.extension)
        return why_no_memory(p->w);
    for (uint32_t i = 0; i < m->n_extensions; i++)
        if (p->prefix_used[i])
            p->to.extension[p->to.n_extensions++] = m->extension[i];
    return 0;
}

int model_part_make(const ANeuralNetworksModel *m, const struct part_request *request,
                    struct arena *a, struct model_part *ret_part, struct why *w)
{
    const struct model *from = &m->model;
    struct part_maker p = { .m = m, .a = a, .w = w, .to.relaxed = from->relaxed };

    p.to.graph = arena_alloc(a, from->n_graphs, sizeof *p.to.graph);
    p.to.pool = arena_alloc(a, from->n_pools, sizeof *p.to.pool);
    p.pool = arena_alloc(a, from->n_pools, sizeof(*p.pool));
    p.graph_number = arena_alloc(a, from->n_graphs, sizeof *p.graph_number);
    p.pool_number = arena_alloc(a, from->n_pools, sizeof *p.pool_number);
    p.prefix_used = arena_alloc(a, from->n_extensions, sizeof *p.prefix_used);
    if (!p.to.graph || !p.to.pool || !p.pool || !p.graph_number || !p.pool_number || !p.prefix_used)
        return why_no_memory(w);
    p.to.n_graphs = 1;
    TRY(put_graph(&p, request, 0));
    TRY(put_extensions(&p));
    model_count_consumers(&p.to);
    *ret_part = (struct model_part){ .model = p.to, .pool = m->pool ? p.pool : NULL };
    return 0;
}

int model_part_whole(const ANeuralNetworksModel *m, uint32_t graph, struct arena *a,
                     struct model_part *ret_part, struct why *w)
{
    struct part_request all = whole_graph(&m->model.graph[graph], graph);
    return model_part_make(m, &all, a, ret_part, w);
}
