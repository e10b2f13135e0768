/* An arena: objects that live and die together.  Allocation is a pointer bump, everything is freed
 * at once, and under AddressSanitizer the space between objects is poisoned. */
#ifndef GOLDEN_ARENA_H
#define GOLDEN_ARENA_H

#include <stdbool.h>
#include <stddef.h>

struct arena;

/* Whom several arenas ask before they grow, and tell what they give back; outlives them. */
struct arena_budget {
    bool (*take)(struct arena_budget *self, size_t bytes); /* false: no more, for now */
    void (*give)(struct arena_budget *self, size_t bytes);
};

/* NULL when out of memory.  limit: most bytes it will ever hold, 0 for no limit. */
struct arena *arena_new(size_t limit);
struct arena *arena_new_within(struct arena_budget *budget);
void arena_free(struct arena *a);

/* count * size zeroed bytes; 64 of them and more are aligned to 64, for vector loads.  NULL when
 * out of memory, over the limit, or when the product overflows.  A count of 0 gives a valid
 * pointer. */
void *arena_alloc(struct arena *a, size_t count, size_t size);

/* The same, but the bytes are left as they are: for buffers that are written whole. */
void *arena_alloc_raw(struct arena *a, size_t count, size_t size);
void *arena_copy(struct arena *a, const void *from, size_t length);
char *arena_strdup(struct arena *a, const char *text);
__attribute__((format(printf, 2, 3))) char *arena_printf(struct arena *a, const char *fmt, ...);

/* Everything allocated since the mark is freed; blocks are kept for reuse. */
struct arena_mark {
    void *block;
    size_t used;
};
struct arena_mark arena_mark(const struct arena *a);
void arena_rewind(struct arena *a, struct arena_mark mark);
/* Everything is freed, and the blocks beyond so many bytes are given back. */
void arena_empty(struct arena *a, size_t keep);

/* Bytes held now, and the most that were ever in use at once. */
size_t arena_bytes(const struct arena *a);

#endif
