/* A request as a driver receives it: checked against the model, its memory mapped. */
#ifndef SIM_REQUEST_H
#define SIM_REQUEST_H

#include "golden/model.h"
#include "sim/memory.h"

/* Room that the client gave for an output. */
struct request_output {
    uint8_t *address; /* NULL: left out */
    size_t length;
    struct shape shape; /* that model and request ask for; rank 0 or dimensions 0: unknown */
};

struct request {
    struct arena *arena;
    uint32_t n_inputs, n_outputs, n_pools;
    struct mapping *pools;
    struct tensor *in;   /* copies of the inputs, aligned */
    uint8_t **in_memory; /* where they lie with the client */
    struct request_output *out;
    size_t withhold; /* a fault: so many bytes at the end of every output are not written */
};

/* WHY_INVALID when it does not fit the model, WHY_MEMORY.  arena: where copies go. */
int request_open(const struct hal_request *hal, enum hal_version version, const struct model *m,
                 struct arena *arena, struct request *ret_request, struct why *w);
void request_close(struct request *r);

/* Writes results to the client's memory.  shapes: one per output, filled.  1 when an output does
 * not fit (is_sufficient says which), -1 with WHY_EXECUTION when a result contradicts the request.
 */
int request_write(const struct request *r, const struct tensor *out,
                  struct hal_output_shape *shapes, struct why *w);

#endif
