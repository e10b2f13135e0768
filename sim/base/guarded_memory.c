#include "sim/base/guarded_memory.h"

int guarded_init(struct guarded *g, struct arena *a, size_t n, size_t bytes, uint8_t seed,
                 struct why *w)
{
    size_t size = bytes + n * 3 * GUARD + GUARD;

    *g = (struct guarded){ arena_alloc_raw(a, size + (size_t) 2 * GUARD, 1), size, GUARD, seed };
    if (!g->block)
        return why_no_memory_for(w, "a request of %zu bytes", size);
    guarded_fill(g);
    return 0;
}

/* Returns the offset of `length` new bytes, aligned, with at least a guard area behind them. */
size_t guarded_add(struct guarded *g, size_t length)
{
    size_t at = g->used;

    g->used = (at + length + GUARD + GUARD - 1) / GUARD * GUARD;
    return at;
}

uint8_t *guarded_at(const struct guarded *g, size_t offset)
{
    return g->block + GUARD + offset;
}

/* Neighbouring bytes differ, so that copying one to another is detected. */
uint8_t guarded_pattern(const struct guarded *g, size_t offset)
{
    uint32_t x = (uint32_t) offset * 2654435761u + g->seed * 40503u;

    return (uint8_t) (x >> 24 ^ g->seed);
}

/* Fills the whole block, which begins a guard area before offset 0. */
void guarded_fill(struct guarded *g)
{
    for (size_t i = 0; i < g->size + (size_t) 2 * GUARD; i++)
        g->block[i] = guarded_pattern(g, i - GUARD);
}

struct hal_memory guarded_memory(const struct guarded *g, bool writable)
{
    return (struct hal_memory){
        .kind = HAL_MEMORY_ADDRESS,
        .protection = HAL_MEMORY_READ | (writable ? HAL_MEMORY_WRITE : 0),
        .address = guarded_at(g, 0),
        .fd = -1,
        .size = g->size,
    };
}
