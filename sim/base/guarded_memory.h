/* Memory that is passed to a driver for a request: regions between guard bytes, which show whether
 * the driver wrote outside of the outputs. */
#ifndef SIM_GUARDED_MEMORY_H
#define SIM_GUARDED_MEMORY_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

/* Memory of a request: regions, each surrounded by GUARD guard bytes that the driver must not
 * write. */
enum { GUARD = 64 };
struct guarded {
    uint8_t *block; /* allocated in the arena */
    size_t size;    /* bytes passed to the driver: the block without its outermost guards */
    size_t used;    /* bytes */
    uint8_t seed;   /* of the fill pattern */
};
/* Allocates n regions of `bytes` in total.  WHY_MEMORY. */
int guarded_init(struct guarded *g, struct arena *a, size_t n, size_t bytes, uint8_t seed,
                 struct why *w);
/* Reserves a region and returns its offset in the memory that the driver sees. */
size_t guarded_add(struct guarded *g, size_t length);
uint8_t *guarded_at(const struct guarded *g, size_t offset);
/* The fill pattern's byte at an offset. */
uint8_t guarded_pattern(const struct guarded *g, size_t offset);
/* Fills the whole block with the pattern. */
void guarded_fill(struct guarded *g);
struct hal_memory guarded_memory(const struct guarded *g, bool writable);

#endif
