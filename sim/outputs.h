/* Where a request's outputs lie in its pools.  An execution that computes on copies of plain pools
 * gives back only these: others may write the same pools at the same time, elsewhere.  But a driver
 * that writes where no output is must be seen to do so: then the rest comes back, too. */
#ifndef SIM_OUTPUTS_H
#define SIM_OUTPUTS_H

#include "sim/hal.h"

struct output_span {
    uint32_t pool;
    uint64_t begin, end; /* bytes of the pool, within it */
    uint64_t padded_end; /* up to here nobody minds */
};

/* Those of a request, in ascending order, in room for request->n_outputs; returns how many. */
uint32_t outputs_find(const struct hal_request *request, struct output_span *ret_spans);

/* The outputs of one pool, n spans in all, and the digest that the rest of its copy had before. */
struct output_copy {
    const struct output_span *spans;
    uint32_t n, pool;
    uint64_t size, rest;
};
/* Of a copy that nobody has computed on. */
struct output_copy outputs_before(const struct output_span *spans, uint32_t n, uint32_t pool,
                                  const uint8_t *copy, uint64_t size);
void outputs_copy_back(const struct output_copy *c, const uint8_t *copy, uint8_t *to);

#endif
