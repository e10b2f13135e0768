/* One run of a model on a driver: convert, get_supported_operations(), prepare, execute, check. */
#ifndef SIM_CASE_RUN_H
#define SIM_CASE_RUN_H

#include "golden/model/compliance.h"
#include "sim/base/guarded_memory.h"
#include "sim/client/runtime.h"
#include "sim/remote/shared_pools.h"

struct case_run {
    struct target *t;
    const struct model *m; /* as passed to the driver */
    const struct tensor *in;
    const struct shape *out_shape;
    const struct target_run_options *options;
    struct outcome *o;
    struct why *w;

    struct shared_pools *constants; /* pools of the model, for a driver in another process */
    struct hal_prepared_model *prepared;
    struct guarded input, output;
    size_t *in_at, *out_at, *out_length; /* offsets and lengths of the regions */
    uint8_t *input_copy;
    struct hal_request request;
    struct hal_result result;
    struct conversion conversion; /* of the model to the driver's version */
};

/* Converts the model to the driver's HAL version where necessary.  1: it is not representable; the
 * outcome has the reason, and the operations that are too new. */
int case_run_offer(struct case_run *c);

/* Records a violation of the contract, unless there is one already.  Returns 1: the run ends. */
__attribute__((format(printf, 2, 3))) int case_run_violation(struct case_run *c, const char *fmt,
                                                             ...);

/* 1: the status is not HAL_NONE.  A code that the driver's version does not have is a violation. */
int case_run_check_status(struct case_run *c, const char *method, enum hal_status status);
/* After an execution.  1: the driver has written to memory outside the outputs. */
int case_run_check_memory(struct case_run *c);
/* 1: output shapes or timing violate the contract. */
int case_run_check_result(struct case_run *c, enum hal_status status);

/* Output i of the main graph as the model declares it. */
const struct tensor *case_run_output(const struct case_run *c, uint32_t i);
/* Whether all dimensions are known. */
bool case_run_is_known(const struct tensor *t);

#endif
