/* Mutation of FlatBuffers without their schema: tables are found by the shape of their offsets.
 *
 *     vtable:  its length | length of the table | offset of each field in the table, or 0
 *     table:   distance back to its vtable | fields: scalars, or distances to other objects
 */
#include <string.h>

#include "tests/fuzz/mutate/mutate.h"

enum { MAX_FIELDS = 512, BYTES_IN = 6, MAX_VTABLE = 128, MAX_MUTATIONS = 4, WORD = 4 };

/* A field of a table that is present. */
struct field {
    size_t entry; /* where the vtable has its offset */
    size_t at;    /* where its value is */
};

static uint32_t read_number(const uint8_t *bytes, size_t at, size_t size)
{
    uint32_t x = 0;

    memcpy(&x, bytes + at, size); /* little-endian, as the format */
    return x;
}

static void write_number(uint8_t *bytes, size_t at, uint32_t x, size_t size)
{
    memcpy(bytes + at, &x, size);
}

/* The fields of what may be a table at this place; returns their number. */
static size_t fields_at(const uint8_t *bytes, size_t length, size_t at, struct field *to,
                        size_t room)
{
    int64_t v = (int64_t) at - (int32_t) read_number(bytes, at, WORD);
    size_t n = 0;

    if (v < 0 || (uint64_t) v + WORD > length || v % 2)
        return 0;
    uint32_t size = read_number(bytes, (size_t) v, 2),
             table = read_number(bytes, (size_t) v + 2, 2);
    if (size < WORD || size > MAX_VTABLE || size % 2 || (uint64_t) v + size > length ||
        table < WORD || at + table > length)
        return 0;
    for (size_t e = (size_t) v + WORD; e < (size_t) v + size && n < room; e += 2) {
        uint32_t offset = read_number(bytes, e, 2);
        if (offset && (offset < WORD || offset >= table))
            return 0;
        if (offset && at + offset + WORD <= length)
            to[n++] = (struct field){ e, at + offset };
    }
    return n;
}

static size_t find_fields(const uint8_t *bytes, size_t length, struct rng *r, struct field *to)
{
    const size_t begin = length > WORD ? rng_below(r, (uint32_t) (length / WORD)) * WORD : 0;
    size_t n = 0;

    /* from a random place on, so that every table of a large file has its turn */
    for (size_t k = 0; k + WORD < length && n < MAX_FIELDS; k += WORD) {
        size_t at = (begin + k) % (length / WORD * WORD);
        if (at + WORD <= length)
            n += fields_at(bytes, length, at, to + n, MAX_FIELDS - n);
    }
    return n;
}

static void mutate_field(uint8_t *bytes, size_t length, struct rng *r, const struct field *f,
                         const struct field *other)
{
    uint32_t distance = read_number(bytes, f->at, WORD);
    size_t target = f->at + distance;
    static const size_t sizes[] = { 1, 2, 4 };
    size_t size = sizes[rng_below(r, 3)];

    switch (rng_below(r, 8)) {
    case 0: write_number(bytes, f->entry, 0, 2); break; /* left out */
    case 1:                                             /* exchanged with another field */
        write_number(bytes, f->entry, read_number(bytes, other->entry, 2), 2);
        break;
    case 2: /* refers to what the other one refers to */
        write_number(bytes, f->at,
                     (uint32_t) (other->at + read_number(bytes, other->at, WORD) - f->at), WORD);
        break;
    case 3: /* a vector of another length, or a number within what it refers to */
        if (target + WORD <= length)
            write_number(bytes, target,
                         rng_below(r, 2) ? rng_below(r, 8) : (uint32_t) mutate_number(r), WORD);
        break;
    case 4: /* an element of a vector */
        if (target + 2 * WORD <= length) {
            uint32_t n = read_number(bytes, target, WORD);
            size_t at = target + WORD + rng_below(r, n < 64 ? n + 1 : 64) * size;
            if (at + size <= length)
                write_number(bytes, at, (uint32_t) mutate_number(r), size);
        }
        break;
    case 5: write_number(bytes, f->at, distance + rng_below(r, 9) - 4, size); break;
    case 6: write_number(bytes, f->at, rng_below(r, 160), 1); break; /* a code */
    default: write_number(bytes, f->at, (uint32_t) mutate_number(r), size);
    }
}

size_t mutate_flatbuffer(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    struct field field[MAX_FIELDS];
    struct rng r;

    rng_seed(&r, seed, 0);
    size_t n =
        length >= 2 * WORD && rng_below(&r, BYTES_IN) ? find_fields(bytes, length, &r, field) : 0;
    if (!n)
        return LLVMFuzzerMutate(bytes, length, max);
    for (uint32_t i = 1 + rng_below(&r, MAX_MUTATIONS); i > 0; i--)
        mutate_field(bytes, length, &r, &field[rng_below(&r, (uint32_t) n)],
                     &field[rng_below(&r, (uint32_t) n)]);
    return length;
}
