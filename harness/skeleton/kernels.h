/* What the driver runs: one kernel for each operation. */
#ifndef KERNELS_H
#define KERNELS_H

#include "hal.h"

/* Types of operands, by their codes in hal.h. */
enum { INT32 = 1, TENSOR_FLOAT32 = 3, TENSOR_QUANT8_ASYMM = 5, FIRST_TYPE_OF_1_3 = 14 };

enum { MAX_INPUTS = 3 };

/* An operand. */
struct value {
    int32_t type;
    enum hal_lifetime lifetime;
    uint32_t n_dims, dims[HAL_MAX_RANK];
    size_t bytes; /* of a tensor of known shape; else 0 */
    uint8_t *constant;
    bool is_set; /* by the time at which an operation reads it */
};

struct kernel {
    int32_t operation;
    uint32_t n_in;
    bool (*supports)(const struct value *in[], const struct value *out);
    void (*run)(const struct value *in[], const uint8_t *data[], const struct value *out,
                uint8_t *result);
};

/* The one that runs an operation on these operands; NULL: none. */
const struct kernel *kernel_for(int32_t operation, uint32_t n_in, const struct value *in[],
                                const struct value *out);

#endif
