/* Memory that is lent to a driver for a request: regions between guard bytes, which show whether
 * the driver wrote where it must not. */
#ifndef SIM_GUARDED_MEMORY_H
#define SIM_GUARDED_MEMORY_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

/* Memory of a request, with guards: every region of it is surrounded by bytes that nobody may
 * write.
 */
enum { GUARD = 64 };
struct guarded {
    uint8_t *block; /* of the arena */
    size_t size;    /* of the memory that is lent: the block without its outermost guards */
    size_t used;
    uint8_t seed; /* of the pattern */
};
/* Room for n regions of `bytes` in all. */
int guarded_init(struct guarded *g, struct arena *a, size_t n, size_t bytes, uint8_t seed,
                 struct why *w);
/* A region; its offset in the lent memory. */
size_t guarded_add(struct guarded *g, size_t length);
uint8_t *guarded_at(const struct guarded *g, size_t offset);
/* What a byte at an offset was filled with. */
uint8_t guarded_pattern(const struct guarded *g, size_t offset);
void guarded_fill(struct guarded *g);
struct hal_memory guarded_memory(const struct guarded *g, bool writable);

#endif
