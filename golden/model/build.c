#include "golden/model/build.h"

#include <stdlib.h>
#include <string.h>

static void *must(void *p)
{
    if (!p)
        abort();
    return p;
}

void build_init(struct build *b, uint32_t n_graphs)
{
    *b = (struct build){ .arena = must(arena_new(0)) };
    b->model.graph = must(arena_alloc(b->arena, n_graphs, sizeof(struct graph)));
    b->model.n_graphs = n_graphs;
    for (uint32_t i = 0; i < n_graphs; i++) {
        struct graph *g = &b->model.graph[i];
        g->operand = must(arena_alloc(b->arena, BUILD_MAX, sizeof *g->operand));
        g->operation = must(arena_alloc(b->arena, BUILD_MAX, sizeof *g->operation));
        g->input = must(arena_alloc(b->arena, BUILD_MAX, sizeof *g->input));
        g->output = must(arena_alloc(b->arena, BUILD_MAX, sizeof *g->output));
    }
    build_graph(b, 0);
}

void build_done(struct build *b)
{
    arena_free(b->arena);
}

void build_graph(struct build *b, uint32_t index)
{
    b->graph = &b->model.graph[index];
}

uint32_t build_quant(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape,
                     float scale, int32_t zero)
{
    struct graph *g = b->graph;
    uint32_t i = g->n_operands++;

    g->operand[i] = (struct operand){
        .tensor = { .dtype = dtype, .shape = shape, .scale = scale, .zero = zero },
        .life = life,
    };
    if (life == LIFE_INPUT)
        g->input[g->n_inputs++] = i;
    if (life == LIFE_OUTPUT)
        g->output[g->n_outputs++] = i;
    return i;
}

uint32_t build_operand(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape)
{
    return build_quant(b, life, dtype, shape, 0, 0);
}

uint32_t build_constant(struct build *b, enum dtype dtype, struct shape shape, const void *data)
{
    uint32_t i = build_operand(b, LIFE_CONSTANT_COPY, dtype, shape);
    struct operand *o = &b->graph->operand[i];

    o->length = tensor_bytes(&o->tensor);
    o->tensor.data = must(arena_copy(b->arena, data, o->length));
    return i;
}

uint32_t build_int(struct build *b, int32_t value)
{
    return build_constant(b, DT_INT32, (struct shape){ 0 }, &value);
}

uint32_t build_subgraph(struct build *b, uint32_t graph)
{
    uint32_t i = build_operand(b, LIFE_SUBGRAPH, DT_MODEL, (struct shape){ 0 });

    b->graph->operand[i].subgraph = graph;
    return i;
}

void build_operation(struct build *b, const char *name, const uint32_t *in, uint32_t n_in,
                     const uint32_t *out, uint32_t n_out)
{
    const struct op *op = must((void *) op_by_name(name));

    build_code(b, op->code, in, n_in, out, n_out);
}

void build_code(struct build *b, int32_t code, const uint32_t *in, uint32_t n_in,
                const uint32_t *out, uint32_t n_out)
{
    b->graph->operation[b->graph->n_operations++] = (struct operation){
        .code = code,
        .n_in = n_in,
        .n_out = n_out,
        .in = must(arena_copy(b->arena, in, n_in * sizeof *in)),
        .out = must(arena_copy(b->arena, out, n_out * sizeof *out)),
    };
}
