/* Mutation of protobuf messages of any type, by the descriptors that protobuf-c generates. */
#include <string.h>

#include "tests/fuzz/mutate/mutate.h"

enum { MEMORY = 1 << 22, MAX_LIST = 64, MAX_MUTATIONS = 4, BYTES_IN = 16, GROWTH = 64 };

struct mutator {
    struct rng rng;
    struct arena *arena;
    const struct mutate_type *type;
    const ProtobufCMessage *donor; /* parts of it may be copied */
};

/* ---- messages in an arena */

static void *take(void *arena, size_t size)
{
    return arena_alloc(arena, 1, size);
}

static void drop(void *arena, void *pointer)
{
    (void) arena, (void) pointer;
}

static ProtobufCMessage *unpack(struct arena *a, const ProtobufCMessageDescriptor *type,
                                const uint8_t *bytes, size_t length)
{
    ProtobufCAllocator allocator = { take, drop, a };

    return protobuf_c_message_unpack(type, &allocator, length, bytes);
}

static ProtobufCMessage *copy_message(struct arena *a, const ProtobufCMessage *m)
{
    size_t length = protobuf_c_message_get_packed_size(m);
    uint8_t *bytes = arena_alloc_raw(a, length, 1);

    if (!bytes)
        return NULL;
    protobuf_c_message_pack(m, bytes);
    return unpack(a, m->descriptor, bytes, length);
}

static ProtobufCMessage *new_message(struct arena *a, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *m = arena_alloc(a, 1, type->sizeof_message);

    if (m)
        protobuf_c_message_init(type, m);
    return m;
}

/* Writes the message if it fits; 0: it does not. */
static size_t pack(const ProtobufCMessage *m, uint8_t *to, size_t max)
{
    return protobuf_c_message_get_packed_size(m) <= max ? protobuf_c_message_pack(m, to) : 0;
}

/* ---- fields */

static size_t size_of(const ProtobufCFieldDescriptor *f)
{
    switch (f->type) {
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE: return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_STRING: return sizeof(char *);
    case PROTOBUF_C_TYPE_BYTES: return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_MESSAGE: return sizeof(ProtobufCMessage *);
    default: return sizeof(uint32_t); /* bool and enum, too */
    }
}

static bool is_list(const ProtobufCFieldDescriptor *f)
{
    return f->label == PROTOBUF_C_LABEL_REPEATED;
}

static char *place_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return (char *) (uintptr_t) m + f->offset;
}

static size_t *count_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f)
{
    return (size_t *) (void *) ((char *) (uintptr_t) m + f->quantifier_offset);
}

/* The elements of a list, or the one of another field. */
static char *elements_of(const ProtobufCMessage *m, const ProtobufCFieldDescriptor *f,
                         size_t *ret_n)
{
    *ret_n = is_list(f) ? *count_of(m, f) : 1;
    return is_list(f) ? *(char **) (void *) place_of(m, f) : place_of(m, f);
}

static ProtobufCMessage *message_at(const char *element)
{
    return *(ProtobufCMessage *const *) (const void *) element;
}

/* Chooses an element of the same field, or of the same message type, anywhere in m: each with the
 * same probability.  NULL: there is none. */
static const char *find_donor(struct mutator *u, const ProtobufCMessage *m,
                              const ProtobufCFieldDescriptor *f, uint32_t *seen)
{
    const char *found = NULL;

    for (unsigned i = 0; i < m->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *g = &m->descriptor->fields[i];
        const bool is_message = g->type == PROTOBUF_C_TYPE_MESSAGE;
        const bool fits =
            g == f || (is_message && f->type == g->type && f->descriptor == g->descriptor);
        size_t n, size = size_of(g);
        const char *element = elements_of(m, g, &n);
        for (size_t k = 0; k < n; k++, element += size) {
            if (is_message && !message_at(element))
                continue;
            if (fits && rng_below(&u->rng, ++*seen) == 0)
                found = element;
            const char *deeper = is_message ? find_donor(u, message_at(element), f, seen) : NULL;
            found = deeper ? deeper : found;
        }
    }
    return found;
}

static bool copy_donor(struct mutator *u, const ProtobufCFieldDescriptor *f, void *to)
{
    uint32_t seen = 0;
    const char *from = find_donor(u, u->donor, f, &seen);

    if (!from)
        return false;
    if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
        memcpy(to, from, size_of(f));
        return true;
    }
    ProtobufCMessage *copy = copy_message(u->arena, message_at(from));
    if (copy)
        memcpy(to, &copy, sizeof copy);
    return copy;
}

/* ---- values */

uint64_t mutate_number(struct rng *r)
{
    uint64_t power = UINT64_C(1) << rng_below(r, 64);

    switch (rng_below(r, 8)) {
    case 0: return 0;
    case 1: return power;
    case 2: return power - 1;
    case 3: return 0 - power;
    case 4: return UINT64_MAX >> rng_below(r, 2) * 32;
    case 5: return rng_next(r);
    default: return rng_below(r, 16);
    }
}

static uint64_t mutate_integer(struct mutator *u, const ProtobufCFieldDescriptor *f, uint64_t x,
                               size_t size)
{
    struct rng *r = &u->rng;

    for (const struct mutate_values *v = u->type->values; v && v->field; v++)
        if (v->field == f && rng_below(r, 2))
            return (uint64_t) v->value[rng_below(r, v->n)];
    switch (rng_below(r, 6)) {
    case 0: return mutate_number(r);
    case 1: return x + 1 + rng_below(r, 4);
    case 2: return x - 1 - rng_below(r, 4);
    case 3: return x ^ UINT64_C(1) << rng_below(r, (uint32_t) (8 * size));
    case 4: return rng_below(r, 8);
    default: LLVMFuzzerMutate((uint8_t *) &x, size, size); return x;
    }
}

static float mutate_float(struct mutator *u, float x)
{
    static const uint32_t special[] = { 0,          0x80000000, 0x3f800000, 0xbf800000,
                                        0x7f800000, 0xff800000, 0x7fc00000, 1,
                                        0x7f7fffff, 0x3f000000, 0x37800000, 0x00800000 };
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    if (rng_below(&u->rng, 2))
        bits = special[rng_below(&u->rng, COUNT(special))];
    else
        bits = (uint32_t) mutate_integer(u, NULL, bits, sizeof bits);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Text or bytes, which are followed by a zero either way. */
static uint8_t *mutate_bytes(struct mutator *u, const uint8_t *from, size_t n, size_t *ret_n)
{
    size_t room = n + GROWTH;
    uint8_t *to = arena_alloc(u->arena, room + 1, 1);

    *ret_n = 0;
    if (!to)
        return NULL;
    if (n)
        memcpy(to, from, n);
    *ret_n = LLVMFuzzerMutate(to, n, room);
    to[*ret_n] = 0;
    return to;
}

static void mutate_text(struct mutator *u, char **text)
{
    size_t n;
    uint8_t *to = mutate_bytes(u, (const uint8_t *) *text, *text ? strlen(*text) : 0, &n);

    if (to)
        *text = (char *) to;
}

static void mutate_binary(struct mutator *u, ProtobufCBinaryData *b)
{
    size_t n;
    uint8_t *to = mutate_bytes(u, b->data, b->len, &n);

    if (to)
        *b = (ProtobufCBinaryData){ n, to };
}

static void mutate_value(struct mutator *u, const ProtobufCFieldDescriptor *f, void *at)
{
    uint64_t x = 0;
    float real;

    if (f->type != PROTOBUF_C_TYPE_MESSAGE && rng_below(&u->rng, 4) == 0 && copy_donor(u, f, at))
        return;
    switch (f->type) {
    case PROTOBUF_C_TYPE_FLOAT:
        memcpy(&real, at, sizeof real);
        real = mutate_float(u, real);
        memcpy(at, &real, sizeof real);
        break;
    case PROTOBUF_C_TYPE_BOOL: *(protobuf_c_boolean *) at = !*(protobuf_c_boolean *) at; break;
    case PROTOBUF_C_TYPE_STRING: mutate_text(u, at); break;
    case PROTOBUF_C_TYPE_BYTES: mutate_binary(u, at); break;
    case PROTOBUF_C_TYPE_MESSAGE: break;
    default:
        memcpy(&x, at, size_of(f));
        x = mutate_integer(u, f, x, size_of(f));
        memcpy(at, &x, size_of(f));
    }
}

/* A new element: a copy of another one, or one with default values. */
static void make_element(struct mutator *u, const ProtobufCFieldDescriptor *f, char *at)
{
    ProtobufCMessage *m;

    memset(at, 0, size_of(f));
    if (f->type == PROTOBUF_C_TYPE_STRING)
        *(const char **) (void *) at = "";
    if (rng_below(&u->rng, 4) && copy_donor(u, f, at))
        return;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE && (m = new_message(u->arena, f->descriptor)))
        memcpy(at, &m, sizeof m);
    else
        mutate_value(u, f, at);
}

static void swap(char *a, char *b, size_t size)
{
    char kept[sizeof(ProtobufCBinaryData)];

    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

/* Inserts up to four elements. */
static void grow_list(struct mutator *u, const ProtobufCFieldDescriptor *f, char **list, size_t *n)
{
    size_t size = size_of(f), more = 1 + (rng_below(&u->rng, 4) ? 0 : rng_below(&u->rng, 4));
    char *to = arena_alloc(u->arena, *n + more, size);
    size_t at = rng_below(&u->rng, (uint32_t) *n + 1);

    if (!to || *n + more > MAX_LIST)
        return;
    if (*n) {
        memcpy(to, *list, at * size);
        memcpy(to + (at + more) * size, *list + at * size, (*n - at) * size);
    }
    for (size_t i = 0; i < more; i++) {
        make_element(u, f, to + (at + i) * size);
        if (f->type == PROTOBUF_C_TYPE_MESSAGE && !message_at(to + (at + i) * size))
            return;
    }
    *list = to;
    *n += more;
}

static void mutate_list(struct mutator *u, const ProtobufCFieldDescriptor *f,
                        const ProtobufCMessage *m)
{
    char **list = (char **) (void *) place_of(m, f);
    size_t *n = count_of(m, f), size = size_of(f);
    uint32_t kind = *n ? rng_below(&u->rng, 8) : 0;
    size_t at = *n ? rng_below(&u->rng, (uint32_t) *n) : 0;

    if (kind < 2) {
        grow_list(u, f, list, n);
    } else if (kind == 2) {
        memmove(*list + at * size, *list + (at + 1) * size, (*n - at - 1) * size);
        --*n;
    } else if (kind == 3) {
        swap(*list + at * size, *list + rng_below(&u->rng, (uint32_t) *n) * size, size);
    } else if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
        copy_donor(u, f, *list + at * size);
    } else {
        mutate_value(u, f, *list + at * size);
    }
}

static void mutate_field(struct mutator *u, const ProtobufCFieldDescriptor *f,
                         const ProtobufCMessage *m)
{
    char *at = place_of(m, f);

    if (is_list(f))
        mutate_list(u, f, m);
    else if (f->type != PROTOBUF_C_TYPE_MESSAGE)
        mutate_value(u, f, at);
    else if (message_at(at) && rng_below(&u->rng, 2))
        memset(at, 0, sizeof(void *));
    else
        make_element(u, f, at);
}

/* Chooses a field of the message; NULL in *ret_message, or a message that the field holds. */
static const ProtobufCFieldDescriptor *choose_field(struct mutator *u, const ProtobufCMessage *m,
                                                    const ProtobufCMessage **ret_message)
{
    const ProtobufCFieldDescriptor *f =
        &m->descriptor->fields[rng_below(&u->rng, m->descriptor->n_fields)];
    size_t n;
    const char *element = elements_of(m, f, &n);

    *ret_message = NULL;
    if (f->type == PROTOBUF_C_TYPE_MESSAGE && n)
        *ret_message = message_at(element + rng_below(&u->rng, (uint32_t) n) * sizeof(void *));
    return f;
}

/* Changes a field of the message or of one in it: deeper ones more often, since there are more. */
static void mutate_in(struct mutator *u, const ProtobufCMessage *m)
{
    enum { DEEPER = 8, DRAWS = 3 };

    while (m->descriptor->n_fields) {
        const ProtobufCFieldDescriptor *f = NULL;
        const ProtobufCMessage *deeper = NULL;
        for (int i = 0; i < DRAWS && !deeper; i++)
            f = choose_field(u, m, &deeper);
        if (!deeper || rng_below(&u->rng, DEEPER) == 0) {
            mutate_field(u, f, m);
            return;
        }
        m = deeper;
    }
}

/* ---- entry points */

static bool begin(struct mutator *u, const struct mutate_type *t, unsigned seed)
{
    rng_seed(&u->rng, seed, 0);
    u->type = t;
    u->arena = arena_new(MEMORY);
    return u->arena;
}

size_t mutate_message(const struct mutate_type *t, uint8_t *bytes, size_t length, size_t max,
                      unsigned seed)
{
    struct mutator u;
    size_t n = 0;

    if (!begin(&u, t, seed))
        return length;
    ProtobufCMessage *m =
        rng_below(&u.rng, BYTES_IN) ? unpack(u.arena, t->message, bytes, length) : NULL;
    u.donor = m;
    for (uint32_t i = 1 + rng_below(&u.rng, MAX_MUTATIONS); m && i > 0; i--)
        mutate_in(&u, m);
    if (m)
        n = pack(m, bytes, max);
    arena_free(u.arena);
    return m && n ? n : LLVMFuzzerMutate(bytes, length, max);
}

size_t cross_messages(const struct mutate_type *t, const uint8_t *a, size_t n_a, const uint8_t *b,
                      size_t n_b, uint8_t *to, size_t max, unsigned seed)
{
    struct mutator u;
    size_t n = 0;

    if (!begin(&u, t, seed))
        return 0;
    ProtobufCMessage *m = unpack(u.arena, t->message, a, n_a);
    u.donor = unpack(u.arena, t->message, b, n_b);
    for (uint32_t i = 1 + rng_below(&u.rng, MAX_MUTATIONS); m && u.donor && i > 0; i--)
        mutate_in(&u, m);
    if (m && u.donor)
        n = pack(m, to, max);
    arena_free(u.arena);
    return n;
}
