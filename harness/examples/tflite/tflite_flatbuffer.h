/* Writes FlatBuffers front to back: a table or vector first, what it refers to after it, linked by
 * offsets that are filled in then.  For little-endian machines. */
#ifndef TFLITE_FLATBUFFER_H
#define TFLITE_FLATBUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flatbuffer {
    uint8_t *bytes; /* malloc()ed */
    size_t size, capacity;
    bool failed; /* out of memory, or larger than 2 GiB */
};

/* Begins a buffer with the identifier, of 4 letters; the next table is its root. */
void flatbuffer_begin(struct flatbuffer *b, const char *identifier);

/* Writes a table and returns its position.  fields: a letter for each slot: 'b' one byte, 'i' four
 * bytes, 'o' an offset to be linked, '-' absent.  values: one for each slot. */
size_t flatbuffer_table(struct flatbuffer *b, const char *fields, const int32_t *values);

/* Writes a vector of n elements of `width` bytes, the first one aligned to `align` bytes, and
 * returns its position.  elements NULL: zeros, as for offsets to be linked. */
size_t flatbuffer_vector(struct flatbuffer *b, const void *elements, size_t n, size_t width,
                         size_t align);

/* Makes the offset in a slot of a table, or element i of a vector, refer to a later position. */
void flatbuffer_link(struct flatbuffer *b, size_t table, size_t slot, size_t to);
void flatbuffer_link_element(struct flatbuffer *b, size_t vector, size_t i, size_t to);

#endif
