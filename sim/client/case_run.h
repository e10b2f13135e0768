/* One run of a model on a driver: convert, get_supported_operations(), prepare, execute, check. */
#ifndef SIM_CASE_RUN_H
#define SIM_CASE_RUN_H

#include "golden/model/compliance.h"
#include "sim/base/guarded_memory.h"
#include "sim/client/runtime.h"
#include "sim/isolation/lent_memory.h"
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
    struct guarded input, output;        /* of a driver in this process or at a service */
    size_t *in_at, *out_at, *out_length; /* offsets and lengths of the regions */
    uint8_t *input_copy;
    struct lent_region *region; /* of each output, for a hosted driver; else NULL */
    uint8_t **lent_input;       /* where each input lies, of a hosted driver */
    bool uses_kept;             /* the model that the last run has kept prepared */
    bool is_second;             /* the regions were filled with the second pattern */
    struct hal_request request;
    struct hal_result result;
    struct conversion conversion; /* of the model to the driver's version */
    struct client_buffer *buffer; /* for arguments that are to lie in buffers of the driver */
    uint32_t n_buffers;
    struct case_run *beside; /* executions at once with this one, each with its own outcome */
    uint32_t n_beside;
};

/* Converts the model to the driver's HAL version where necessary.  1: it is not representable; the
 * outcome has the reason, and the operations that are too new. */
int case_run_offer(struct case_run *c);

/* Records a violation of the contract, unless there is one already.  Returns 1: the run ends. */
__attribute__((format(printf, 2, 3))) int case_run_violation(struct case_run *c, const char *fmt,
                                                             ...);

/* A method called back more than once in run `run` of the target: a violation of this run, or a
 * late one of an earlier run. */
void case_run_note_repeated(struct case_run *c, const char *method, uint64_t run);

/* 1: the status is not HAL_NONE.  A code that the driver's version does not have is a violation. */
int case_run_check_status(struct case_run *c, const char *method, enum hal_status status);
/* After an execution.  1: the driver has written to memory outside the outputs. */
int case_run_check_memory(struct case_run *c);
/* 1: output shapes or timing violate the contract. */
int case_run_check_result(struct case_run *c, enum hal_status status);

/* ---- the steps of a run: what the driver gets, and the checks of what it did */

/* How the request is executed. */
enum execution_way case_run_way(const struct case_run *c);
/* The configurations at the driver's version. */
int case_run_configure_preparation(struct case_run *c, struct hal_prepare_config *ret);
int case_run_configure_execution(struct case_run *c, struct hal_execution_config *ret);
/* Bytes that arguments lie farther behind in their pools than otherwise. */
uint32_t case_run_shift(const struct case_run *c);
/* sim/client/case_run_beside.c: sets up the executions at once with this one; the requests follow.
 */
int case_run_begin_beside(struct case_run *c);
/* Plans buffers for the tensors of the request, whose inputs are at input_at(c, i) and whose
 * outputs are copied to output_at(c, i); in the arena `a`. */
int case_run_plan_buffers(struct case_run *c, struct arena *a, struct why *w,
                          uint8_t *(*input_at)(const struct case_run *c, uint32_t i),
                          uint8_t *(*output_at)(const struct case_run *c, uint32_t i));
/* Adds a pool for each of n arguments in the pools `from`: the bytes from `shift` before it to its
 * end. */
void case_run_separate_pools(const struct case_run *c, uint32_t n, struct hal_argument *args,
                             const struct hal_request_pool *from, struct hal_request_pool *pools,
                             uint32_t *n_pools);
/* Checks the executions beside this one and copies their outputs; `status`: of each. */
int case_run_check_beside(struct case_run *c, const enum hal_status *status,
                          int (*check_memory)(struct case_run *c));
/* Computes out_length: buffers have the declared or else the reference's shape. */
int case_run_measure_outputs(struct case_run *c);
struct hal_argument case_run_input_argument(const struct case_run *c, uint32_t i, uint32_t pool,
                                            uint64_t offset);
struct hal_argument case_run_output_argument(const struct case_run *c, uint32_t i, uint32_t pool,
                                             uint64_t offset);
/* After get_supported_operations of a model of n operations.  1: not all are supported, or the
 * contract is violated; so for the next ones. */
int case_run_check_support(struct case_run *c, uint32_t n, enum hal_status status,
                           uint32_t n_answers);
int case_run_check_prepared(struct case_run *c, enum hal_status status);
int case_run_check_methods(struct case_run *c, bool has_release, bool has_execute);
/* Keeps the reason of a failure, and the violation that the client has found. */
void case_run_take_end(struct case_run *c, const struct client_end *e);
/* Also copies the outputs, where the execution succeeded. */
int case_run_check_executed(struct case_run *c, enum hal_status status,
                            int (*check_memory)(struct case_run *c));
/* Whether outputs resemble the pattern that they were filled with: the request must be executed
 * again, with another pattern. */
bool case_run_may_be_unwritten(const struct case_run *c);
int case_run_check_second(struct case_run *c, enum hal_status status);
/* Copies the results as the driver left them into the outcome. */
int case_run_take_outputs(struct case_run *c);

/* sim/client/hosted.c: starts the driver's process, if there is none.  1: the driver does not open;
 * the outcome has the reason. */
int hosted_begin(struct case_run *c);
/* sim/client/hosted.c: from get_supported_operations to release, in the driver's process. */
int hosted_run(struct case_run *c, const struct hal_model *h);

/* Output i of the main graph as the model declares it. */
const struct tensor *case_run_output(const struct case_run *c, uint32_t i);
/* Whether all dimensions are known. */
bool case_run_is_known(const struct tensor *t);

#endif
