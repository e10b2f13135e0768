/* Small models whose tensors all have one type and shape, as suites use them for memory domains:
 * one or two CONV_2D, an ADD, and one or two RESHAPE; and buffers of a driver for their inputs and
 * outputs. */
#ifndef HARNESS_CONFORM_GRAPHS_H
#define HARNESS_CONFORM_GRAPHS_H

#include "harness/conform/conform_models.h"

/* Type, quantisation and shape of all tensors of a graph, except constants. */
struct conform_tensor_type {
    const char *name;
    enum dtype type;
    float scale;
    int32_t zero;
    struct shape shape; /* as declared: dimension 0 may be unknown (0) */
};

struct conform_graph {
    const char *name;
    uint32_t n_inputs, n_outputs;
    bool any_rank; /* else 4 */
    void (*build)(struct build *b, const struct conform_tensor_type *tensor_type);
};
extern const struct conform_graph conform_graphs[];
extern const int conform_n_graphs;

/* Builds the graph, with small numbers as inputs, `batch` as dimension 0 where the declared shape
 * leaves it unknown, and the reference's results as expected outputs.  To be ended with
 * conform_model_done(). */
void conform_graph_model(struct conform_model *m, const struct conform_graph *g,
                         const struct conform_tensor_type *tensor_type, uint32_t batch);

/* The types of the suites, all of shape {1, 32, 32, 8}: float32, float16, quant8, quant8_signed. */
enum { CONFORM_TENSOR_TYPES = 4 };
extern const struct conform_tensor_type conform_tensor_types[CONFORM_TENSOR_TYPES];
/* The same with dimension 0 unknown. */
struct conform_tensor_type conform_tensor_type_open(const struct conform_tensor_type *tensor_type);

/* A graph of one type, prepared on a device that supports it. */
struct conform_graph_subject {
    struct conform *conform;
    const struct conform_tensor_type *tensor_type;
    const struct conform_graph *graph;
    struct conform_model model;
    struct hal_prepared_model *prepared;
};
typedef void conform_with_graph(struct conform_graph_subject *s);
/* Calls `with` for every graph and type that the device supports; open: with dimension 0 unknown.
 */
void conform_each_graph(struct conform *c, bool open, conform_with_graph *with);

/* Arguments of allocate: the buffer's roles and dimensions.  A role of model CONFORM_NO_MODEL ends
 * a list. */
enum { CONFORM_ROLES = 2, CONFORM_NO_MODEL = 99 };
struct conform_allocation {
    const char *what; /* for messages */
    struct hal_buffer_role in[CONFORM_ROLES + 1], out[CONFORM_ROLES + 1];
    uint32_t n_dims, dims[4];
};
/* For input 0, and for output 0, of model 0. */
extern const struct conform_allocation conform_one_input, conform_one_output;

/* Allocates a buffer, released by the caller; NULL, with the status, if the driver refuses or has
 * no allocate() (HAL_GENERAL_FAILURE).  Checks that buffer and token are returned with HAL_NONE and
 * with no other status. */
struct hal_buffer *conform_allocate(struct conform *c, const struct conform_allocation *a,
                                    struct hal_prepared_model *const *models, uint32_t n_models,
                                    uint32_t *ret_token, enum hal_status *ret_status);
/* The same for the subject's model.  A driver may refuse by HAL_GENERAL_FAILURE, and a rule without
 * other checks is not applicable then; any other failure is one of the rule. */
struct hal_buffer *conform_must_allocate(struct conform_graph_subject *s,
                                         const struct conform_allocation *a, uint32_t *ret_token);

#endif
