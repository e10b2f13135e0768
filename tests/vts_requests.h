/* Requests for models of examples, and every kind of execution, as a conformance suite uses them.
 */
#ifndef TESTS_VTS_REQUESTS_H
#define TESTS_VTS_REQUESTS_H

#include "golden/model.h"
#include "sim/hal.h"

/* The inputs in one pool, room for the outputs in another. */
struct vts_request {
    struct hal_request hal;
    struct hal_argument *inputs, *outputs; /* where hal's point */
    struct hal_request_pool pool[2];
    struct hal_result result;
};
void vts_request(const struct example *e, struct arena *a, struct vts_request *ret_request);

/* Whether every output has a known shape with elements, as fenced executions need. */
bool vts_request_is_specified(const struct example *e);

/* A kind of execution; the answer and r->result are those of the end.  What the kind must not hand
 * out with a failure (a fence, an info, an execution) fails the test. */
struct vts_kind {
    const char *name;
    enum hal_version since;
    enum hal_status (*run)(struct hal_prepared_model *p, enum hal_version version,
                           struct vts_request *r, const struct hal_execution_config *config);
};
extern const struct vts_kind vts_kinds[];
extern const int vts_n_kinds;

#endif
