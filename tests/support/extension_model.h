/* Models that use the example extension (org.halcyon.example.fibonacci), and requests for them.
 * The models are ended with client_done(); without memory the functions abort. */
#ifndef TESTS_EXTENSION_MODEL_H
#define TESTS_EXTENSION_MODEL_H

#include "tests/support/hal_client.h"

/* The extension data of TENSOR_QUANT64_ASYMM operands. */
struct extension_scale {
    double scale;
    int64_t zero;
};

enum { EXTENSION_PREFIX = 0x1234 }; /* the extension's prefix in these models when they are made */

/* Operand indexes of extension_model_plain(). */
enum { FIBONACCI_N, FIBONACCI_OUT };

/* n, TENSOR_INT32 [1] -> FIBONACCI -> a vector of unspecified length. */
void extension_model_plain(struct client_model *m, struct extension_scale s);
/* x, y, TENSOR_INT32 [1] -> ADD -> FIBONACCI -> DEQUANTIZE64 -> RESHAPE -> TENSOR_FLOAT32
 * [1,columns]; feature level 4. */
void extension_model_mixed(struct client_model *m, struct extension_scale s, uint32_t columns);
/* IF(condition, x, y): FIBONACCI(x) or FIBONACCI(y) of INT32 scalars, vectors of five elements. */
void extension_model_branch(struct client_model *m);
/* Replaces the extension's prefix of a finished model, in every type and operation code. */
void extension_model_renumber(struct client_model *m, uint16_t prefix);

/* A request whose inputs, one int32 each, follow each other in pool 0, and whose output is in
 * pool 1. */
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
/* Fills the request for n_inputs inputs; out_bytes: length of the output's location.  The caller
 * sets in[].  The request points into *r. */
void extension_request_fill(struct extension_request *r, uint32_t n_inputs, uint64_t out_bytes);

/* Fibonacci number i, i <= 92 (the largest in 64 bits): 0, 1, 1, 2 ... */
int64_t fibonacci(uint32_t i);

#endif
