/* Turns a complete graph into a model: results that no operation reads become outputs, some
 * dimensions become unknown, some constants move into a memory pool. */
#include <string.h>

#include "randgraph/randgraph_internal.h"

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
        const struct graph_value *k = b->known[i];
        struct operand *o = &g.operand[i];
        bool constant = k->life == LIFE_CONSTANT_COPY || k->life == LIFE_CONSTANT_REFERENCE;
        *o = (struct operand){
            .tensor = k->t, .life = k->life, .subgraph = k->subgraph, .consumers = k->uses
        };
        for (uint32_t j = 0; j < k->t.shape.rank; j++)
            if (k->open >> j & 1)
                o->tensor.shape.dim[j] = 0;
        if (constant)
            o->length = tensor_bytes(&k->t);
        else
            o->tensor.data = NULL;
    }
    *ret_graph = g;
    return 0;
}

/* Makes some shapes unknown: the rank, or each dimension with even odds.  Inputs keep their shapes:
 * a specification has no other place for the shape of their values. */
static void hide_shapes(struct builder *b, struct graph *g)
{
    if (b->model->n_graphs > 1 || !rng_percent(b->rng, b->weights->unknown_graph))
        return;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        struct operand *o = &g->operand[i];
        const struct dtype_info *info = &dtype_info[o->tensor.dtype];
        struct shape *s = &o->tensor.shape;
        if (o->life != LIFE_TEMPORARY && o->life != LIFE_OUTPUT)
            continue;
        if (!info->tensor || info->quant == QUANT_CHANNEL ||
            !rng_percent(b->rng, b->weights->unknown_operand))
            continue;
        uint8_t without = b->edge == NO_EDGE ? b->known[i]->without : 0;
        if (b->options->max_level >= 3 && rng_percent(b->rng, 25) &&
            !(without >> VARIANT_UNKNOWN_RANK & 1))
            s->rank = 0;
        for (uint32_t j = 0; j < s->rank && !(without >> VARIANT_UNKNOWN_DIMS & 1); j++)
            if (rng_percent(b->rng, 50))
                s->dim[j] = 0;
    }
}

enum { POOL_ALIGN = 16 };

/* Moves about half of the constants into one memory pool, each aligned to POOL_ALIGN bytes. */
static int fill_pool(struct builder *b, struct graph *g)
{
    size_t size = 0;

    if (!rng_percent(b->rng, b->weights->pool_graph) ||
        (b->models && b->models->above[MODEL_POOLS]))
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

/* How many outputs may be read by operations. */
static uint32_t most_read_outputs(const struct builder *b)
{
    const uint32_t room = model_room(b, NULL, MODEL_OUTPUTS);
    const uint32_t above = b->models ? b->models->above[MODEL_READ_OUTPUTS] : 0;

    return above && above - 1 < room ? above - 1 : room;
}

int finish_example(struct builder *b, struct example *ret_example)
{
    struct arena *a = b->arena;
    struct graph_value **input =
        arena_alloc_raw(a, 2 * b->n_graph_values + 1, sizeof(struct graph_value *));
    uint32_t n_input = 0, n_output = 0, n_read = 0;

    if (!input)
        return -1;
    struct graph_value **output = input + b->n_graph_values;

    /* inputs in operand order; outputs: results that no operation reads, and a few or all of those
     * that are read */
    const uint32_t most = most_read_outputs(b);
    uint32_t extra = rng_percent(b->rng, b->weights->all_outputs) ? 100 : b->weights->extra_output;
    for (uint32_t i = 0; i < b->n_graph_values; i++) {
        struct graph_value *k = b->known[i];
        if (k->life == LIFE_INPUT)
            input[n_input++] = k;
        if (!k->result || (k->uses && (!rng_percent(b->rng, extra) || n_read == most)))
            continue;
        n_read += k->uses > 0;
        output[n_output++] = k;
    }
    TRY(finish_graph(b, input, n_input, output, n_output, &b->model->graph[0]));
    hide_shapes(b, &b->model->graph[0]);
    TRY(fill_pool(b, &b->model->graph[0]));

    struct example e = {
        .model = *b->model,
        .since = "UNKNOWN",
        .in = arena_alloc(a, n_input + 1, sizeof *e.in),
        .expected = arena_alloc(a, n_output + 1, sizeof *e.expected),
        .ignored = arena_alloc(a, n_output + 1, sizeof *e.ignored),
    };
    if (!e.in || !e.expected || !e.ignored)
        return -1;
    e.expect_failure = b->fails;
    for (uint32_t i = 0; i < n_input; i++) {
        e.in[i] = input[i]->t;
        if (input[i]->illegal)
            e.in[i].data = input[i]->illegal;
    }
    for (uint32_t i = 0; i < n_output; i++) {
        e.expected[i] = output[i]->t;
        e.expected[i].data = NULL;
    }
    *ret_example = e;
    return 0;
}
