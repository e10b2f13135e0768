#include "tflite_flatbuffer.h"

#include <stdlib.h>
#include <string.h>

/* Appends zeros until `size` is a multiple of align, then n bytes; returns their position. */
static size_t append(struct flatbuffer *b, size_t n, size_t align)
{
    const size_t at = (b->size + align - 1) / align * align;
    size_t capacity = b->capacity ? b->capacity : 4096;

    if (b->failed || n > INT32_MAX || at > INT32_MAX - n) {
        b->failed = true;
        return 0;
    }
    while (capacity < at + n)
        capacity *= 2;
    if (capacity > b->capacity) {
        uint8_t *bytes = realloc(b->bytes, capacity);
        if (!bytes) {
            b->failed = true;
            return 0;
        }
        memset(bytes + b->capacity, 0, capacity - b->capacity);
        b->bytes = bytes;
        b->capacity = capacity;
    }
    b->size = at + n;
    return at;
}

static void put(struct flatbuffer *b, size_t at, const void *bytes, size_t n)
{
    if (!b->failed && n)
        memcpy(b->bytes + at, bytes, n);
}

static void put_u16(struct flatbuffer *b, size_t at, size_t value)
{
    const uint16_t stored = (uint16_t) value;
    put(b, at, &stored, sizeof(stored));
}

static void put_u32(struct flatbuffer *b, size_t at, size_t value)
{
    const uint32_t stored = (uint32_t) value;
    put(b, at, &stored, sizeof(stored));
}

void flatbuffer_begin(struct flatbuffer *b, const char *identifier)
{
    const size_t at = append(b, 8, 4);
    put(b, at + 4, identifier, 4);
}

/* A table is a list of the offsets of its fields (vtable), then the fields: here 4 bytes for each.
 *
 *     vtable   u16 size of the vtable, u16 size of the table, u16 offset of each slot or 0
 *     table    i32 distance back to the vtable, fields */
size_t flatbuffer_table(struct flatbuffer *b, const char *fields, const int32_t *values)
{
    const size_t n = strlen(fields), vtable = append(b, 4 + 2 * n, 2);
    size_t used = 4;

    for (size_t i = 0; i < n; i++)
        used += fields[i] != '-' ? 4 : 0;
    const size_t table = append(b, used, 4);
    put_u16(b, vtable, 4 + 2 * n);
    put_u16(b, vtable + 2, used);
    put_u32(b, table, table - vtable);
    if (table && !b->failed && !b->bytes[0] && !b->bytes[1] && !b->bytes[2] && !b->bytes[3])
        put_u32(b, 0, table); /* the first one is the root */
    used = 4;
    for (size_t i = 0; i < n; i++) {
        if (fields[i] == '-')
            continue;
        put_u16(b, vtable + 4 + 2 * i, used);
        if (fields[i] != 'o')
            put(b, table + used, &values[i], fields[i] == 'b' ? 1 : 4);
        used += 4;
    }
    return table;
}

size_t flatbuffer_vector(struct flatbuffer *b, const void *elements, size_t n, size_t width,
                         size_t align)
{
    /* The number of elements stands directly before the first one. */
    const size_t pad = align > 4 ? (align - (b->size + 4) % align) % align : 0;
    if (pad)
        append(b, pad, 1);
    const size_t at = append(b, 4, 4), first = append(b, n * width, 1);

    put_u32(b, at, n);
    if (elements)
        put(b, first, elements, n * width);
    return at;
}

void flatbuffer_link(struct flatbuffer *b, size_t table, size_t slot, size_t to)
{
    uint32_t back;
    uint16_t offset;

    if (b->failed)
        return;
    memcpy(&back, b->bytes + table, sizeof(back));
    memcpy(&offset, b->bytes + table - back + 4 + 2 * slot, sizeof(offset));
    put_u32(b, table + offset, to - table - offset);
}

void flatbuffer_link_element(struct flatbuffer *b, size_t vector, size_t i, size_t to)
{
    const size_t at = vector + 4 + 4 * i;
    put_u32(b, at, to - at);
}
