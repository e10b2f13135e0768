#include "sim/isolation/hal_copy.h"

#include <string.h>

/* Replaces *at, an array of n elements of `size` bytes, by a copy. */
static bool copy_array(struct arena *a, const void *at, uint64_t n, size_t size, const void **ret)
{
    void *copy;

    if (!n) {
        *ret = NULL;
        return true;
    }
    copy = n <= SIZE_MAX / size ? arena_copy(a, at, n * size) : NULL;
    *ret = copy;
    return copy;
}
#define COPY(a, member, n)                                                                         \
    copy_array(a, member, n, sizeof(*(member)), (const void **) (uintptr_t) & (member))

static bool copy_operand(struct arena *a, struct hal_operand *o)
{
    const uint8_t *extension = o->extension;

    if (!COPY(a, o->dims, o->n_dims) || !COPY(a, o->channel_scales, o->n_channel_scales) ||
        !COPY(a, extension, o->extension_length))
        return false;
    o->extension = extension;
    return true;
}

static bool copy_subgraph(struct arena *a, struct hal_subgraph *g)
{
    if (!COPY(a, g->operands, g->n_operands) || !COPY(a, g->operations, g->n_operations) ||
        !COPY(a, g->inputs, g->n_inputs) || !COPY(a, g->outputs, g->n_outputs))
        return false;
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (!copy_operand(a, (struct hal_operand *) (uintptr_t) &g->operands[i]))
            return false;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct hal_operation *o = (struct hal_operation *) (uintptr_t) &g->operations[i];
        if (!COPY(a, o->inputs, o->n_inputs) || !COPY(a, o->outputs, o->n_outputs))
            return false;
    }
    return true;
}

static bool copy_pools(struct arena *a, struct hal_model *m)
{
    if (!COPY(a, m->pools, m->n_pools))
        return false;
    for (uint32_t i = 0; i < m->n_pools; i++) {
        struct hal_memory *pool = (struct hal_memory *) (uintptr_t) &m->pools[i];
        pool->address = pool->address ? arena_copy(a, pool->address, pool->size) : NULL;
        if (!pool->address)
            return false;
        pool->kind = HAL_MEMORY_ADDRESS; /* the copy has no descriptor */
        pool->fd = -1;
        pool->offset = 0;
    }
    return true;
}

static bool copy_prefixes(struct arena *a, struct hal_model *m)
{
    if (!COPY(a, m->extension_name_to_prefix, m->n_extension_prefixes))
        return false;
    for (uint32_t i = 0; i < m->n_extension_prefixes; i++) {
        struct hal_extension_prefix *p =
            (struct hal_extension_prefix *) (uintptr_t) &m->extension_name_to_prefix[i];
        p->name = arena_strdup(a, p->name);
        if (!p->name)
            return false;
    }
    return true;
}

bool hal_copy_model(const struct hal_model *m, struct arena *a, struct hal_model *ret_model)
{
    struct hal_model copy = *m;

    if (!copy_subgraph(a, &copy.main) || !COPY(a, copy.referenced, copy.n_referenced) ||
        !COPY(a, copy.operand_values, copy.operand_values_length) || !copy_pools(a, &copy) ||
        !copy_prefixes(a, &copy))
        return false;
    for (uint32_t i = 0; i < copy.n_referenced; i++)
        if (!copy_subgraph(a, (struct hal_subgraph *) (uintptr_t) &copy.referenced[i]))
            return false;
    *ret_model = copy;
    return true;
}

static bool copy_arguments(struct arena *a, struct hal_argument *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!COPY(a, args[i].dims, args[i].n_dims))
            return false;
    return true;
}

bool hal_copy_request(const struct hal_request *r, struct arena *a, struct hal_request *ret_request)
{
    struct hal_request copy = *r;

    if (!COPY(a, copy.inputs, copy.n_inputs) || !COPY(a, copy.outputs, copy.n_outputs) ||
        !COPY(a, copy.pools, copy.n_pools) ||
        !copy_arguments(a, (struct hal_argument *) (uintptr_t) copy.inputs, copy.n_inputs) ||
        !copy_arguments(a, (struct hal_argument *) (uintptr_t) copy.outputs, copy.n_outputs))
        return false;
    *ret_request = copy;
    return true;
}
