#include "tflite_arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct arena_block {
    struct arena_block *before;
    max_align_t bytes[];
};

void *arena_take(struct arena *a, size_t n, size_t size)
{
    struct arena_block *block = NULL;

    if (!size || n <= (SIZE_MAX - sizeof(*block)) / size)
        block = calloc(1, sizeof(*block) + n * size);
    if (!block) {
        a->failed = true;
        return NULL;
    }
    block->before = a->last;
    a->last = block;
    return block->bytes;
}

void *arena_copy(struct arena *a, const void *from, size_t n, size_t size)
{
    void *to = arena_take(a, n, size);

    if (to && n && size)
        memcpy(to, from, n * size);
    return to;
}

void arena_free(struct arena *a)
{
    while (a->last) {
        struct arena_block *before = a->last->before;
        free(a->last);
        a->last = before;
    }
}
