#include "tflite_hal_model.h"

#include <string.h>

#include "hal_validate.h"
#include "tflite_failure.h"
#include "tflite_memory.h"

static const struct {
    size_t size;
    bool is_scalar;
} types[N_TYPES] = {
    [HAL_TYPE_FLOAT32] = { 4, true },
    [HAL_TYPE_INT32] = { 4, true },
    [HAL_TYPE_UINT32] = { 4, true },
    [HAL_TYPE_TENSOR_FLOAT32] = { 4, false },
    [HAL_TYPE_TENSOR_INT32] = { 4, false },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM] = { 1, false },
    [HAL_TYPE_BOOL] = { 1, true },
    [HAL_TYPE_TENSOR_QUANT16_SYMM] = { 2, false },
    [HAL_TYPE_TENSOR_FLOAT16] = { 2, false },
    [HAL_TYPE_TENSOR_BOOL8] = { 1, false },
    [HAL_TYPE_FLOAT16] = { 2, true },
    [HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL] = { 1, false },
    [HAL_TYPE_TENSOR_QUANT16_ASYMM] = { 2, false },
    [HAL_TYPE_TENSOR_QUANT8_SYMM] = { 1, false },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED] = { 1, false },
    [HAL_TYPE_SUBGRAPH] = { 0, true },
};

size_t element_size(int32_t type)
{
    return type >= 0 && type < N_TYPES ? types[type].size : 0;
}

bool is_scalar_type(int32_t type)
{
    return type >= 0 && type < N_TYPES && types[type].is_scalar;
}

/* ---- operands */

/* What the loader reads, and the arena that it copies to. */
struct loader {
    const struct hal_model *from;
    struct mapping *pools;
    struct arena *arena;
};

static void load_constant(const struct loader *l, const struct hal_operand *o, struct value *v)
{
    const uint8_t *values = o->lifetime == HAL_CONSTANT_REFERENCE
                                ? l->pools[o->location.pool].address
                                : l->from->operand_values;

    v->length = o->location.length;
    v->constant = arena_copy(l->arena, values + o->location.offset, v->length, 1);
}

static void load_operand(const struct loader *l, const struct hal_operand *o, struct value *v)
{
    *v = (struct value){ .type = o->type,
                         .lifetime = o->lifetime,
                         .n_dims = o->n_dims,
                         .scale = o->scale,
                         .zero = o->zero };
    if (o->n_dims)
        memcpy(v->dims, o->dims, o->n_dims * sizeof(*o->dims));
    if (o->extra == HAL_EXTRA_CHANNEL_QUANT) {
        v->channel_dim = o->channel_dim;
        v->n_channel_scales = o->n_channel_scales;
        v->channel_scales =
            arena_copy(l->arena, o->channel_scales, o->n_channel_scales, sizeof(float));
    }
    if (o->lifetime == HAL_SUBGRAPH)
        v->subgraph = 1 + (uint32_t) o->location.offset;
    if (o->lifetime == HAL_CONSTANT_COPY || o->lifetime == HAL_CONSTANT_REFERENCE)
        load_constant(l, o, v);
}

/* ---- graphs */

static void load_graph(const struct loader *l, const struct hal_subgraph *from, struct subgraph *g)
{
    *g =
        (struct subgraph){ .n_values = from->n_operands,
                           .n_steps = from->n_operations,
                           .n_in = from->n_inputs,
                           .n_out = from->n_outputs,
                           .value = arena_take(l->arena, from->n_operands, sizeof(*g->value)),
                           .step = arena_take(l->arena, from->n_operations, sizeof(*g->step)),
                           .in = arena_copy(l->arena, from->inputs, from->n_inputs, sizeof(*g->in)),
                           .out = arena_copy(l->arena, from->outputs, from->n_outputs,
                                             sizeof(*g->out)) };
    for (uint32_t i = 0; g->value && i < g->n_values; i++)
        load_operand(l, &from->operands[i], &g->value[i]);
    for (uint32_t i = 0; g->step && i < g->n_steps; i++) {
        const struct hal_operation *o = &from->operations[i];
        g->step[i] =
            (struct step){ .operation = o->type,
                           .n_in = o->n_inputs,
                           .n_out = o->n_outputs,
                           .in = arena_copy(l->arena, o->inputs, o->n_inputs, sizeof(*o->inputs)),
                           .out = arena_copy(l->arena, o->outputs, o->n_outputs,
                                             sizeof(*o->outputs)) };
    }
}

static void load_graphs(const struct loader *l, struct model *m)
{
    m->n_graphs = 1 + l->from->n_referenced;
    m->graph = arena_take(l->arena, m->n_graphs, sizeof(*m->graph));
    for (uint32_t i = 0; m->graph && i < m->n_graphs; i++)
        load_graph(l, i ? &l->from->referenced[i - 1] : &l->from->main, &m->graph[i]);
}

enum hal_status load_model(enum hal_version version, const struct hal_model *from,
                           struct arena *arena, struct model *ret_model)
{
    struct loader l = { .from = from, .arena = arena };
    struct model m = { .arena = arena };
    char text[HAL_TEXT_BYTES];
    enum hal_status status =
        failure_of(hal_validate_model(version, from, text, sizeof(text)), text);
    uint32_t n = 0;

    if (status != HAL_NONE)
        return status;
    l.pools = arena_take(arena, from->n_pools, sizeof(*l.pools));
    while (l.pools && n < from->n_pools && map_memory(&from->pools[n], &l.pools[n]))
        n++;
    if (n < from->n_pools)
        status = HAL_INVALID_ARGUMENT;
    else
        load_graphs(&l, &m);
    unmap_memory(l.pools, n);
    if (arena->failed)
        return HAL_GENERAL_FAILURE;
    if (status == HAL_NONE)
        *ret_model = m;
    return status;
}
