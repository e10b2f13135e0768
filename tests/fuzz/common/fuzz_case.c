#include "tests/fuzz/common/fuzz_case.h"

#include <string.h>

#include "sim/hal.h"
#include "tests/fuzz/mutate/mutate.h"

enum { ALIGNMENT = 16 };

static void *take(void *arena, size_t size)
{
    return arena_alloc(arena, 1, size);
}

static void drop(void *arena, void *pointer)
{
    (void) arena, (void) pointer;
}

static size_t graphs_of(const Wire__Model *m)
{
    return 1 + m->n_referenced;
}

static Wire__Subgraph *graph_at(const Wire__Model *m, size_t i)
{
    return i ? m->referenced[i - 1] : m->main;
}

/* ---- sizes */

static uint64_t count_elements(const Wire__Operand *o)
{
    uint64_t n = 1;

    for (size_t i = 0; i < o->n_dims; i++)
        if (__builtin_mul_overflow(n, o->dims[i], &n))
            return UINT64_MAX;
    return n;
}

/* Bytes of a value; 0: not known, or more than a repair allows. */
static uint64_t bytes_of(const Wire__Operand *o)
{
    const struct dtype_info *info = dtype_find(o->type);
    uint64_t n = count_elements(o);

    n = info && n <= FUZZ_MAX_VALUE ? n * info->codec->size : 0;
    return n <= FUZZ_MAX_VALUE ? n : 0;
}

uint64_t fuzz_case_elements(const Wire__Model *m)
{
    uint64_t sum = 0;

    for (size_t g = 0; g < graphs_of(m); g++)
        for (size_t i = 0; i < graph_at(m, g)->n_operands; i++)
            if (__builtin_add_overflow(sum, count_elements(graph_at(m, g)->operands[i]), &sum))
                return UINT64_MAX;
    return sum;
}

/* ---- repairs */

static void repair_consumers(Wire__Subgraph *g)
{
    for (size_t i = 0; i < g->n_operands; i++)
        g->operands[i]->n_consumers = 0;
    for (size_t i = 0; i < g->n_operations; i++)
        for (size_t k = 0; k < g->operations[i]->n_inputs; k++)
            if (g->operations[i]->inputs[k] < g->n_operands)
                g->operands[g->operations[i]->inputs[k]]->n_consumers++;
}

static Wire__Location *new_location(struct arena *a)
{
    Wire__Location *l = arena_alloc(a, 1, sizeof *l);

    if (l)
        wire__location__init(l);
    return l;
}

/* Values of a wrong length get one of their own behind the others, which repeats their bytes. */
static void repair_values(Wire__Model *m, struct arena *a)
{
    ProtobufCBinaryData *old = &m->operand_values;
    uint8_t *values = arena_alloc(a, old->len + FUZZ_MAX_VALUES, 1);
    size_t n = old->len;

    if (!values)
        return;
    if (old->len)
        memcpy(values, old->data, old->len);
    for (size_t g = 0; g < graphs_of(m); g++)
        for (size_t i = 0; i < graph_at(m, g)->n_operands; i++) {
            Wire__Operand *o = graph_at(m, g)->operands[i];
            uint64_t length = o->lifetime == HAL_CONSTANT_COPY ? bytes_of(o) : 0;
            size_t at = (n + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            if (!length || (o->location && o->location->length == length) ||
                at + length > old->len + FUZZ_MAX_VALUES)
                continue;
            const uint64_t from = o->location ? o->location->offset : 0;
            if (!o->location && !(o->location = new_location(a)))
                return;
            for (uint64_t k = 0; k < length; k++)
                values[at + k] = old->len ? old->data[(from + k) % old->len] : (uint8_t) k;
            o->location->offset = at;
            o->location->length = length;
            o->location->pool = 0;
            n = at + length;
        }
    *old = (ProtobufCBinaryData){ n, values };
}

static void repair_list(const Wire__Subgraph *g, int32_t lifetime, size_t *ret_n,
                        uint32_t **ret_list, struct arena *a)
{
    uint32_t *list = arena_alloc(a, g->n_operands, sizeof *list);
    size_t n = 0;

    if (!list)
        return;
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operands[i]->lifetime == lifetime)
            list[n++] = i;
    *ret_list = list;
    *ret_n = n;
}

static void repair_results(Wire__Subgraph *g)
{
    for (size_t i = 0; i < g->n_operations; i++)
        for (size_t k = 0; k < g->operations[i]->n_outputs; k++)
            if (g->operations[i]->outputs[k] < g->n_operands)
                g->operands[g->operations[i]->outputs[k]]->n_dims = 0;
}

/* Arguments one after another in a pool. */
static void repair_arguments(const Wire__Subgraph *g, const uint32_t *list, size_t n, uint32_t pool,
                             Wire__Argument ***ret_arguments, size_t *ret_n, struct arena *a)
{
    Wire__Argument **to = arena_alloc(a, n, sizeof *to);
    uint64_t at = 0, share = n ? FUZZ_POOL / n / ALIGNMENT * ALIGNMENT : 0;

    for (size_t i = 0; to && i < n; i++) {
        uint64_t length = list[i] < g->n_operands ? bytes_of(g->operands[list[i]]) : 0;
        if (!(to[i] = arena_alloc(a, 1, sizeof *to[i])))
            return;
        wire__argument__init(to[i]);
        if (!(to[i]->location = new_location(a)))
            return;
        to[i]->location->pool = pool;
        to[i]->location->offset = at;
        to[i]->location->length = length ? length : share;
        at = (at + to[i]->location->length + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    if (to) {
        *ret_arguments = to;
        *ret_n = n;
    }
}

static Wire__RequestPool *new_pool(uint64_t offset, struct arena *a)
{
    Wire__RequestPool *p = arena_alloc(a, 1, sizeof *p);
    Wire__Memory *m = arena_alloc(a, 1, sizeof *m);

    if (!p || !m)
        return NULL;
    wire__request_pool__init(p);
    wire__memory__init(m);
    m->kind = HAL_MEMORY_ADDRESS;
    m->protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE;
    m->offset = offset;
    m->size = FUZZ_POOL;
    p->memory = m;
    return p;
}

static void repair_request(Fuzz__Case *c, struct arena *a)
{
    const Wire__Subgraph *g = c->model->main;
    Wire__Request *r = arena_alloc(a, 1, sizeof *r);
    Wire__RequestPool **pools = arena_alloc(a, 2, sizeof *pools);

    if (!r || !pools)
        return;
    wire__request__init(r);
    repair_arguments(g, g->inputs, g->n_inputs, 0, &r->inputs, &r->n_inputs, a);
    repair_arguments(g, g->outputs, g->n_outputs, 1, &r->outputs, &r->n_outputs, a);
    for (uint32_t i = 0; i < 2; i++)
        if (!(pools[i] = new_pool(i * FUZZ_POOL, a)))
            return;
    r->n_pools = 2;
    r->pools = pools;
    c->request = r;
}

static void repair(Fuzz__Case *c, struct arena *a)
{
    Wire__Subgraph *g = c->model->main;

    if (c->repairs & FUZZ_REPAIR_RESULTS)
        repair_results(g);
    for (size_t i = 0; c->repairs & FUZZ_REPAIR_CONSUMERS && i < graphs_of(c->model); i++)
        repair_consumers(graph_at(c->model, i));
    if (c->repairs & FUZZ_REPAIR_VALUES)
        repair_values(c->model, a);
    if (c->repairs & FUZZ_REPAIR_LISTS) {
        repair_list(g, HAL_SUBGRAPH_INPUT, &g->n_inputs, &g->inputs, a);
        repair_list(g, HAL_SUBGRAPH_OUTPUT, &g->n_outputs, &g->outputs, a);
    }
    if (c->repairs & FUZZ_REPAIR_REQUEST)
        repair_request(c, a);
}

/* ---- reading, mutation */

Fuzz__Case *fuzz_case_read(const uint8_t *bytes, size_t length, struct arena *a)
{
    ProtobufCAllocator allocator = { take, drop, a };
    Fuzz__Case *c = fuzz__case__unpack(&allocator, length, bytes);

    if (!c || !c->model || !c->model->main)
        return NULL;
    repair(c, a);
    return c->request ? c : NULL;
}

/* Codes of operations, then of types and lifetimes. */
static const struct mutate_type *case_type(void)
{
    enum { CODES = 256, TYPES = DT_COUNT };
    static int32_t code[CODES], dtype[TYPES];
    static const int32_t lifetime[] = { 0, 1, 2, 3, 4, 5, 6 };
    static struct mutate_values values[5];
    static const struct mutate_type type = { &fuzz__case__descriptor, values };
    const ProtobufCMessageDescriptor *operand = &wire__operand__descriptor;

    if (values[0].field)
        return &type;
    for (int i = 0; i < op_table_n && i < CODES; i++)
        code[i] = op_table[i]->code;
    for (int32_t i = 0; i < TYPES; i++)
        dtype[i] = i;
    values[0] = (struct mutate_values){
        protobuf_c_message_descriptor_get_field_by_name(&wire__operation__descriptor, "type"),
        (uint32_t) (op_table_n < CODES ? op_table_n : CODES), code
    };
    values[1] =
        (struct mutate_values){ protobuf_c_message_descriptor_get_field_by_name(operand, "type"),
                                TYPES, dtype };
    values[2] = (struct mutate_values){ protobuf_c_message_descriptor_get_field_by_name(operand,
                                                                                        "lifetime"),
                                        COUNT(lifetime), lifetime };
    return &type;
}

size_t fuzz_case_mutate(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_message(case_type(), bytes, length, max, seed);
}

size_t fuzz_case_cross(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b, uint8_t *to,
                       size_t max, unsigned seed)
{
    return cross_messages(case_type(), a, n_a, b, n_b, to, max, seed);
}
