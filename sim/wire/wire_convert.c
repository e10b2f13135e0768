/* Converts the structures of sim/hal.h to messages and back. */
#include <inttypes.h>
#include <string.h>

#include "sim/wire/wire.h"

/* ---- NULL arrays */

static int check_operand_lists(const struct hal_operand *h, struct why *w)
{
    bool channels = h->extra == HAL_EXTRA_CHANNEL_QUANT, data = h->extra == HAL_EXTRA_EXTENSION;

    REQUIRE(w, h->dims || !h->n_dims, "the list of dimensions is NULL");
    REQUIRE(w, h->channel_scales || !channels || !h->n_channel_scales,
            "the list of channel scales is NULL");
    REQUIRE(w, h->extension || !data || !h->extension_length, "the extension data is NULL");
    return 0;
}

static int check_lists(const struct hal_subgraph *h, struct why *w)
{
    REQUIRE(w, h->operands || !h->n_operands, "the list of operands is NULL");
    REQUIRE(w, h->operations || !h->n_operations, "the list of operations is NULL");
    REQUIRE(w, (h->inputs || !h->n_inputs) && (h->outputs || !h->n_outputs),
            "a list of input or output indexes is NULL");
    for (uint32_t i = 0; i < h->n_operands; i++)
        if (check_operand_lists(&h->operands[i], w) < 0)
            return why_prefix(w, "operand %u", i);
    for (uint32_t i = 0; i < h->n_operations; i++) {
        const struct hal_operation *o = &h->operations[i];
        REQUIRE(w, (o->inputs || !o->n_inputs) && (o->outputs || !o->n_outputs),
                "operation %u: a list of input or output indexes is NULL", i);
    }
    return 0;
}

int wire_check_prefixes(uint32_t n, const struct hal_extension_prefix *prefixes, struct why *w)
{
    REQUIRE(w, prefixes || !n, "the list of extension names is NULL");
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(w, prefixes[i].name, "extension %u has no name", i);
    return 0;
}

int wire_check_model(const struct hal_model *h, struct why *w)
{
    REQUIRE(w, h->referenced || !h->n_referenced, "the list of subgraphs is NULL");
    REQUIRE(w, h->pools || !h->n_pools, "the list of pools is NULL");
    REQUIRE(w, h->operand_values || !h->operand_values_length, "the operand values are NULL");
    TRY(wire_check_prefixes(h->n_extension_prefixes, h->extension_name_to_prefix, w));
    TRY(check_lists(&h->main, w));
    for (uint32_t i = 0; i < h->n_referenced; i++)
        TRY(check_lists(&h->referenced[i], w));
    return 0;
}

static int check_dimensions(const struct hal_argument *h, uint32_t n, struct why *w)
{
    REQUIRE(w, h || !n, "the list of arguments is NULL");
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(w, h[i].dims || !h[i].n_dims, "argument %u: the list of dimensions is NULL", i);
    return 0;
}

int wire_check_request(const struct hal_request *hal, struct why *w)
{
    REQUIRE(w, hal->pools || !hal->n_pools, "the list of pools is NULL");
    TRY(check_dimensions(hal->inputs, hal->n_inputs, w));
    return check_dimensions(hal->outputs, hal->n_outputs, w);
}

/* Allocates and initialises a message; NULL: out of memory. */
#define NEW(a, type, init)                                                                         \
    memcpy_message(arena_alloc((a), 1, sizeof(type)), &(type) init, sizeof(type))

static void *memcpy_message(void *to, const void *from, size_t size)
{
    return to ? memcpy(to, from, size) : NULL;
}

/* ---- to messages */

/* Messages point to the caller's arrays of numbers; protobuf-c's members are not const. */
static uint32_t *unconst(const uint32_t *list)
{
    return (uint32_t *) (uintptr_t) list;
}

static Wire__Location *put_location(const struct hal_location *l, struct arena *a)
{
    Wire__Location *m = NEW(a, Wire__Location, WIRE__LOCATION__INIT);

    if (m) {
        m->pool = l->pool;
        m->offset = l->offset;
        m->length = l->length;
        m->padding = l->padding;
    }
    return m;
}

static Wire__Operand *put_operand(const struct hal_operand *h, struct arena *a)
{
    Wire__Operand *m = NEW(a, Wire__Operand, WIRE__OPERAND__INIT);
    const struct hal_location none = { 0 };

    if (!m)
        return NULL;
    m->type = h->type;
    m->n_dims = h->n_dims;
    m->dims = unconst(h->dims);
    m->n_consumers = h->n_consumers;
    m->scale = h->scale;
    m->zero = h->zero;
    m->lifetime = (int32_t) h->lifetime;
    m->extra = (int32_t) h->extra;
    m->channel_dim = h->channel_dim;
    m->n_channel_scales = h->extra == HAL_EXTRA_CHANNEL_QUANT ? h->n_channel_scales : 0;
    m->channel_scales = (float *) (uintptr_t) h->channel_scales;
    if (h->extra == HAL_EXTRA_EXTENSION)
        m->extension =
            (ProtobufCBinaryData){ h->extension_length, (uint8_t *) (uintptr_t) h->extension };
    if (memcmp(&h->location, &none, sizeof(none)) != 0 &&
        !(m->location = put_location(&h->location, a)))
        return NULL;
    return m;
}

static Wire__Subgraph *put_subgraph(const struct hal_subgraph *h, struct arena *a)
{
    Wire__Subgraph *m = NEW(a, Wire__Subgraph, WIRE__SUBGRAPH__INIT);

    if (!m)
        return NULL;
    m->operands = arena_alloc(a, h->n_operands, sizeof(*m->operands));
    m->operations = arena_alloc(a, h->n_operations, sizeof(*m->operations));
    if (!m->operands || !m->operations)
        return NULL;
    m->n_inputs = h->n_inputs;
    m->inputs = unconst(h->inputs);
    m->n_outputs = h->n_outputs;
    m->outputs = unconst(h->outputs);
    for (; m->n_operands < h->n_operands; m->n_operands++)
        if (!(m->operands[m->n_operands] = put_operand(&h->operands[m->n_operands], a)))
            return NULL;
    for (; m->n_operations < h->n_operations; m->n_operations++) {
        const struct hal_operation *from = &h->operations[m->n_operations];
        Wire__Operation *to = NEW(a, Wire__Operation, WIRE__OPERATION__INIT);
        if (!to)
            return NULL;
        to->type = from->type;
        to->n_inputs = from->n_inputs;
        to->inputs = unconst(from->inputs);
        to->n_outputs = from->n_outputs;
        to->outputs = unconst(from->outputs);
        m->operations[m->n_operations] = to;
    }
    return m;
}

int wire_encode_memory(const struct hal_memory *hal, uint64_t staged, struct arena *a,
                       struct wire_fds *fds, Wire__Memory **ret_memory, struct why *w)
{
    Wire__Memory *m = NEW(a, Wire__Memory, WIRE__MEMORY__INIT);

    if (!m)
        return why_no_memory(w);
    REQUIRE(w, hal->kind != HAL_MEMORY_ADDRESS || (hal->address && hal->size),
            "the address of a memory is NULL or its size 0");
    m->kind = (uint32_t) hal->kind;
    m->protection = hal->protection;
    m->offset = hal->kind == HAL_MEMORY_ADDRESS ? staged : hal->offset;
    m->size = hal->size;
    if (hal->kind != HAL_MEMORY_ADDRESS) {
        TRY(wire_find_or_put_fd(fds, hal->fd, &m->fd, w));
        REQUIRE(w, m->fd, "descriptor %d is not open", hal->fd);
    }
    *ret_memory = m;
    return 0;
}

int wire_encode_prefixes(uint32_t n, const struct hal_extension_prefix *prefixes, struct arena *a,
                         Wire__Prefix ***ret_prefixes, struct why *w)
{
    Wire__Prefix **list = arena_alloc(a, n, sizeof(*list)), *m = arena_alloc(a, n, sizeof(*m));

    if (!list || !m)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = &m[i];
        wire__prefix__init(&m[i]);
        m[i].name = (char *) (uintptr_t) prefixes[i].name;
        m[i].prefix = prefixes[i].prefix;
    }
    *ret_prefixes = list;
    return 0;
}

int wire_encode_model(const struct hal_model *hal, struct arena *a, struct wire_fds *fds,
                      Wire__Model **ret_model, struct why *w)
{
    Wire__Model *m = NEW(a, Wire__Model, WIRE__MODEL__INIT);

    if (!m || !(m->main = put_subgraph(&hal->main, a)))
        return why_no_memory(w);
    m->referenced = arena_alloc(a, hal->n_referenced, sizeof(*m->referenced));
    m->pools = arena_alloc(a, hal->n_pools, sizeof(*m->pools));
    if (!m->referenced || !m->pools)
        return why_no_memory(w);
    for (; m->n_referenced < hal->n_referenced; m->n_referenced++)
        if (!(m->referenced[m->n_referenced] = put_subgraph(&hal->referenced[m->n_referenced], a)))
            return why_no_memory(w);
    for (; m->n_pools < hal->n_pools; m->n_pools++)
        TRY(wire_encode_memory(&hal->pools[m->n_pools], 0, a, fds, &m->pools[m->n_pools], w));
    m->operand_values = (ProtobufCBinaryData){ hal->operand_values_length,
                                               (uint8_t *) (uintptr_t) hal->operand_values };
    m->relaxed = hal->relaxed;
    m->n_prefixes = hal->n_extension_prefixes;
    TRY(wire_encode_prefixes(hal->n_extension_prefixes, hal->extension_name_to_prefix, a,
                             &m->prefixes, w));
    *ret_model = m;
    return 0;
}

static Wire__Argument **put_arguments(const struct hal_argument *h, uint32_t n, struct arena *a)
{
    Wire__Argument **list = arena_alloc(a, n, sizeof(*list));

    for (uint32_t i = 0; list && i < n; i++) {
        Wire__Argument *m = NEW(a, Wire__Argument, WIRE__ARGUMENT__INIT);
        if (!m || !(m->location = put_location(&h[i].location, a)))
            return NULL;
        m->has_no_value = h[i].has_no_value;
        m->n_dims = h[i].n_dims;
        m->dims = unconst(h[i].dims);
        list[i] = m;
    }
    return list;
}

int wire_encode_request(const struct hal_request *hal, const uint64_t *staged, struct arena *a,
                        struct wire_fds *fds, Wire__Request **ret_request, struct why *w)
{
    Wire__Request *m = NEW(a, Wire__Request, WIRE__REQUEST__INIT);

    if (!m || !(m->inputs = put_arguments(hal->inputs, hal->n_inputs, a)) ||
        !(m->outputs = put_arguments(hal->outputs, hal->n_outputs, a)) ||
        !(m->pools = arena_alloc(a, hal->n_pools, sizeof(*m->pools))))
        return why_no_memory(w);
    m->n_inputs = hal->n_inputs;
    m->n_outputs = hal->n_outputs;
    for (; m->n_pools < hal->n_pools; m->n_pools++) {
        const struct hal_request_pool *h = &hal->pools[m->n_pools];
        Wire__RequestPool *p = NEW(a, Wire__RequestPool, WIRE__REQUEST_POOL__INIT);
        if (!p)
            return why_no_memory(w);
        p->is_token = h->is_token;
        p->token = h->token;
        if (!h->is_token)
            TRY(wire_encode_memory(&h->memory, staged ? staged[m->n_pools] : 0, a, fds, &p->memory,
                                   w));
        m->pools[m->n_pools] = p;
    }
    *ret_request = m;
    return 0;
}

/* ---- from messages */

_Static_assert(WIRE_MAX <= UINT32_MAX, "a list has no more elements than its message has bytes");

static struct hal_location take_location(const Wire__Location *m)
{
    return m ? (struct hal_location){ m->pool, m->offset, m->length, m->padding }
             : (struct hal_location){ 0 };
}

static void take_operand(const Wire__Operand *m, struct hal_operand *h)
{
    *h = (struct hal_operand){ .type = m->type,
                               .n_dims = (uint32_t) m->n_dims,
                               .dims = m->dims,
                               .n_consumers = m->n_consumers,
                               .scale = m->scale,
                               .zero = m->zero,
                               .lifetime = (enum hal_lifetime) m->lifetime,
                               .location = take_location(m->location),
                               .extra = (enum hal_extra_kind) m->extra,
                               .channel_dim = m->channel_dim,
                               .n_channel_scales = (uint32_t) m->n_channel_scales,
                               .channel_scales = m->channel_scales,
                               .extension = m->extension.data,
                               .extension_length = m->extension.len };
}

static int take_subgraph(const Wire__Subgraph *m, struct arena *a, struct hal_subgraph *ret_hal,
                         struct why *w)
{
    struct hal_operand *operands = arena_alloc(a, m->n_operands, sizeof(*operands));
    struct hal_operation *operations = arena_alloc(a, m->n_operations, sizeof(*operations));

    if (!operands || !operations)
        return why_no_memory(w);
    for (size_t i = 0; i < m->n_operands; i++)
        take_operand(m->operands[i], &operands[i]);
    for (size_t i = 0; i < m->n_operations; i++) {
        const Wire__Operation *o = m->operations[i];
        operations[i] = (struct hal_operation){ o->type, (uint32_t) o->n_inputs,
                                                (uint32_t) o->n_outputs, o->inputs, o->outputs };
    }
    *ret_hal = (struct hal_subgraph){ (uint32_t) m->n_operands,
                                      (uint32_t) m->n_operations,
                                      (uint32_t) m->n_inputs,
                                      (uint32_t) m->n_outputs,
                                      operands,
                                      operations,
                                      m->inputs,
                                      m->outputs };
    return 0;
}

int wire_decode_memory(const Wire__Memory *m, const struct wire_fds *fds,
                       const struct wire_staging *s, struct hal_memory *ret_hal, struct why *w)
{
    struct hal_memory h = { .kind = (enum hal_memory_kind) m->kind,
                            .protection = m->protection,
                            .fd = wire_fd(fds, m->fd),
                            .offset = m->offset,
                            .size = m->size };

    if (m->kind == HAL_MEMORY_ADDRESS) {
        REQUIRE(w, s && s->address && m->offset <= s->size && m->size <= s->size - m->offset,
                "%" PRIu64 " bytes at %" PRIu64 " exceed the staging memory", m->size, m->offset);
        h.address = s->address + m->offset;
        h.offset = 0;
    }
    *ret_hal = h;
    return 0;
}

int wire_decode_prefixes(size_t n, Wire__Prefix *const *m, struct arena *a,
                         const struct hal_extension_prefix **ret_prefixes, struct why *w)
{
    struct hal_extension_prefix *prefixes = arena_alloc(a, n, sizeof(*prefixes));

    if (!prefixes)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++) {
        REQUIRE(w, m[i]->prefix <= UINT16_MAX, "extension prefix %u, above 65535", m[i]->prefix);
        prefixes[i] = (struct hal_extension_prefix){ m[i]->name, (uint16_t) m[i]->prefix };
    }
    *ret_prefixes = prefixes;
    return 0;
}

int wire_decode_model(const Wire__Model *m, const struct wire_fds *fds, struct arena *a,
                      struct hal_model *ret_hal, struct why *w)
{
    struct hal_subgraph *referenced = arena_alloc(a, m->n_referenced, sizeof(*referenced));
    struct hal_model h = { .relaxed = m->relaxed,
                           .operand_values = m->operand_values.data,
                           .operand_values_length = m->operand_values.len };

    REQUIRE(w, m->main, "a model without a main graph");
    if (!referenced)
        return why_no_memory(w);
    TRY(take_subgraph(m->main, a, &h.main, w));
    for (size_t i = 0; i < m->n_referenced; i++)
        TRY(take_subgraph(m->referenced[i], a, &referenced[i], w));
    h.n_referenced = (uint32_t) m->n_referenced;
    h.referenced = referenced;

    struct hal_memory *pools = arena_alloc(a, m->n_pools, sizeof(*pools));
    if (!pools)
        return why_no_memory(w);
    for (size_t i = 0; i < m->n_pools; i++)
        TRY(wire_decode_memory(m->pools[i], fds, NULL, &pools[i], w));
    h.n_pools = (uint32_t) m->n_pools;
    h.pools = pools;

    h.n_extension_prefixes = (uint32_t) m->n_prefixes;
    TRY(wire_decode_prefixes(m->n_prefixes, m->prefixes, a, &h.extension_name_to_prefix, w));
    *ret_hal = h;
    return 0;
}

static struct hal_argument *take_arguments(Wire__Argument *const *m, size_t n, struct arena *a)
{
    struct hal_argument *h = arena_alloc(a, n, sizeof(*h));

    for (size_t i = 0; h && i < n; i++)
        h[i] = (struct hal_argument){ m[i]->has_no_value, take_location(m[i]->location),
                                      (uint32_t) m[i]->n_dims, m[i]->dims };
    return h;
}

int wire_decode_request(const Wire__Request *m, const struct wire_fds *fds,
                        const struct wire_staging *s, struct arena *a, struct hal_request *ret_hal,
                        struct why *w)
{
    struct hal_request_pool *pools = arena_alloc(a, m->n_pools, sizeof(*pools));
    struct hal_argument *in = take_arguments(m->inputs, m->n_inputs, a);
    struct hal_argument *out = take_arguments(m->outputs, m->n_outputs, a);

    if (!pools || !in || !out)
        return why_no_memory(w);
    for (size_t i = 0; i < m->n_pools; i++) {
        const Wire__RequestPool *p = m->pools[i];
        pools[i] = (struct hal_request_pool){ .is_token = p->is_token, .token = p->token };
        REQUIRE(w, p->is_token || p->memory, "pool %zu has neither memory nor a token", i);
        if (!p->is_token)
            TRY(wire_decode_memory(p->memory, fds, s, &pools[i].memory, w));
    }
    *ret_hal = (struct hal_request){
        (uint32_t) m->n_inputs, (uint32_t) m->n_outputs, (uint32_t) m->n_pools, in, out, pools
    };
    return 0;
}
