/* The driver's kernels: one for each operation that it supports. */
#ifndef KERNELS_H
#define KERNELS_H

#include "hal.h"

enum { MAX_INPUTS = 13, MAX_OUTPUTS = 2, MAX_RANK = 4 };

/* An operand, in the model and in an execution. */
struct operand {
    int32_t type;
    uint32_t n_dims;             /* 0: a scalar, or a tensor of unknown rank */
    uint32_t dims[HAL_MAX_RANK]; /* model: 0 is unknown; execution: 0 has no elements */
    float scale;
    int32_t zero;
    uint32_t n_scales; /* TENSOR_QUANT8_SYMM_PER_CHANNEL: one scale per index of dimension */
    uint32_t channel_dim;
    float *scales;

    /* The value, row-major, not aligned.  In the model: of a constant, else NULL.  In an execution
     * NULL: omitted. */
    uint8_t *data;
    bool is_omitted; /* in the model; an execution may omit others, see `optional` */
};

/* The operands of one operation. */
struct arguments {
    uint32_t n_in, n_out;
    const struct operand *in[MAX_INPUTS];
    struct operand *out[MAX_OUTPUTS];
};

struct kernel {
    int32_t operation; /* enum hal_operation_type */
    uint32_t n_in, n_out;
    uint32_t optional; /* bit i: input i may be omitted */
    /* Whether it can run with n_in inputs of these types, constants, and shapes so far as the model
     * knows them.  The model is valid by NNAPI's rules. */
    bool (*supports)(const struct arguments *a);
    /* Computes the shapes of the outputs from those of the inputs.  False: they contradict. */
    bool (*shape)(struct arguments *a);
    /* Computes the outputs. */
    void (*run)(const struct arguments *a);
};

/* The kernel that runs an operation on these operands; NULL: not supported. */
const struct kernel *kernel_for(int32_t operation, const struct arguments *a);

/* Bytes of an element of a type that a kernel uses; 0: another type. */
size_t element_size(int32_t type);
/* Number of elements; UINT64_MAX: too many. */
uint64_t element_count(const struct operand *o);

/* kernel_conv_2d.c */
bool conv_2d_supports(const struct arguments *a);
bool conv_2d_shape(struct arguments *a);
void conv_2d_run(const struct arguments *a);

/* An INT32 or BOOL constant of the model; `otherwise` if it is omitted or not there.  False: known
 * only when the model is executed. */
bool read_constant(const struct arguments *a, uint32_t i, int32_t otherwise, int32_t *ret);
float activate(float x, int32_t activation); /* 0 none, 1 RELU, 2 RELU1, 3 RELU6 */
float get_float(const struct operand *o, size_t at);
void put_float(const struct operand *o, size_t at, float x);

/* The shape of output 0, to which inputs 0 and 1 are broadcast.  False: they do not fit. */
bool broadcast_shape(struct arguments *a);
/* The element of such an input that belongs to element `at` of the output. */
size_t broadcast_index(const struct operand *in, const struct operand *out, size_t at);

#endif
