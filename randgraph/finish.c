/* Turns a complete graph into a model: results that no operation reads become outputs, some
 * dimensions become unknown, some constants move into a memory pool. */
#include <string.h>

#include "randgraph/randgraph_internal.h"

static bool is_constant(const struct graph_value *k)
{
    return k->life == LIFE_CONSTANT_COPY || k->life == LIFE_CONSTANT_REFERENCE;
}

static void finish_operand(const struct graph_value *k, struct operand *ret_operand)
{
    struct operand *o = ret_operand;

    *o = (struct operand){ .tensor = k->t, .life = k->life, .subgraph = k->subgraph };
    for (uint32_t i = 0; i < k->t.shape.rank; i++)
        if (k->open >> i & 1)
            o->tensor.shape.dim[i] = 0;
    if (is_constant(k))
        o->length = tensor_bytes(&k->t);
    else
        o->tensor.data = NULL;
}

static uint32_t *indexes(struct arena *a, struct graph_value *const *k, uint32_t n)
{
    uint32_t *list = arena_alloc_raw(a, n + 1, sizeof *list);

    for (uint32_t i = 0; list && i < n; i++)
        list[i] = (uint32_t) k[i]->at;
    return list;
}

int finish_graph(struct builder *b, struct graph_value *const *input, uint32_t n_input,
                 struct graph_value *const *output, uint32_t n_output, struct graph *ret_graph)
{
    struct graph g = {
        .operand = arena_alloc_raw(b->arena, b->n_graph_values + 1, sizeof *g.operand),
        .operation = b->operation,
        .input = indexes(b->arena, input, n_input),
        .output = indexes(b->arena, output, n_output),
        .n_operands = b->n_graph_values,
        .n_operations = b->n_operations,
        .n_inputs = n_input,
        .n_outputs = n_output,
    };

    if (!g.operand || !g.input || !g.output)
        return -1;
    for (uint32_t i = 0; i < n_output; i++)
        output[i]->life = LIFE_OUTPUT;
    for (uint32_t i = 0; i < b->n_graph_values; i++) {
        finish_operand(b->known[i], &g.operand[i]);
        g.operand[i].consumers = b->known[i]->uses;
    }
    *ret_graph = g;
    return 0;
}

/* Makes the whole shape unknown, or each dimension with even odds. */
static void hide_shape(struct builder *b, struct shape *s)
{
    if (b->options->max_level >= 3 && rng_percent(b->rng, 25)) {
        s->rank = 0;
        return;
    }
    for (uint32_t i = 0; i < s->rank; i++)
        if (rng_percent(b->rng, 50))
            s->dim[i] = 0;
}

/* Inputs keep their shapes: a specification has no other place for the shape of their values. */
static bool may_be_unknown(const struct operand *o)
{
    const struct dtype_info *info = &dtype_info[o->tensor.dtype];

    if (o->life != LIFE_TEMPORARY && o->life != LIFE_OUTPUT)
        return false;
    return info->tensor && info->quant != QUANT_CHANNEL;
}

static void hide_shapes(struct builder *b, struct graph *g)
{
    if (b->model->n_graphs > 1 || !rng_percent(b->rng, b->weights->unknown_graph))
        return;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        struct operand *o = &g->operand[i];
        if (may_be_unknown(o) && rng_percent(b->rng, b->weights->unknown_operand))
            hide_shape(b, &o->tensor.shape);
    }
}

enum { POOL_ALIGN = 16 };

/* Moves about half of the constants into one memory pool, each aligned to POOL_ALIGN bytes. */
static int fill_pool(struct builder *b, struct graph *g)
{
    size_t size = 0;

    if (!rng_percent(b->rng, b->weights->pool_graph))
        return 0;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        struct operand *o = &g->operand[i];
        if (o->life != LIFE_CONSTANT_COPY || o->length == 0 || rng_percent(b->rng, 50))
            continue;
        o->life = LIFE_CONSTANT_REFERENCE;
        size += (o->length + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
    }
    if (size == 0)
        return 0;
    struct pool *pool = arena_alloc(b->arena, 1, sizeof *pool);
    char *bytes = arena_alloc(b->arena, size, 1);
    if (!pool || !bytes)
        return -1;
    *pool = (struct pool){ bytes, size };
    for (uint32_t i = 0; i < g->n_operands; i++) {
        struct operand *o = &g->operand[i];
        if (o->life != LIFE_CONSTANT_REFERENCE)
            continue;
        memcpy(bytes, o->tensor.data, o->length);
        o->tensor.data = bytes;
        bytes += (o->length + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
    }
    b->model->pool = pool;
    b->model->n_pools = 1;
    return 0;
}

/* Inputs in operand order; outputs: results that no operation reads, and a few that are read. */
static void choose_inputs_outputs(struct builder *b, struct graph_value **input, uint32_t *n_input,
                                  struct graph_value **output, uint32_t *n_output)
{
    for (uint32_t i = 0; i < b->n_graph_values; i++) {
        struct graph_value *k = b->known[i];
        if (k->life == LIFE_INPUT)
            input[(*n_input)++] = k;
        if (k->result && (k->uses == 0 || rng_percent(b->rng, b->weights->extra_output)))
            output[(*n_output)++] = k;
    }
}

static int finish_values(struct builder *b, struct graph_value *const *input, uint32_t n_input,
                         struct graph_value *const *output, uint32_t n_output, struct example *e)
{
    e->in = arena_alloc(b->arena, n_input + 1, sizeof *e->in);
    e->expected = arena_alloc(b->arena, n_output + 1, sizeof *e->expected);
    e->ignored = arena_alloc(b->arena, n_output + 1, sizeof *e->ignored);
    if (!e->in || !e->expected || !e->ignored)
        return -1;
    for (uint32_t i = 0; i < n_input; i++)
        e->in[i] = input[i]->t;
    for (uint32_t i = 0; i < n_output; i++) {
        e->expected[i] = output[i]->t;
        e->expected[i].data = NULL;
    }
    return 0;
}

int finish_example(struct builder *b, struct example *ret_example)
{
    struct arena *a = b->arena;
    struct graph_value **input =
        arena_alloc_raw(a, 2 * b->n_graph_values + 1, sizeof(struct graph_value *));
    uint32_t n_input = 0, n_output = 0;

    if (!input)
        return -1;
    struct graph_value **output = input + b->n_graph_values;
    choose_inputs_outputs(b, input, &n_input, output, &n_output);
    TRY(finish_graph(b, input, n_input, output, n_output, &b->model->graph[0]));
    hide_shapes(b, &b->model->graph[0]);
    TRY(fill_pool(b, &b->model->graph[0]));
    struct example e = { .model = *b->model, .since = "UNKNOWN" };
    TRY(finish_values(b, input, n_input, output, n_output, &e));
    *ret_example = e;
    return 0;
}
