/* Models that use the example extension, for tests. */
#ifndef TESTS_EXTENSION_MODEL_H
#define TESTS_EXTENSION_MODEL_H

#include "tests/support/hal_client.h"

/* What the extension attaches to its 64-bit tensors. */
struct extension_scale {
    double scale;
    int64_t zero;
};

enum { EXTENSION_PREFIX = 0x1234 }; /* as extension_model_renumber() leaves it in these models */

/* The operands of the plain model. */
enum { FIBONACCI_N, FIBONACCI_OUT };

/* n, TENSOR_INT32 [1] -> FIBONACCI -> a vector whose length is not declared. */
void extension_model_plain(struct client_model *m, struct extension_scale s);
/* x, y -> ADD -> FIBONACCI -> DEQUANTIZE64 -> RESHAPE -> one row of TENSOR_FLOAT32, `columns` of
 * them; feature level 4. */
void extension_model_mixed(struct client_model *m, struct extension_scale s, uint32_t columns);
/* IF(condition, x, y): FIBONACCI(x) or FIBONACCI(y), scalars, as vectors of five. */
void extension_model_branch(struct client_model *m);
/* The model is made; the client's prefix becomes `prefix` everywhere. */
void extension_model_renumber(struct client_model *m, uint16_t prefix);

/* One input of n int32 after the other in pool 0, one output in pool 1. */
struct extension_request {
    int32_t in[4];
    union {
        int64_t q[100];
        float f[200];
    };
    struct hal_argument arg[4], out[1];
    struct hal_request_pool pool[2];
    struct hal_request hal;
    struct hal_output_shape shape[1];
    struct hal_result result;
};
/* out_bytes: room for the output. */
void extension_request_fill(struct extension_request *r, uint32_t n_inputs, uint64_t out_bytes);

/* Fibonacci's number i, from a table. */
int64_t fibonacci(uint32_t i);

#endif
