#include "sim/wire/wire_records.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

/* ---- rows; TYPE: the structure that they belong to */

/* WIRE_FILES are arrays of int; other arrays of numbers are unsigned or float. */
#define KIND(member)                                                                               \
    _Generic(((struct TYPE *) 0)->member,                                                          \
        bool: WIRE_BOOL,                                                                           \
        uint16_t: WIRE_16,                                                                         \
        int32_t: WIRE_32,                                                                          \
        uint32_t: WIRE_32,                                                                         \
        float: WIRE_32,                                                                            \
        uint64_t: WIRE_64,                                                                         \
        const char *: WIRE_TEXT,                                                                   \
        const uint32_t *: WIRE_NUMBERS,                                                            \
        const float *: WIRE_NUMBERS,                                                               \
        const uint8_t *: WIRE_BYTES,                                                               \
        const void *: WIRE_BYTES,                                                                  \
        const int *: WIRE_FILES)
#define SIZE(member)  sizeof(((struct TYPE *) 0)->member)
#define COUNT(number) .count_at = offsetof(struct TYPE, number), .count_size = SIZE(number)
#define WHEN(other, value)                                                                         \
    .when_at = offsetof(struct TYPE, other), .when_size = SIZE(other), .when = (value)

#define NAMED(name, member, ...)                                                                   \
    {                                                                                              \
        name, KIND(member), offsetof(struct TYPE, member), __VA_ARGS__                             \
    }
#define MEMBER(member)                                                                             \
    {                                                                                              \
#member, KIND(member), offsetof(struct TYPE, member)                                       \
    }
#define ARRAY(member, ...)                                                                         \
    {                                                                                              \
#member, KIND(member), offsetof(struct TYPE, member), __VA_ARGS__                          \
    }
#define ONE(member, ...)                                                                           \
    {                                                                                              \
#member, WIRE_ONE, offsetof(struct TYPE, member), __VA_ARGS__                              \
    }
#define LIST(name, member, count, record)                                                          \
    {                                                                                              \
        name, WIRE_LIST, offsetof(struct TYPE, member), COUNT(count), .of = &(record)              \
    }

#define RECORD(type, message, rows)                                                                \
    {                                                                                              \
#type, sizeof(struct type), &(message), sizeof(rows) / sizeof(*(rows)), rows, NULL, NULL   \
    }

#define TYPE hal_location
static const struct wire_member location_rows[] = { MEMBER(pool), MEMBER(offset), MEMBER(length),
                                                    MEMBER(padding) };
static const struct wire_record location_record =
    RECORD(hal_location, wire__location__descriptor, location_rows);
#undef TYPE

#define TYPE hal_operand
static const struct wire_member operand_rows[] = {
    MEMBER(type),
    ARRAY(dims, COUNT(n_dims)),
    MEMBER(n_consumers),
    MEMBER(scale),
    MEMBER(zero),
    MEMBER(lifetime),
    ONE(location, .of = &location_record),
    MEMBER(extra),
    MEMBER(channel_dim),
    ARRAY(channel_scales, COUNT(n_channel_scales), WHEN(extra, HAL_EXTRA_CHANNEL_QUANT)),
    ARRAY(extension, COUNT(extension_length), WHEN(extra, HAL_EXTRA_EXTENSION)),
};
static const struct wire_record operand_record =
    RECORD(hal_operand, wire__operand__descriptor, operand_rows);
#undef TYPE

#define TYPE hal_operation
static const struct wire_member operation_rows[] = { MEMBER(type), ARRAY(inputs, COUNT(n_inputs)),
                                                     ARRAY(outputs, COUNT(n_outputs)) };
static const struct wire_record operation_record =
    RECORD(hal_operation, wire__operation__descriptor, operation_rows);
#undef TYPE

#define TYPE hal_subgraph
static const struct wire_member subgraph_rows[] = {
    LIST("operands", operands, n_operands, operand_record),
    LIST("operations", operations, n_operations, operation_record),
    ARRAY(inputs, COUNT(n_inputs)),
    ARRAY(outputs, COUNT(n_outputs)),
};
static const struct wire_record subgraph_record =
    RECORD(hal_subgraph, wire__subgraph__descriptor, subgraph_rows);
#undef TYPE

#define TYPE hal_extension_prefix
static const struct wire_member prefix_rows[] = { MEMBER(name), MEMBER(prefix) };
static const struct wire_record prefix_record =
    RECORD(hal_extension_prefix, wire__prefix__descriptor, prefix_rows);
#undef TYPE

#define TYPE hal_model
static const struct wire_member model_rows[] = {
    ONE(main, .of = &subgraph_record),
    LIST("referenced", referenced, n_referenced, subgraph_record),
    ARRAY(operand_values, COUNT(operand_values_length)),
    LIST("pools", pools, n_pools, wire_memory_record),
    MEMBER(relaxed),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, prefix_record),
};
const struct wire_record wire_model_record = RECORD(hal_model, wire__model__descriptor, model_rows);
#undef TYPE

#define TYPE hal_token_value
static const struct wire_member token_value_rows[] = { MEMBER(token), ARRAY(value, COUNT(length)) };
static const struct wire_record token_value_record =
    RECORD(hal_token_value, wire__token_value__descriptor, token_value_rows);
#undef TYPE

#define TYPE hal_argument
static const struct wire_member argument_rows[] = {
    MEMBER(has_no_value),
    ONE(location, .of = &location_record),
    ARRAY(dims, COUNT(n_dims)),
};
static const struct wire_record argument_record =
    RECORD(hal_argument, wire__argument__descriptor, argument_rows);
#undef TYPE

#define TYPE hal_request_pool
static const struct wire_member request_pool_rows[] = {
    MEMBER(is_token),
    MEMBER(token),
    ONE(memory, .of = &wire_memory_record, WHEN(is_token, false)),
};
static const struct wire_record request_pool_record =
    RECORD(hal_request_pool, wire__request_pool__descriptor, request_pool_rows);
#undef TYPE

#define TYPE hal_request
static const struct wire_member request_rows[] = {
    LIST("inputs", inputs, n_inputs, argument_record),
    LIST("outputs", outputs, n_outputs, argument_record),
    LIST("pools", pools, n_pools, request_pool_record),
};
const struct wire_record wire_request_record =
    RECORD(hal_request, wire__request__descriptor, request_rows);
#undef TYPE

#define TYPE hal_execution_config
static const struct wire_member execution_rows[] = {
    MEMBER(measure),
    MEMBER(deadline),
    MEMBER(loop_timeout),
    LIST("hints", hints, n_hints, token_value_record),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, prefix_record),
};
const struct wire_record wire_execution_config_record =
    RECORD(hal_execution_config, wire__execution_config__descriptor, execution_rows);
#undef TYPE

#define TYPE hal_prepare_config
static const struct wire_member prepare_rows[] = {
    MEMBER(preference),
    MEMBER(priority),
    MEMBER(deadline),
    NAMED("model_cache", cache.model, COUNT(cache.n_model)),
    NAMED("data_cache", cache.data, COUNT(cache.n_data)),
    { "token", WIRE_TOKEN, offsetof(struct TYPE, cache.token) },
    LIST("hints", hints, n_hints, token_value_record),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, prefix_record),
};
const struct wire_record wire_prepare_config_record =
    RECORD(hal_prepare_config, wire__prepare_config__descriptor, prepare_rows);
#undef TYPE

#define TYPE hal_buffer_role
static const struct wire_member role_rows[] = { MEMBER(model_index), MEMBER(io_index),
                                                MEMBER(probability) };
const struct wire_record wire_role_record =
    RECORD(hal_buffer_role, wire__role__descriptor, role_rows);
#undef TYPE

const struct wire_record *const wire_records[] = { &location_record,
                                                   &operand_record,
                                                   &operation_record,
                                                   &subgraph_record,
                                                   &prefix_record,
                                                   &wire_model_record,
                                                   &token_value_record,
                                                   &argument_record,
                                                   &request_pool_record,
                                                   &wire_request_record,
                                                   &wire_execution_config_record,
                                                   &wire_prepare_config_record,
                                                   &wire_role_record,
                                                   &wire_memory_record,
                                                   NULL };

/* ---- members */

_Static_assert(WIRE_MAX <= UINT32_MAX, "a list has no more elements than its message has bytes");

static uint64_t number_at(const void *structure, uint16_t at, uint16_t size)
{
    const char *from = (const char *) structure + at;
    uint64_t eight = 0;
    uint32_t four = 0;

    if (size == 1)
        return *(const uint8_t *) from;
    if (size == sizeof(four))
        return memcpy(&four, from, sizeof(four)), four;
    return memcpy(&eight, from, sizeof(eight)), eight;
}

static uint64_t count_of(const struct wire_member *m, const void *structure)
{
    return number_at(structure, m->count_at, m->count_size);
}

static void set_count(const struct wire_member *m, void *structure, size_t n)
{
    char *to = (char *) structure + m->count_at;
    const uint64_t eight = n;
    const uint32_t four = (uint32_t) n;

    if (m->count_size == sizeof(four))
        memcpy(to, &four, sizeof(four));
    else
        memcpy(to, &eight, sizeof(eight));
}

static bool is_present(const struct wire_member *m, const void *structure)
{
    return !m->when_size || number_at(structure, m->when_at, m->when_size) == m->when;
}

/* An array of the structure, which may be NULL only if it has no elements. */
static int array_of(const struct wire_member *m, const void *structure, void **ret, uint64_t *ret_n,
                    struct why *w)
{
    memcpy(ret, (const char *) structure + m->at, sizeof(*ret));
    *ret_n = count_of(m, structure);
    REQUIRE(w, *ret || !*ret_n, "%s is NULL, with %" PRIu64 " elements", m->name, *ret_n);
    return 0;
}

int wire_check_lists(const struct wire_record *r, const void *from, struct why *w)
{
    uint64_t n;
    void *list;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->member[i].kind == WIRE_LIST)
            TRY(array_of(&r->member[i], from, &list, &n, w));
    return 0;
}

/* ---- to messages */

static int put_into(const struct wire_record *r, const void *from, struct wire_passing *p,
                    ProtobufCMessage *to, struct why *w);

int wire_put(const struct wire_record *r, const void *from, struct wire_passing *p,
             void *ret_message, struct why *w)
{
    ProtobufCMessage *m = arena_alloc_raw(p->arena, 1, r->message->sizeof_message);

    if (!m)
        return why_no_memory(w);
    TRY(put_into(r, from, p, m, w));
    memcpy(ret_message, &m, sizeof(m));
    return 0;
}

int wire_put_list(const struct wire_record *r, const void *from, uint32_t n, struct wire_passing *p,
                  void *ret_list, struct why *w)
{
    const size_t size = r->message->sizeof_message;
    void **list = arena_alloc_raw(p->arena, n, sizeof(*list) + size); /* and the messages */
    char *messages = list ? (char *) (list + n) : NULL;

    if (!list)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = messages + i * size;
        p->index = i;
        if (put_into(r, (const char *) from + i * r->size, p, list[i], w) < 0)
            return why_prefix(w, "element %u", i);
    }
    memcpy(ret_list, &list, sizeof(list));
    return 0;
}

static int put_files(const int *files, uint32_t n, struct wire_passing *p, void *ret_names,
                     struct why *w)
{
    uint32_t *names = arena_alloc(p->arena, n, sizeof(*names));

    if (!names)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++)
        TRY(wire_find_or_put_fd(p->fds, files[i], &names[i], w));
    memcpy(ret_names, &names, sizeof(names));
    return 0;
}

static int put_array(const struct wire_member *m, const ProtobufCFieldDescriptor *f,
                     const void *from, struct wire_passing *p, char *to, struct why *w)
{
    uint64_t n;
    void *list;

    TRY(array_of(m, from, &list, &n, w));
    if (m->kind == WIRE_BYTES) {
        const ProtobufCBinaryData bytes = { n, list };
        memcpy(to + f->offset, &bytes, sizeof(bytes));
        return 0;
    }
    if (!n) /* as the message was initialised */
        return 0;
    const size_t elements = n;
    memcpy(to + f->quantifier_offset, &elements, sizeof(elements));
    if (m->kind == WIRE_LIST)
        return wire_put_list(m->of, list, (uint32_t) n, p, to + f->offset, w);
    if (m->kind == WIRE_FILES)
        return put_files(list, (uint32_t) n, p, to + f->offset, w);
    memcpy(to + f->offset, &list, sizeof(list));
    return 0;
}

static bool is_zero(const char *bytes, size_t n)
{
    uint64_t any = 0, eight;

    for (; n >= sizeof(eight); n -= sizeof(eight), bytes += sizeof(eight)) {
        memcpy(&eight, bytes, sizeof(eight));
        any |= eight;
    }
    while (n--)
        any |= (uint8_t) *bytes++;
    return !any;
}

static int put_member(const struct wire_member *m, const ProtobufCFieldDescriptor *f,
                      const void *structure, struct wire_passing *p, char *to, struct why *w)
{
    const char *from = (const char *) structure + m->at;

    switch (m->kind) {
    case WIRE_BOOL: {
        const protobuf_c_boolean value = *(const bool *) from;
        memcpy(to + f->offset, &value, sizeof(value));
        return 0;
    }
    case WIRE_16: {
        const uint32_t value = *(const uint16_t *) (const void *) from;
        memcpy(to + f->offset, &value, sizeof(value));
        return 0;
    }
    case WIRE_32: memcpy(to + f->offset, from, sizeof(uint32_t)); return 0;
    case WIRE_64: memcpy(to + f->offset, from, sizeof(uint64_t)); return 0;
    case WIRE_TEXT:
        REQUIRE(w, !is_zero(from, sizeof(void *)), "%s is NULL", m->name);
        memcpy(to + f->offset, from, sizeof(void *));
        return 0;
    case WIRE_TOKEN: {
        const ProtobufCBinaryData bytes = { HAL_TOKEN_BYTES, (uint8_t *) (uintptr_t) from };
        memcpy(to + f->offset, &bytes, sizeof(bytes));
        return 0;
    }
    case WIRE_ONE:
        if (m->of->member && is_zero(from, m->of->size))
            return 0;
        return wire_put(m->of, from, p, to + f->offset, w);
    case WIRE_NUMBERS:
    case WIRE_BYTES:
    case WIRE_FILES:
    case WIRE_LIST: return put_array(m, f, structure, p, to, w);
    }
    return 0;
}

static int put_into(const struct wire_record *r, const void *from, struct wire_passing *p,
                    ProtobufCMessage *to, struct why *w)
{
    protobuf_c_message_init(r->message, to);
    if (!r->member)
        return r->put(from, p, to, w);
    for (uint32_t i = 0; i < r->n; i++)
        if (is_present(&r->member[i], from) &&
            put_member(&r->member[i], &r->message->fields[i], from, p, (char *) to, w) < 0)
            return why_prefix(w, "%s", r->member[i].name);
    return 0;
}

/* ---- from messages */

/* zeros: the structure, zeroed. */
static int take_into(const struct wire_record *r, const void *message, struct wire_passing *p,
                     void *zeros, struct why *w);

int wire_take_list(const struct wire_record *r, size_t n, const void *list, struct wire_passing *p,
                   void *ret_array, struct why *w)
{
    const ProtobufCMessage *const *messages = list;
    char *array = arena_alloc(p->arena, n, r->size);

    if (!array)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        if (take_into(r, messages[i], p, array + i * r->size, w) < 0)
            return why_prefix(w, "element %zu", i);
    memcpy(ret_array, &array, sizeof(array));
    return 0;
}

static int take_files(const uint32_t *names, size_t n, struct wire_passing *p, void *ret_files,
                      struct why *w)
{
    int *files = arena_alloc(p->arena, n, sizeof(*files));

    if (!files)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        files[i] = wire_fd(p->received, names[i]);
    memcpy(ret_files, &files, sizeof(files));
    return 0;
}

static int take_array(const struct wire_member *m, const ProtobufCFieldDescriptor *f,
                      const char *from, struct wire_passing *p, void *structure, struct why *w)
{
    char *to = (char *) structure + m->at;
    size_t n;
    void *list;

    memcpy(&n, from + f->quantifier_offset, sizeof(n));
    memcpy(&list, from + f->offset, sizeof(list));
    if (!n) /* NULL and 0 */
        return 0;
    set_count(m, structure, n);
    if (m->kind == WIRE_LIST)
        return wire_take_list(m->of, n, list, p, to, w);
    if (m->kind == WIRE_FILES)
        return take_files(list, n, p, to, w);
    memcpy(to, &list, sizeof(list));
    return 0;
}

static int take_member(const struct wire_member *m, const ProtobufCFieldDescriptor *f,
                       const char *from, struct wire_passing *p, void *structure, struct why *w)
{
    char *to = (char *) structure + m->at;
    ProtobufCBinaryData bytes;

    switch (m->kind) {
    case WIRE_BOOL:
        *(bool *) to = number_at(from, (uint16_t) f->offset, sizeof(uint32_t));
        return 0;
    case WIRE_16: {
        const uint64_t value = number_at(from, (uint16_t) f->offset, sizeof(uint32_t));
        REQUIRE(w, value <= UINT16_MAX, "%" PRIu64 ", above 65535", value);
        *(uint16_t *) (void *) to = (uint16_t) value;
        return 0;
    }
    case WIRE_32: memcpy(to, from + f->offset, sizeof(uint32_t)); return 0;
    case WIRE_64: memcpy(to, from + f->offset, sizeof(uint64_t)); return 0;
    case WIRE_TEXT: memcpy(to, from + f->offset, sizeof(void *)); return 0;
    case WIRE_BYTES:
        memcpy(&bytes, from + f->offset, sizeof(bytes));
        memcpy(to, &bytes.data, sizeof(bytes.data));
        set_count(m, structure, bytes.len);
        return 0;
    case WIRE_TOKEN:
        memcpy(&bytes, from + f->offset, sizeof(bytes));
        REQUIRE(w, !bytes.len || bytes.len == HAL_TOKEN_BYTES, "%zu bytes, expected %d", bytes.len,
                HAL_TOKEN_BYTES);
        if (bytes.len)
            memcpy(to, bytes.data, HAL_TOKEN_BYTES);
        return 0;
    case WIRE_ONE: {
        void *message;
        memcpy(&message, from + f->offset, sizeof(message));
        REQUIRE(w, message || m->of->member, "missing");
        return message ? take_into(m->of, message, p, to, w) : 0;
    }
    case WIRE_NUMBERS:
    case WIRE_FILES:
    case WIRE_LIST: return take_array(m, f, from, p, structure, w);
    }
    return 0;
}

static int take_into(const struct wire_record *r, const void *message, struct wire_passing *p,
                     void *zeros, struct why *w)
{
    if (!r->member)
        return r->take(message, p, zeros, w);
    for (uint32_t i = 0; i < r->n; i++)
        if (is_present(&r->member[i], zeros) &&
            take_member(&r->member[i], &r->message->fields[i], message, p, zeros, w) < 0)
            return why_prefix(w, "%s", r->member[i].name);
    return 0;
}

int wire_take(const struct wire_record *r, const void *message, struct wire_passing *p,
              void *ret_structure, struct why *w)
{
    memset(ret_structure, 0, r->size);
    return take_into(r, message, p, ret_structure, w);
}
