/* golden model -> HAL model */
#include "sim/hal/convert.h"

#include <string.h>

/* Alignment of values in operand_values, sufficient for every element type. */
enum { VALUE_ALIGNMENT = 16 };

struct to_hal {
    struct arena *a;
    uint8_t *values; /* operand_values; NULL while their size is being computed */
    uint64_t values_length;
    struct why *w;
};

/* Reserves space for a value, copies it if operand_values is allocated, and returns its offset. */
static uint64_t put_value(struct to_hal *t, const struct operand *o)
{
    uint64_t at = (t->values_length + VALUE_ALIGNMENT - 1) & ~(uint64_t) (VALUE_ALIGNMENT - 1);

    if (t->values && o->length)
        memcpy(t->values + at, o->tensor.data, o->length);
    t->values_length = at + o->length;
    return at;
}

static int convert_operand(struct to_hal *t, const struct model *m, const struct operand *o,
                           struct hal_operand *ret)
{
    const struct tensor *x = &o->tensor;
    struct hal_operand h = {
        .type = extension_codes_hal_type(o),
        .n_dims = x->shape.rank,
        .dims = x->shape.dim,
        .scale = x->scale,
        .zero = x->zero,
        .lifetime = (enum hal_lifetime) o->life,
    };

    if (x->n_channels) {
        h.extra = HAL_EXTRA_CHANNEL_QUANT;
        h.channel_dim = x->channel_dim;
        h.n_channel_scales = x->n_channels;
        h.channel_scales = x->channel_scale;
    } else if (x->extension_length) {
        h.extra = HAL_EXTRA_EXTENSION;
        h.extension = x->extension;
        h.extension_length = x->extension_length;
    }
    switch (o->life) {
    case LIFE_CONSTANT_COPY:
        h.location.offset = put_value(t, o);
        h.location.length = o->length;
        break;
    case LIFE_CONSTANT_REFERENCE: {
        if (o->pool >= m->n_pools)
            return why_fail(t->w, WHY_INVALID, "constant in pool %u of %u", o->pool, m->n_pools);
        const uint8_t *base = m->pool[o->pool].data, *data = x->data;
        h.location.pool = o->pool;
        h.location.offset = o->length ? (uint64_t) (data - base) : 0;
        h.location.length = o->length;
        break;
    }
    case LIFE_SUBGRAPH: h.location.offset = o->subgraph - 1; break;
    default: break;
    }
    *ret = h;
    return 0;
}

/* Whether no operand that the operation reads is still to be written by another. */
static bool is_ready(const struct operation *o, const bool *pending, uint32_t n_operands)
{
    for (uint32_t i = 0; i < o->n_in; i++)
        if (o->in[i] < n_operands && pending[o->in[i]])
            return false;
    return true;
}

static void put_operation(const struct operation *from, struct hal_operation *to, bool *pending,
                          uint32_t n_operands)
{
    *to = (struct hal_operation){ .type = extension_codes_hal_operation(from->code),
                                  .n_inputs = from->n_in,
                                  .n_outputs = from->n_out,
                                  .inputs = from->in,
                                  .outputs = from->out };
    for (uint32_t i = 0; i < from->n_out; i++)
        if (from->out[i] < n_operands)
            pending[from->out[i]] = false;
}

/* Topological sort that keeps the given order where possible.  Operations of a cycle come last; the
 * driver rejects them. */
static int order_operations(struct to_hal *t, const struct graph *g,
                            const struct hal_operation **ret_operations)
{
    struct hal_operation *to = arena_alloc(t->a, g->n_operations, sizeof(*to));
    bool *pending = arena_alloc(t->a, g->n_operands, sizeof(*pending));
    bool *done = arena_alloc(t->a, g->n_operations, sizeof(*done));
    uint32_t n = 0, n_before;

    if (!to || !pending || !done)
        return why_no_memory_for(t->w, "a model of the HAL");
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            if (g->operation[i].out[k] < g->n_operands)
                pending[g->operation[i].out[k]] = true;
    do {
        n_before = n;
        for (uint32_t i = 0; i < g->n_operations; i++) {
            if (done[i] || !is_ready(&g->operation[i], pending, g->n_operands))
                continue;
            put_operation(&g->operation[i], &to[n++], pending, g->n_operands);
            done[i] = true;
        }
    } while (n > n_before);
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!done[i])
            put_operation(&g->operation[i], &to[n++], pending, g->n_operands);
    *ret_operations = to;
    return 0;
}

static int convert_graph(struct to_hal *t, const struct model *m, const struct graph *g,
                         struct hal_subgraph *ret)
{
    struct hal_operand *operands = arena_alloc(t->a, g->n_operands, sizeof(*operands));

    if (!operands)
        return why_no_memory_for(t->w, "a model of the HAL");
    for (uint32_t i = 0; i < g->n_operands; i++)
        TRY(convert_operand(t, m, &g->operand[i], &operands[i]));
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] < g->n_operands)
                operands[g->operation[i].in[k]].n_consumers++;
    *ret = (struct hal_subgraph){
        .n_operands = g->n_operands,
        .operands = operands,
        .n_operations = g->n_operations,
        .n_inputs = g->n_inputs,
        .inputs = g->input,
        .n_outputs = g->n_outputs,
        .outputs = g->output,
    };
    return order_operations(t, g, &ret->operations);
}

int convert_to_hal(const struct model *m, struct arena *a, struct hal_model *ret_hal, struct why *w)
{
    struct to_hal t = { .a = a, .w = w };
    struct hal_model h = { .relaxed = m->relaxed };

    REQUIRE(w, m->n_graphs > 0, "a model without a main graph");

    /* The size of operand_values, into which convert_graph() puts the constants by copy. */
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (m->graph[g].operand[i].life == LIFE_CONSTANT_COPY)
                put_value(&t, &m->graph[g].operand[i]);
    h.operand_values_length = t.values_length;
    t.values = arena_alloc(a, (size_t) t.values_length, 1);
    if (!t.values)
        return why_no_memory_for(w, "a model of the HAL");
    h.operand_values = t.values;
    t.values_length = 0;

    struct hal_memory *pools = arena_alloc(a, m->n_pools, sizeof(*pools));
    struct hal_extension_prefix *prefixes = arena_alloc(a, m->n_extensions, sizeof(*prefixes));
    struct hal_subgraph *referenced = arena_alloc(a, m->n_graphs, sizeof(*referenced));
    if (!pools || !prefixes || !referenced)
        return why_no_memory_for(w, "a model of the HAL");
    for (uint32_t i = 0; i < m->n_pools; i++)
        pools[i] = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                        .protection = HAL_MEMORY_READ,
                                        .address = (void *) (uintptr_t) m->pool[i].data,
                                        .fd = -1,
                                        .size = m->pool[i].length };
    h.n_pools = m->n_pools;
    h.pools = pools;
    for (uint32_t i = 0; i < m->n_extensions; i++)
        prefixes[i] = (struct hal_extension_prefix){ m->extension[i].name, m->extension[i].prefix };
    h.n_extension_prefixes = m->n_extensions;
    h.extension_name_to_prefix = prefixes;
    TRY(convert_graph(&t, m, &m->graph[0], &h.main));
    for (uint32_t i = 1; i < m->n_graphs; i++)
        TRY(convert_graph(&t, m, &m->graph[i], &referenced[i - 1]));
    h.n_referenced = m->n_graphs - 1;
    h.referenced = referenced;
    *ret_hal = h;
    return 0;
}
