/* Requests for models of examples, and every kind of execution, as a conformance suite uses them.
 */
#ifndef TESTS_VTS_REQUESTS_H
#define TESTS_VTS_REQUESTS_H

#include "tests/vts_models.h"

/* The inputs in one pool, room for the outputs in another; more pools may follow. */
enum { VTS_POOLS = 8 };
struct vts_request {
    struct hal_request hal;
    struct hal_argument *inputs, *outputs; /* where hal's point */
    struct hal_request_pool pool[VTS_POOLS];
    struct hal_result result;
    struct hal_timing launched; /* of fenced executions; result.timing is from the fences on */
    enum hal_status launch;     /* what the call itself said, where the end comes later */
};
void vts_request(const struct example *e, struct arena *a, struct vts_request *ret_request);

/* The argument lies in the buffer of that token, in a pool of its own. */
void vts_request_name(struct vts_request *r, struct hal_argument *a, uint32_t token);

/* Whether every output has a known shape with elements, as fenced executions need. */
bool vts_request_is_specified(const struct example *e);

/* A kind of execution; the answer and r->result are those of the end.  What the kind must not hand
 * out with a failure (a fence, an info, an execution, launch times) fails the test, and so does a
 * reusable execution that ends otherwise the second time. */
struct vts_kind {
    const char *name;
    enum hal_version since, until, deadlines; /* deadlines: since when it has them */
    bool needs_shapes; /* outputs of unknown shape are HAL_INVALID_ARGUMENT */
    bool reports;      /* the shapes of the outputs */
    bool launches;     /* the call returns before the end */
    enum hal_status (*run)(struct hal_prepared_model *p, enum hal_version version,
                           struct vts_request *r, const struct hal_execution_config *config);
};
extern const struct vts_kind vts_kinds[];
extern const int vts_n_kinds;
bool vts_kind_is_of(const struct vts_kind *k, enum hal_version version);

/* As it must be with every failure but for outputs that are too short. */
bool vts_result_is_empty(const struct hal_result *r);

/* Whether what lies in the outputs are these values, bit for bit. */
bool vts_outputs_are(const struct vts_request *r, const struct tensor *expected);

/* A model that is prepared, with a request for it. */
struct vts_subject {
    struct vts_model model;
    struct hal_prepared_model *prepared; /* NULL: not supported */
    struct vts_request request;
};
void vts_subject_open(struct vts_cell *c, const struct one_op *o, struct vts_subject *ret_subject);
/* The same of what the device must support; false: it does not, which has been told. */
bool vts_subject_must_open(struct vts_cell *c, const struct one_op *o,
                           struct vts_subject *ret_subject);
void vts_subject_close(struct vts_subject *s);
/* The request as it was at first, its outputs filled with something. */
void vts_subject_renew(struct vts_subject *s);
bool vts_subject_is_right(const struct vts_subject *s);

#endif
