/* Arguments of an execution, and the request of the HAL that is made of them. */
#ifndef RUNTIME_DRIVER_REQUEST_H
#define RUNTIME_DRIVER_REQUEST_H

#include "runtime/devices/runtime_device.h"
#include "runtime/memory/runtime_memory.h"

enum argument_kind { ARGUMENT_UNSET, ARGUMENT_OMITTED, ARGUMENT_BUFFER, ARGUMENT_MEMORY };

struct argument {
    enum argument_kind kind;
    const struct operand *operand; /* of the model */
    struct shape shape;            /* the operand's, with what the execution adds */
    void *buffer;
    ANeuralNetworksMemory *memory;
    bool is_shape_given; /* by the execution */
    size_t offset;
    size_t length, padding; /* bytes of the value, and behind it; of an output of unknown size all
                               that there are, and 0 */
};

/* The same for a driver of some version.  Zeroed: not made. */
struct driver_request {
    void *block; /* owns the rest */
    struct hal_request hal;
    int64_t *identifiers;           /* of the pools in bursts: a memory's number; -1: none */
    ANeuralNetworksMemory **memory; /* of the pools; NULL: a buffer */
    struct hal_output_shape *shapes;
    uint64_t burst; /* number of the burst controller that keeps these memories; 0: none */
};

/* Makes it unless that has been done.  Buffers are pools of their own, without a copy; arguments in
 * one memory share a pool.  ANEURALNETWORKS_UNMAPPABLE, ANEURALNETWORKS_OUT_OF_MEMORY. */
int driver_request_make(enum level level, uint32_t n_inputs, const struct argument *input,
                        uint32_t n_outputs, const struct argument *output,
                        struct driver_request *r);
/* Does not look at the memories. */
void driver_request_done(struct driver_request *r);

/* Whether the operand is a tensor. */
bool argument_is_tensor(const struct argument *a);
/* Bytes of an element; 0: not known (OEM_SCALAR, types of extensions that no device states). */
size_t argument_element_size(const struct argument *a);
/* Whether its size is known: that of a scalar, or of a tensor with all dimensions. */
bool argument_is_known(const struct argument *a);

/* Checks the answer of a driver against the protocol: numbers of shapes, and that each agrees with
 * what is known of its output.  False: it breaks it. */
bool answer_is_valid(enum hal_status status, uint32_t n_shapes,
                     const struct hal_output_shape *shapes, uint32_t n_outputs,
                     const struct argument *output);

#endif
