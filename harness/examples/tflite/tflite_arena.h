/* Memory that lives as long as a model: allocated piece by piece, freed at once. */
#ifndef TFLITE_ARENA_H
#define TFLITE_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena_block;

struct arena {
    struct arena_block *last;
    bool failed; /* an allocation has failed; what was built since is not to be used */
};

/* Zeroed memory for n elements of `size` bytes, aligned for any type; never NULL for n * size == 0.
 * NULL, and `failed` is set: out of memory. */
void *arena_take(struct arena *a, size_t n, size_t size);
void *arena_copy(struct arena *a, const void *from, size_t n, size_t size);
void arena_free(struct arena *a);

#endif
