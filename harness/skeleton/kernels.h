/* The driver's kernels: one for each operation that it supports. */
#ifndef KERNELS_H
#define KERNELS_H

#include "hal.h"

enum { MAX_INPUTS = 3 };

/* An operand of the model. */
struct value {
    int32_t type;
    enum hal_lifetime lifetime;
    uint32_t n_dims, dims[HAL_MAX_RANK];
    size_t bytes;      /* size of a supported tensor of known shape; else 0 */
    uint8_t *constant; /* its value, owned; NULL: not a constant */
    bool is_set;       /* has a value before the next operation, while a model is loaded */
};

/* An operation with n_in inputs and one output. */
struct kernel {
    int32_t operation; /* enum hal_operation_type */
    uint32_t n_in;
    /* Whether it can run on operands of these types, shapes and constants. */
    bool (*supports)(const struct value *in[], const struct value *out);
    /* Computes result, of out->bytes bytes; data[i] has the bytes of input i.  Neither need be
     * aligned. */
    void (*run)(const struct value *in[], const uint8_t *data[], const struct value *out,
                uint8_t *result);
};

/* The kernel that runs an operation on these operands; NULL: not supported. */
const struct kernel *kernel_for(int32_t operation, uint32_t n_in, const struct value *in[],
                                const struct value *out);

#endif
