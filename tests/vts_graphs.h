/* Small models whose tensors all have one type and shape, as suites use them for memory domains:
 * one or two CONV_2D, an ADD, and one or two RESHAPE, which every shipped device supports in every
 * type; and buffers of a driver for their inputs and outputs. */
#ifndef TESTS_VTS_GRAPHS_H
#define TESTS_VTS_GRAPHS_H

#include "tests/vts_models.h"

/* Type, quantisation and shape of all tensors of a graph, except constants. */
struct vts_tensor_type {
    const char *name;
    enum dtype type;
    float scale;
    int32_t zero;
    struct shape shape; /* as declared: dimension 0 may be unknown (0) */
};

struct vts_graph {
    const char *name;
    uint32_t n_inputs, n_outputs;
    bool everywhere; /* every shipped device supports it in every type */
    void (*build)(struct build *b, const struct vts_tensor_type *tensor_type);
};
extern const struct vts_graph vts_graphs[];
extern const int vts_n_graphs;

/* Builds the graph, with small numbers as inputs, `batch` as dimension 0 where the declared shape
 * leaves it unknown, and the reference's results as expected outputs.  To be ended with
 * vts_model_done(). */
void vts_graph_model(struct vts_model *m, const struct vts_graph *g,
                     const struct vts_tensor_type *tensor_type, uint32_t batch);

/* The types of the suites, all of shape {1, 32, 32, 8}: float32, float16, quant8, quant8_signed. */
enum { VTS_TENSOR_TYPES = 4 };
extern const struct vts_tensor_type vts_tensor_types[VTS_TENSOR_TYPES];
/* The same with dimension 0 unknown. */
struct vts_tensor_type vts_tensor_type_open(const struct vts_tensor_type *tensor_type);

/* A graph of one type, prepared on a device that supports it. */
struct vts_graph_subject {
    struct vts_cell *cell;
    const struct vts_tensor_type *tensor_type;
    const struct vts_graph *graph;
    struct vts_model model;
    struct hal_prepared_model *prepared;
};
typedef void vts_with_graph(struct vts_graph_subject *s);
/* Calls `with` for every graph and type that the device supports; open: with dimension 0 unknown.
 */
void vts_each_graph(struct vts_cell *c, bool open, vts_with_graph *with);

/* Arguments of allocate: the buffer's roles and dimensions.  A role of model VTS_NO_MODEL ends a
 * list. */
enum { VTS_ROLES = 2, VTS_NO_MODEL = 99 };
struct vts_allocation {
    const char *what; /* for messages */
    struct hal_buffer_role in[VTS_ROLES + 1], out[VTS_ROLES + 1];
    uint32_t n_dims, dims[4];
};
/* For input 0, and for output 0, of model 0. */
extern const struct vts_allocation vts_one_input, vts_one_output;

/* Allocates a buffer, released by the caller; NULL, with the status, if the driver refuses.  Checks
 * that buffer and token are returned with HAL_NONE and with no other status. */
struct hal_buffer *vts_allocate(struct vts_cell *c, const struct vts_allocation *a,
                                struct hal_prepared_model *const *models, uint32_t n_models,
                                uint32_t *ret_token, enum hal_status *ret_status);
/* The same for the subject's model; a failure is one of the rule. */
struct hal_buffer *vts_must_allocate(struct vts_graph_subject *s, const struct vts_allocation *a,
                                     uint32_t *ret_token);

#endif
