/* A request inside a driver: checked against the prepared model, with its memory mapped.  Order of
 * calls: open, read_memory, (the job starts), read_buffers, run, write_buffers, (the job ends),
 * write_memory, close. */
#ifndef SIM_REQUEST_H
#define SIM_REQUEST_H

#include "golden/model/model.h"
#include "sim/base/memory.h"
#include "sim/driver/memory_domain.h"

/* A pool: the client's memory, or a buffer of the driver. */
struct request_pool {
    struct mapping mapping;
    struct device_buffer *buffer; /* a reference; NULL: memory */
};

/* Location of an operand's value: bytes in the client's memory, or a buffer. */
struct request_location {
    uint8_t *address;
    size_t length;
    struct device_buffer *buffer;
};

/* Location for an output; with neither address nor buffer the output is omitted. */
struct request_output {
    struct request_location place;
    bool is_scalar;
    struct shape shape; /* as model and request specify it; rank 0 or dimensions 0: unknown */
};

struct request {
    struct arena *arena;
    uint32_t n_inputs, n_outputs, n_pools;
    struct request_pool *pools;
    struct tensor *in; /* types and shapes; data once read */
    struct request_location *in_place;
    struct request_output *out;
    size_t
        unwritten_bytes; /* planted fault: bytes at the end of every output that are not written */
};

/* The prepared model that the request is for. */
struct request_context {
    enum hal_version version; /* of the entry point */
    const struct model *model;
    uint64_t number; /* of the prepared model, as in buffer roles */
    struct buffers *buffers;
    const struct mapping *kept; /* per pool: an existing mapping, or address NULL; may be NULL */
};

/* Checks the request and maps its pools.  arena: for its lists and the copies of its inputs.
 * WHY_INVALID: it does not fit the model or the HAL version; WHY_MEMORY, WHY_SYSTEM. */
int request_open(const struct hal_request *hal, const struct request_context *c,
                 struct arena *arena, struct request *ret_request, struct why *w);
/* Unmaps the pools and drops the references to buffers. */
void request_close(struct request *r);

/* Copies the inputs to its arena, aligned.  Client memory is read before the job holds the device:
 * the client may change it at any time, and its pages may be slow to arrive.  Buffers, which
 * earlier executions write, are read while the job holds the device; WHY_EXECUTION where one is
 * not initialised or holds another shape. */
int request_read_memory(struct request *r, struct why *w);
int request_read_buffers(struct request *r, struct why *w);

/* Whether every output that is not omitted has a known shape with elements, as fenced executions
 * require. */
bool request_is_specified(const struct request *r);

/* Checks the results against the request and writes those that go to buffers.  Fills shapes, one
 * per output.  1: a location is too small (is_sufficient shows which), nothing is written; -1,
 * WHY_EXECUTION: a result contradicts the shape that the request specifies. */
int request_write_buffers(const struct request *r, const struct tensor *out,
                          struct hal_output_shape *shapes, struct why *w);
/* After request_write_buffers() returned 0: writes the outputs in client memory. */
void request_write_memory(const struct request *r, const struct tensor *out);

#endif
