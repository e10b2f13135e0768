/* What a request names of its pools.  Where an execution computes on copies of plain pools, because
 * it does so in another process, only that is copied there and back: others may use the rest at the
 * same time.  But a driver that writes where no output is must be seen to do so: then what it has
 * written comes back, too. */
#ifndef SIM_SPANS_H
#define SIM_SPANS_H

#include "sim/hal.h"

struct pool_span {
    uint32_t pool;
    uint64_t begin, end; /* bytes of the pool, within it */
    uint64_t padded_end; /* up to here nobody minds */
    bool is_output;
};

/* Those of a request, in ascending order; n: in all pools. */
struct spans {
    struct pool_span *span;
    uint32_t n;
};

/* ret_spans->span: room for n_inputs + n_outputs. */
void spans_find(const struct hal_request *request, struct spans *ret_spans);
/* Into the copy of one pool, which is plain; what is not named there becomes a pattern. */
void spans_copy_in(const struct spans *s, uint32_t pool, const struct hal_memory *from,
                   uint8_t *copy);
/* Outputs, and whatever else is not as it was. */
void spans_copy_back(const struct spans *s, uint32_t pool, const uint8_t *copy,
                     const struct hal_memory *to);

#endif
