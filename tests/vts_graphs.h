/* Models of one shape and type throughout, as suites use them for memory domains: one or two
 * convolutions, an addition, and what every device supports in every type: bytes as they are. */
#ifndef TESTS_VTS_GRAPHS_H
#define TESTS_VTS_GRAPHS_H

#include "tests/vts_models.h"

/* How all operands but constants look. */
struct vts_look {
    const char *name;
    enum dtype type;
    float scale;
    int32_t zero;
    struct shape shape; /* as it is declared: dimension 0 may be open */
};

struct vts_graph {
    const char *name;
    uint32_t n_inputs, n_outputs;
    bool everywhere; /* every device supports it in every look */
    void (*build)(struct build *b, const struct vts_look *look);
};
extern const struct vts_graph vts_graphs[];
extern const int vts_n_graphs;

/* Its inputs are small numbers, of `batch` as dimension 0 where that is open; expected is what
 * comes out. */
void vts_graph_model(struct vts_model *m, const struct vts_graph *g, const struct vts_look *look,
                     uint32_t batch);

/* The looks of the suites: floats, halves, bytes and signed bytes of shape {1, 32, 32, 8}. */
enum { VTS_LOOKS = 4 };
extern const struct vts_look vts_looks[VTS_LOOKS];
/* The same with dimension 0 open. */
struct vts_look vts_look_open(const struct vts_look *look);

/* A graph in a look, prepared on a device that supports it. */
struct vts_graph_subject {
    struct vts_cell *cell;
    const struct vts_look *look;
    const struct vts_graph *graph;
    struct vts_model model;
    struct hal_prepared_model *prepared;
};
typedef void vts_with_graph(struct vts_graph_subject *s);
void vts_each_graph(struct vts_cell *c, bool open, vts_with_graph *with);

/* Roles of a buffer, and what its description says; a role of model VTS_NOBODY ends a list. */
enum { VTS_ROLES = 2, VTS_NOBODY = 99 };
struct vts_allocation {
    const char *what;
    struct hal_buffer_role in[VTS_ROLES + 1], out[VTS_ROLES + 1];
    uint32_t n_dims, dims[4];
};
extern const struct vts_allocation vts_one_input, vts_one_output;

/* NULL: it was not allocated.  Checks that a token comes with a buffer alone. */
struct hal_buffer *vts_allocate(struct vts_cell *c, const struct vts_allocation *a,
                                struct hal_prepared_model *const *models, uint32_t n_models,
                                uint32_t *ret_token, enum hal_status *ret_status);
/* For the subject's model, which must succeed. */
struct hal_buffer *vts_must_allocate(struct vts_graph_subject *s, const struct vts_allocation *a,
                                     uint32_t *ret_token);

#endif
