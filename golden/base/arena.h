/* Arena allocator for objects that are freed together.  Allocation is a pointer bump; under
 * AddressSanitizer the space between objects is poisoned.  Not thread-safe. */
#ifndef GOLDEN_ARENA_H
#define GOLDEN_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* A memory budget shared by several arenas, which must outlive them.  Each arena calls take()
 * before it allocates a block and give() when it frees one. */
struct arena_budget {
    bool (*take)(struct arena_budget *self, size_t bytes); /* false: over the budget */
    void (*give)(struct arena_budget *self, size_t bytes);
};

/* Returns NULL when out of memory.  limit: maximum number of bytes held, 0 for no limit. */
struct arena *arena_new(size_t limit);
struct arena *arena_new_within(struct arena_budget *budget);
/* Allocates from the caller's memory alone, which must be aligned to 64 and outlive the arena. */
struct arena *arena_new_in(void *memory, size_t size);
/* Frees the arena and everything allocated from it. */
void arena_free(struct arena *a);

/* Returns count * size zeroed bytes, aligned to 64 if there are 64 or more (for vector loads), else
 * to 16; NULL when out of memory, over the limit or the budget, or when the product overflows.  A
 * count of 0 gives a valid pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size);

/* The same without zeroing, for buffers that the caller fills completely. */
void *arena_alloc_raw(struct arena *a, size_t count, size_t size);
void *arena_copy(struct arena *a, const void *from, size_t length);
char *arena_strdup(struct arena *a, const char *text);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a, const char *fmt, ...);

/* arena_rewind() frees everything allocated since arena_mark() and keeps the blocks for reuse. */
struct arena_mark {
    void *block;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);
/* Frees everything allocated; keeps blocks of at most `keep` bytes in total for reuse. */
void arena_empty(struct arena *a, size_t keep);

/* Bytes of all blocks held, in use or kept for reuse. */
size_t arena_bytes(const struct arena *a);

#endif
