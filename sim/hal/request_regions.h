/* The regions of its pools that a request uses.  An execution in another process computes on copies
 * of plain pools; only these regions are copied there and back, so that concurrent executions may
 * use the rest of a pool.  Writes outside the outputs must still be detected: the rest of the copy
 * is filled with a pattern, and bytes that the driver changed are copied back, too. */
#ifndef SIM_REQUEST_REGIONS_H
#define SIM_REQUEST_REGIONS_H

#include "sim/hal.h"

struct pool_region {
    uint32_t pool;
    uint64_t begin, end; /* byte offsets, clipped to the pool */
    uint64_t padded_end; /* end of the padding, which is not checked */
    bool is_output;
};

/* The n regions of a request in all pools, sorted by pool and begin. */
struct request_regions {
    struct pool_region *span;
    uint32_t n;
};

/* ret_spans->span: the caller's array of n_inputs + n_outputs elements.  Arguments outside of their
 * pool are skipped; the driver rejects them. */
void request_regions_find(const struct hal_request *request, struct request_regions *ret_spans);
/* Copies the regions of one plain pool to `copy`, which has the pool's size, and fills the rest
 * with the pattern. */
void request_regions_copy_in(const struct request_regions *s, uint32_t pool,
                             const struct hal_memory *from, uint8_t *copy);
/* Copies back the outputs, and other bytes that differ from what request_regions_copy_in() wrote.
 */
void request_regions_copy_back(const struct request_regions *s, uint32_t pool, const uint8_t *copy,
                               const struct hal_memory *to);

#endif
