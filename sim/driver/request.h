/* A request as a driver receives it: checked against the model, its memory mapped. */
#ifndef SIM_REQUEST_H
#define SIM_REQUEST_H

#include "golden/model/model.h"
#include "sim/base/memory.h"
#include "sim/driver/domain.h"

/* A pool: the client's memory, or a buffer of the driver. */
struct request_pool {
    struct mapping mapping;
    struct buffer *buffer; /* NULL: memory */
};

/* An operand's value: bytes of the client, or a buffer. */
struct request_place {
    uint8_t *address;
    size_t length;
    struct buffer *buffer;
};

/* Room that the client gave for an output: neither address nor buffer when it was left out. */
struct request_output {
    struct request_place place;
    bool is_scalar;
    struct shape shape; /* that model and request ask for; rank 0 or dimensions 0: unknown */
};

struct request {
    struct arena *arena;
    uint32_t n_inputs, n_outputs, n_pools;
    struct request_pool *pools;
    struct tensor *in; /* types and shapes; also values, once read */
    struct request_place *in_place;
    struct request_output *out;
    size_t withhold; /* a fault: so many bytes at the end of every output are not written */
};

/* Whose request it is. */
struct request_context {
    enum hal_version version;
    const struct model *model;
    uint64_t number; /* of the prepared model */
    struct buffers *buffers;
    const struct mapping *kept; /* per pool, what is mapped already (else no address); or NULL */
};

/* WHY_INVALID when it does not fit the model, WHY_MEMORY.  arena: for all that it holds, and for
 * what its inputs hold. */
int request_open(const struct hal_request *hal, const struct request_context *c,
                 struct arena *arena, struct request *ret_request, struct why *w);
void request_close(struct request *r);

/* Copies the inputs, aligned, into its arena: the client may change its memory while the device
 * computes, or let it be long in coming, so that it is read before the device is the job's. Buffers
 * hold what earlier executions left there, and are read by whoever has the device: WHY_EXECUTION
 * where one holds nothing, or another shape. */
int request_read_memory(struct request *r, struct why *w);
int request_read_buffers(struct request *r, struct why *w);

/* Whether every output has a known shape with elements, as fenced executions need. */
bool request_is_specified(const struct request *r);

/* Holds results against what the client wants and writes those that go to buffers.  shapes: one per
 * output, filled.  1 when an output does not fit (is_sufficient says which), -1 with WHY_EXECUTION
 * when a result contradicts the request. */
int request_write_buffers(const struct request *r, const struct tensor *out,
                          struct hal_output_shape *shapes, struct why *w);
/* Then, when all fit and others have the device, the rest. */
void request_write_memory(const struct request *r, const struct tensor *out);

#endif
