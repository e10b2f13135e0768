/* One computation on one device: the request in the way that the driver has. */
#ifndef RUNTIME_ON_DRIVER_H
#define RUNTIME_ON_DRIVER_H

#include "runtime/execute/burst.h"
#include "runtime/execute/execution.h"

/* A computation's end. */
struct computed {
    int result;
    const struct hal_output_shape *shape; /* of the outputs; NULL: the driver told none */
    struct durations durations;
};

/* What is computed where. */
struct device_call {
    const ANeuralNetworksDevice *device;
    struct hal_prepared_model *prepared;
    struct driver_request *request; /* made by this call unless it has been */
    uint32_t n_inputs, n_outputs;
    const struct argument *input, *output;
    bool is_measured;
    uint64_t loop_timeout;                /* ns; HAL_NO_TIME: default */
    const struct attributes *attributes;  /* NULL: none */
    struct reusable_execution **reusable; /* NULL: the driver need not keep the execution */
};
/* The call for an execution whose compilation has one step. */
struct device_call device_call_of(ANeuralNetworksExecution *e);

/* Computes and waits for the end.  burst: NULL, or one of the prepared model.  timeout_ns 0: none.
 */
void compute_on_driver(const struct device_call *c, struct burst_controller *burst,
                       uint64_t timeout_ns, struct computed *ret);

/* The request and configuration for the driver.  Results: those of driver_request_make(), and
 * OP_FAILED for outputs that the driver could not tell the shape of. */
int device_call_make(const struct device_call *c, bool in_burst, uint64_t timeout_ns,
                     struct hal_execution_config *ret_config);

/* A computation that begins when fences have signalled. */
struct device_launch {
    uint32_t n_fds;
    const int *fds;
    uint64_t duration; /* ns after that; HAL_NO_TIME: any */
    /* Of a success: the end's fence, which the caller closes (HAL_NO_FENCE: it has come), and the
     * info, which the caller releases. */
    int fence;
    struct hal_fenced_info *info;
};
/* Whether the driver waits for fences itself. */
bool device_takes_fences(const ANeuralNetworksDevice *d, const struct hal_prepared_model *p);
int launch_on_driver(const struct device_call *c, uint64_t timeout_ns, struct device_launch *l);

/* An execution that the driver has made reusable.  It ends when a memory of its request is freed,
 * as the driver may have mapped it. */
struct reusable_execution;
/* Whether it is to be used: the execution is to be kept, and the driver has that. */
bool reusable_execution_applies(const struct device_call *c);
/* Makes it at the first call; NULL: *ret_status tells why not. */
struct hal_execution *reusable_execution_get(const struct device_call *c,
                                             const struct hal_execution_config *config,
                                             enum hal_status *ret_status);
void reusable_execution_free(struct reusable_execution *r);

/* The result for a driver's status, with its reason in the log. */
int result_of_call(const ANeuralNetworksDevice *d, enum hal_status status, const char *reason);

#endif
