#include "sim/wire/wire_records.h"

#include <inttypes.h>
#include <string.h>

/* ---- members */

_Static_assert(WIRE_MAX <= UINT32_MAX, "a list has no more elements than its message has bytes");

static uint64_t count_of(const struct hal_member *m, const void *structure)
{
    return hal_number_at(structure, m->count_at, m->count_size);
}

static void set_count(const struct hal_member *m, void *structure, size_t n)
{
    hal_set_number(structure, m->count_at, m->count_size, n);
}

static bool is_present(const struct hal_member *m, const void *structure)
{
    return !m->when_size || hal_number_at(structure, m->when_at, m->when_size) == m->when;
}

/* An array of the structure, which may be NULL only if it has no elements. */
static int array_of(const struct hal_member *m, const void *structure, void **ret, uint64_t *ret_n,
                    struct why *w)
{
    memcpy(ret, (const char *) structure + m->at, sizeof(*ret));
    *ret_n = count_of(m, structure);
    REQUIRE(w, *ret || !*ret_n, "%s is NULL, with %" PRIu64 " elements", m->name, *ret_n);
    return 0;
}

int wire_check_lists(const struct hal_record *r, const void *from, struct why *w)
{
    uint64_t n;
    void *list;

    for (uint32_t i = 0; i < r->n; i++)
        if (r->member[i].kind == MEMBER_LIST)
            TRY(array_of(&r->member[i], from, &list, &n, w));
    return 0;
}

int wire_pass_files(const void *from, size_t n, struct wire_passing *p, void *ret_array,
                    struct why *w)
{
    const uint32_t *in = from;
    uint32_t *out = arena_alloc(p->arena, n, sizeof(*out));

    if (!out)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        if (p->received)
            out[i] = (uint32_t) wire_fd(p->received, in[i]);
        else
            TRY(wire_find_or_put_fd(p->fds, (int) in[i], &out[i], w));
    memcpy(ret_array, &out, sizeof(out));
    return 0;
}

/* ---- to messages */

static int put_into(const struct hal_record *r, const void *from, struct wire_passing *p,
                    ProtobufCMessage *to, struct why *w);

int wire_put(const struct hal_record *r, const ProtobufCMessageDescriptor *type, const void *from,
             struct wire_passing *p, void *ret_message, struct why *w)
{
    ProtobufCMessage *m = arena_alloc_raw(p->arena, 1, type->sizeof_message);

    if (!m)
        return why_no_memory(w);
    protobuf_c_message_init(type, m);
    TRY(put_into(r, from, p, m, w));
    memcpy(ret_message, &m, sizeof(m));
    return 0;
}

int wire_put_list(const struct hal_record *r, const ProtobufCMessageDescriptor *type,
                  const void *from, uint32_t n, struct wire_passing *p, void *ret_list,
                  struct why *w)
{
    const size_t size = type->sizeof_message;
    void **list = arena_alloc_raw(p->arena, n, sizeof(*list) + size); /* and the messages */
    char *messages = list ? (char *) (list + n) : NULL;

    REQUIRE(w, from || !n, "the list is NULL, with %u elements", n);
    if (!list)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        list[i] = messages + i * size;
        p->index = i;
        protobuf_c_message_init(type, list[i]);
        if (put_into(r, (const char *) from + i * r->size, p, list[i], w) < 0)
            return why_prefix(w, "element %u", i);
    }
    memcpy(ret_list, &list, sizeof(list));
    return 0;
}

static int put_array(const struct hal_member *m, const ProtobufCFieldDescriptor *f,
                     const void *from, struct wire_passing *p, char *to, struct why *w)
{
    uint64_t n;
    void *list;

    TRY(array_of(m, from, &list, &n, w));
    if (m->kind == MEMBER_BYTES) {
        const ProtobufCBinaryData bytes = { n, list };
        memcpy(to + f->offset, &bytes, sizeof(bytes));
        return 0;
    }
    if (!n) /* as the message was initialised */
        return 0;
    const size_t elements = n;
    memcpy(to + f->quantifier_offset, &elements, sizeof(elements));
    if (m->kind == MEMBER_LIST)
        return wire_put_list(m->of, f->descriptor, list, (uint32_t) n, p, to + f->offset, w);
    if (m->kind == MEMBER_FILES)
        return wire_pass_files(list, n, p, to + f->offset, w);
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

static int put_member(const struct hal_member *m, const ProtobufCFieldDescriptor *f,
                      const void *structure, struct wire_passing *p, char *to, struct why *w)
{
    const char *from = (const char *) structure + m->at;

    switch (m->kind) {
    case MEMBER_BOOL: {
        const protobuf_c_boolean value = *(const bool *) from;
        memcpy(to + f->offset, &value, sizeof(value));
        return 0;
    }
    case MEMBER_16: {
        const uint32_t value = *(const uint16_t *) (const void *) from;
        memcpy(to + f->offset, &value, sizeof(value));
        return 0;
    }
    case MEMBER_32: memcpy(to + f->offset, from, sizeof(uint32_t)); return 0;
    case MEMBER_64: memcpy(to + f->offset, from, sizeof(uint64_t)); return 0;
    case MEMBER_TEXT:
        REQUIRE(w, !is_zero(from, sizeof(void *)), "%s is NULL", m->name);
        memcpy(to + f->offset, from, sizeof(void *));
        return 0;
    case MEMBER_TOKEN: {
        const ProtobufCBinaryData bytes = { m->size, (uint8_t *) (uintptr_t) from };
        memcpy(to + f->offset, &bytes, sizeof(bytes));
        return 0;
    }
    case MEMBER_DIMS: { /* of a driver's result, whose count can be wrong */
        const size_t most = m->size / sizeof(uint32_t), count = count_of(m, structure);
        const size_t n = count < most ? count : most;
        memcpy(to + f->quantifier_offset, &n, sizeof(n));
        memcpy(to + f->offset, &from, sizeof(from));
        return 0;
    }
    case MEMBER_ONE:
        if (m->of->member && is_zero(from, m->of->size))
            return 0;
        return wire_put(m->of, f->descriptor, from, p, to + f->offset, w);
    case MEMBER_NUMBERS:
    case MEMBER_BYTES:
    case MEMBER_FILES:
    case MEMBER_LIST: return put_array(m, f, structure, p, to, w);
    }
    return 0;
}

/* to: a message as initialised. */
static int put_into(const struct hal_record *r, const void *from, struct wire_passing *p,
                    ProtobufCMessage *to, struct why *w)
{
    if (!r->member)
        return wire_put_memory(from, p, (Wire__Memory *) to, w);
    for (uint32_t i = 0; i < r->n; i++)
        if (is_present(&r->member[i], from) &&
            put_member(&r->member[i], &to->descriptor->fields[i], from, p, (char *) to, w) < 0)
            return why_prefix(w, "%s", r->member[i].name);
    return 0;
}

/* ---- from messages */

/* zeros: the structure, zeroed. */
static int take_into(const struct hal_record *r, const ProtobufCMessage *from,
                     struct wire_passing *p, void *zeros, struct why *w);

int wire_take_list(const struct hal_record *r, size_t n, const void *list, struct wire_passing *p,
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

static int take_array(const struct hal_member *m, const ProtobufCFieldDescriptor *f,
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
    if (m->kind == MEMBER_LIST)
        return wire_take_list(m->of, n, list, p, to, w);
    if (m->kind == MEMBER_FILES)
        return wire_pass_files(list, n, p, to, w);
    if (m->kind == MEMBER_NUMBERS)
        return memcpy(to, &list, sizeof(list)), 0;
    REQUIRE(w, n <= m->size / sizeof(uint32_t), "%zu numbers, at most %zu", n,
            m->size / sizeof(uint32_t));
    memcpy(to, list, n * sizeof(uint32_t));
    return 0;
}

static int take_member(const struct hal_member *m, const ProtobufCFieldDescriptor *f,
                       const char *from, struct wire_passing *p, void *structure, struct why *w)
{
    char *to = (char *) structure + m->at;
    ProtobufCBinaryData bytes;

    switch (m->kind) {
    case MEMBER_BOOL:
        *(bool *) to = hal_number_at(from, (uint16_t) f->offset, sizeof(uint32_t));
        return 0;
    case MEMBER_16: {
        const uint64_t value = hal_number_at(from, (uint16_t) f->offset, sizeof(uint32_t));
        REQUIRE(w, value <= UINT16_MAX, "%" PRIu64 ", above 65535", value);
        *(uint16_t *) (void *) to = (uint16_t) value;
        return 0;
    }
    case MEMBER_32: memcpy(to, from + f->offset, sizeof(uint32_t)); return 0;
    case MEMBER_64: memcpy(to, from + f->offset, sizeof(uint64_t)); return 0;
    case MEMBER_TEXT: memcpy(to, from + f->offset, sizeof(void *)); return 0;
    case MEMBER_BYTES:
        memcpy(&bytes, from + f->offset, sizeof(bytes));
        memcpy(to, &bytes.data, sizeof(bytes.data));
        set_count(m, structure, bytes.len);
        return 0;
    case MEMBER_TOKEN:
        memcpy(&bytes, from + f->offset, sizeof(bytes));
        REQUIRE(w, !bytes.len || bytes.len == m->size, "%zu bytes, expected %u", bytes.len,
                m->size);
        if (bytes.len)
            memcpy(to, bytes.data, bytes.len);
        return 0;
    case MEMBER_ONE: {
        void *message;
        memcpy(&message, from + f->offset, sizeof(message));
        REQUIRE(w, message || m->of->member, "missing");
        return message ? take_into(m->of, message, p, to, w) : 0;
    }
    case MEMBER_NUMBERS:
    case MEMBER_DIMS:
    case MEMBER_FILES:
    case MEMBER_LIST: return take_array(m, f, from, p, structure, w);
    }
    return 0;
}

static int take_into(const struct hal_record *r, const ProtobufCMessage *from,
                     struct wire_passing *p, void *zeros, struct why *w)
{
    if (!r->member)
        return wire_take_memory((const Wire__Memory *) from, p, zeros, w);
    for (uint32_t i = 0; i < r->n; i++)
        if (is_present(&r->member[i], zeros) &&
            take_member(&r->member[i], &from->descriptor->fields[i], (const char *) from, p, zeros,
                        w) < 0)
            return why_prefix(w, "%s", r->member[i].name);
    return 0;
}

int wire_take(const struct hal_record *r, const void *message, struct wire_passing *p,
              void *ret_structure, struct why *w)
{
    memset(ret_structure, 0, r->size);
    return take_into(r, message, p, ret_structure, w);
}
