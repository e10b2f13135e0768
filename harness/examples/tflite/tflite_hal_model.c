#include "tflite_hal_model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_memory.h"

static const struct {
    size_t size;
    enum hal_version since;
    bool is_scalar;
} types[N_TYPES] = {
    [HAL_TYPE_FLOAT32] = { 4, HAL_1_0, true },
    [HAL_TYPE_INT32] = { 4, HAL_1_0, true },
    [HAL_TYPE_UINT32] = { 4, HAL_1_0, true },
    [HAL_TYPE_TENSOR_FLOAT32] = { 4, HAL_1_0, false },
    [HAL_TYPE_TENSOR_INT32] = { 4, HAL_1_0, false },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM] = { 1, HAL_1_0, false },
    [HAL_TYPE_BOOL] = { 1, HAL_1_2, true },
    [HAL_TYPE_TENSOR_QUANT16_SYMM] = { 2, HAL_1_2, false },
    [HAL_TYPE_TENSOR_FLOAT16] = { 2, HAL_1_2, false },
    [HAL_TYPE_TENSOR_BOOL8] = { 1, HAL_1_2, false },
    [HAL_TYPE_FLOAT16] = { 2, HAL_1_2, true },
    [HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL] = { 1, HAL_1_2, false },
    [HAL_TYPE_TENSOR_QUANT16_ASYMM] = { 2, HAL_1_2, false },
    [HAL_TYPE_TENSOR_QUANT8_SYMM] = { 1, HAL_1_2, false },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED] = { 1, HAL_1_3, false },
    [HAL_TYPE_SUBGRAPH] = { 0, HAL_1_3, true },
};

size_t element_size(int32_t type)
{
    return type >= 0 && type < N_TYPES ? types[type].size : 0;
}

bool is_scalar_type(int32_t type)
{
    return type >= 0 && type < N_TYPES && types[type].is_scalar;
}

/* Whether a version has an operation.  Codes of extensions are valid in models that name them. */
static bool has_operation(enum hal_version version, int32_t code)
{
    const int32_t last = version <= HAL_1_0   ? 28
                         : version == HAL_1_1 ? 37
                         : version == HAL_1_2 ? 94
                         : version <= HAL_FL5 ? 101
                         : version == HAL_FL6 ? 103
                                              : 105;

    return (code >= 0 && code <= last) || code == 10000 || code >> 16 || code == 20000;
}

static bool has_type(enum hal_version version, int32_t type)
{
    return (type >= 0 && type < N_TYPES && types[type].since <= version) || type == 10000 ||
           type == 10001 || type >> 16;
}

/* ---- operands */

/* What the loader reads, and the arena that it copies to. */
struct loader {
    enum hal_version version;
    const struct hal_model *from;
    struct mapping values, *pools;
    struct arena *arena;
};

static bool load_constant(struct loader *l, const struct hal_operand *o, struct value *v)
{
    const struct mapping *from = &l->values;
    uint64_t n = element_size(v->type);

    if (o->lifetime == HAL_CONSTANT_REFERENCE) {
        if (o->location.pool >= l->from->n_pools)
            return false;
        from = &l->pools[o->location.pool];
    }
    const uint8_t *bytes = bytes_at(from, &o->location);
    for (uint32_t i = 0; i < v->n_dims; i++) {
        n *= v->dims[i];
        if (n > UINT32_MAX)
            return false;
    }
    if (!bytes || (element_size(v->type) && o->location.length != n))
        return false;
    v->length = o->location.length;
    v->constant = arena_copy(l->arena, bytes, v->length, 1);
    return true;
}

/* Scales and zero points are those that the type has; others are 0. */
static bool has_valid_scale(const struct value *v)
{
    switch (v->type) {
    case HAL_TYPE_TENSOR_QUANT8_ASYMM:
        return v->scale > 0 && isfinite(v->scale) && v->zero >= 0 && v->zero <= 255;
    case HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED:
        return v->scale > 0 && isfinite(v->scale) && v->zero >= -128 && v->zero <= 127;
    case HAL_TYPE_TENSOR_QUANT16_ASYMM:
        return v->scale > 0 && isfinite(v->scale) && v->zero >= 0 && v->zero <= 65535;
    case HAL_TYPE_TENSOR_QUANT8_SYMM:
    case HAL_TYPE_TENSOR_QUANT16_SYMM: return v->scale > 0 && isfinite(v->scale) && !v->zero;
    case HAL_TYPE_TENSOR_INT32: return v->scale >= 0 && isfinite(v->scale) && !v->zero;
    case HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL:
        for (uint32_t i = 0; i < v->n_channel_scales; i++)
            if (!(v->channel_scales[i] > 0) || !isfinite(v->channel_scales[i]))
                return false;
        return v->scale == 0 && !v->zero && v->channel_dim < v->n_dims &&
               v->dims[v->channel_dim] == v->n_channel_scales;
    default: return v->type >> 16 || v->type >= 10000 || (v->scale == 0 && !v->zero);
    }
}

static bool load_operand(struct loader *l, const struct hal_operand *o, struct value *v)
{
    const bool is_per_channel = o->extra == HAL_EXTRA_CHANNEL_QUANT;

    *v = (struct value){ .type = o->type,
                         .lifetime = o->lifetime,
                         .n_dims = o->n_dims,
                         .scale = o->scale,
                         .zero = o->zero };
    if (!has_type(l->version, o->type) || o->n_dims > HAL_MAX_RANK || (o->n_dims && !o->dims) ||
        (int) o->lifetime < 0 || o->lifetime > HAL_SUBGRAPH ||
        (is_scalar_type(o->type) && o->n_dims) ||
        is_per_channel != (o->type == HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL) ||
        (o->lifetime == HAL_SUBGRAPH) != (o->type == HAL_TYPE_SUBGRAPH))
        return false;
    if (o->n_dims)
        memcpy(v->dims, o->dims, o->n_dims * sizeof(*o->dims));
    if (is_per_channel) {
        if (!o->channel_scales || o->n_channel_scales > UINT16_MAX)
            return false;
        v->channel_dim = o->channel_dim;
        v->n_channel_scales = o->n_channel_scales;
        v->channel_scales =
            arena_copy(l->arena, o->channel_scales, o->n_channel_scales, sizeof(float));
        if (!v->channel_scales)
            return false;
    }
    if (o->lifetime == HAL_SUBGRAPH) {
        if (o->location.offset >= l->from->n_referenced)
            return false;
        v->subgraph = 1 + (uint32_t) o->location.offset;
    }
    v->is_set = o->lifetime != HAL_TEMPORARY_VARIABLE && o->lifetime != HAL_SUBGRAPH_OUTPUT;
    return has_valid_scale(v) &&
           ((o->lifetime != HAL_CONSTANT_COPY && o->lifetime != HAL_CONSTANT_REFERENCE) ||
            load_constant(l, o, v));
}

/* ---- operations */

/* Checks that every operand is written only once, and before it is read. */
static bool load_operation(struct loader *l, const struct hal_operation *o, struct subgraph *g,
                           struct step *s)
{
    if ((o->n_inputs && !o->inputs) || !o->n_outputs || !o->outputs ||
        !has_operation(l->version, o->type))
        return false;
    for (uint32_t i = 0; i < o->n_inputs; i++)
        if (o->inputs[i] >= g->n_values || !g->value[o->inputs[i]].is_set)
            return false;
    for (uint32_t i = 0; i < o->n_outputs; i++) {
        if (o->outputs[i] >= g->n_values || g->value[o->outputs[i]].is_set)
            return false;
        g->value[o->outputs[i]].is_set = true;
    }
    *s =
        (struct step){ .operation = o->type,
                       .n_in = o->n_inputs,
                       .n_out = o->n_outputs,
                       .in = arena_copy(l->arena, o->inputs, o->n_inputs, sizeof(*o->inputs)),
                       .out = arena_copy(l->arena, o->outputs, o->n_outputs, sizeof(*o->outputs)) };
    return true;
}

static const uint32_t *load_ends(struct loader *l, const struct subgraph *g, const uint32_t *list,
                                 uint32_t n, enum hal_lifetime lifetime)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] >= g->n_values || g->value[list[i]].lifetime != lifetime ||
            !g->value[list[i]].is_set)
            return NULL;
    return arena_copy(l->arena, list, n, sizeof(*list));
}

static bool load_graph(struct loader *l, const struct hal_subgraph *from, struct subgraph *g)
{
    if (!from->n_operands || !from->operands || !from->n_operations || !from->operations ||
        !from->n_outputs || !from->outputs || (from->n_inputs && !from->inputs))
        return false;
    *g = (struct subgraph){ .n_values = from->n_operands,
                            .n_steps = from->n_operations,
                            .n_in = from->n_inputs,
                            .n_out = from->n_outputs,
                            .value = arena_take(l->arena, from->n_operands, sizeof(*g->value)),
                            .step = arena_take(l->arena, from->n_operations, sizeof(*g->step)) };
    if (!g->value || !g->step)
        return false;
    for (uint32_t i = 0; i < g->n_values; i++)
        if (!load_operand(l, &from->operands[i], &g->value[i]))
            return false;
    for (uint32_t i = 0; i < g->n_steps; i++)
        if (!load_operation(l, &from->operations[i], g, &g->step[i]))
            return false;
    /* Every temporary and every output is written by an operation. */
    for (uint32_t i = 0; i < g->n_values; i++)
        if (!g->value[i].is_set)
            return false;
    g->in = load_ends(l, g, from->inputs, from->n_inputs, HAL_SUBGRAPH_INPUT);
    g->out = load_ends(l, g, from->outputs, from->n_outputs, HAL_SUBGRAPH_OUTPUT);
    return g->in && g->out;
}

static bool load_graphs(struct loader *l, struct model *m)
{
    m->n_graphs = 1 + l->from->n_referenced;
    m->graph = arena_take(l->arena, m->n_graphs, sizeof(*m->graph));
    if (!m->graph || !load_graph(l, &l->from->main, &m->graph[0]))
        return false;
    for (uint32_t i = 1; i < m->n_graphs; i++)
        if (!load_graph(l, &l->from->referenced[i - 1], &m->graph[i]))
            return false;
    return true;
}

enum hal_status load_model(enum hal_version version, const struct hal_model *from,
                           struct arena *arena, struct model *ret_model)
{
    struct loader l = { .version = version, .from = from, .arena = arena };
    struct model m = { .arena = arena };
    uint32_t n = 0;

    if ((from->n_pools && !from->pools) || (from->n_referenced && !from->referenced))
        return HAL_INVALID_ARGUMENT;
    l.values =
        (struct mapping){ (uint8_t *) (uintptr_t) from->operand_values,
                          from->operand_values ? from->operand_values_length : 0, false, false };
    l.pools = arena_take(arena, from->n_pools, sizeof(*l.pools));
    while (l.pools && n < from->n_pools && map_memory(&from->pools[n], &l.pools[n]))
        n++;
    const bool is_valid = l.pools && n == from->n_pools && load_graphs(&l, &m);
    unmap_memory(l.pools, n);
    if (arena->failed)
        return HAL_GENERAL_FAILURE;
    if (!is_valid)
        return HAL_INVALID_ARGUMENT;
    *ret_model = m;
    return HAL_NONE;
}
