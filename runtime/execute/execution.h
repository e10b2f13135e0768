/* Executions of the C API: arguments, computing, results.
 *
 *     PREPARING    arguments and settings may be set
 *     RUNNING      from a start until it is complete: of a fenced start, until its event was waited
 *                  for or freed
 *     COMPLETED    results may be read; a reusable execution may be started again
 *
 * Any number of threads may start an execution at once: one of them does. */
#ifndef RUNTIME_EXECUTION_H
#define RUNTIME_EXECUTION_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/compile/compilation.h"
#include "runtime/execute/driver_request.h"
#include "runtime/telemetry/telemetry.h"

enum execution_state { EXECUTION_PREPARING, EXECUTION_RUNNING, EXECUTION_COMPLETED };

/* Durations in ns by DurationCode; HAL_NO_TIME: not known. */
struct durations {
    uint64_t ns[ANEURALNETWORKS_FENCED_DURATION_IN_DRIVER + 1];
};

struct ANeuralNetworksExecution {
    ANeuralNetworksCompilation *compilation;
    atomic_uint references; /* the client's, and that of a computation */
    uint32_t n_inputs, n_outputs;
    struct argument *input, *output; /* behind this structure; fixed once it has been started */

    /* Settings, fixed once it has been started. */
    bool is_reusable, is_padded, is_measured;
    uint64_t timeout, loop_timeout; /* ns; timeout 0: none; loop_timeout HAL_NO_TIME: default */
    struct attributes attributes;

    pthread_mutex_t lock; /* of what follows, up to `request` */
    enum execution_state state;
    bool is_padding_fixed; /* an argument was given */
    /* Of the computation that runs; the time only while telemetry is on. */
    ANeuralNetworksDiagnosticExecutionMode mode;
    uint64_t begun;                 /* CLOCK_MONOTONIC; 0: not noted */
    int result;                     /* of the last computation */
    struct hal_output_shape *shape; /* of the outputs after it, as far as they are known */
    struct durations durations;

    /* Of the thread that computes. */
    bool fell_back;                 /* to the reference */
    struct driver_request request;  /* for the compilation's device; made at the first start */
    struct driver_request fallback; /* for the reference */
    struct reusable_execution *reusable;
    struct plan_run *plan_run; /* of a plan of several steps; NULL: not yet */
};

/* Each is the function of the C API with its name: checks, results.  memory NULL: an argument that
 * is given by its address (`buffer`; NULL: omitted). */
int execution_create(ANeuralNetworksCompilation *c, ANeuralNetworksExecution **ret);
void execution_release(ANeuralNetworksExecution *e);
struct given_argument {
    int32_t index;
    const ANeuralNetworksOperandType *type; /* NULL: as in the model */
    void *buffer;
    ANeuralNetworksMemory *memory;
    size_t offset, length;
};
int execution_set_input(ANeuralNetworksExecution *e, const struct given_argument *g);
int execution_set_output(ANeuralNetworksExecution *e, const struct given_argument *g);
int execution_set_measure(ANeuralNetworksExecution *e, bool measure);
int execution_set_timeout(ANeuralNetworksExecution *e, uint64_t ns);
int execution_set_loop_timeout(ANeuralNetworksExecution *e, uint64_t ns);
int execution_set_padded(ANeuralNetworksExecution *e, bool padded);
int execution_set_reusable(ANeuralNetworksExecution *e, bool reusable);
int execution_add_attribute(ANeuralNetworksExecution *e, const char *extension, uint16_t code,
                            const void *data, size_t length);
int execution_duration(ANeuralNetworksExecution *e, int32_t code, uint64_t *ret);
int execution_output_rank(ANeuralNetworksExecution *e, int32_t index, uint32_t *ret);
int execution_output_dimensions(ANeuralNetworksExecution *e, int32_t index, uint32_t *ret);

/* ---- for the rooms' own use */

/* BAD_STATE unless nothing has been started yet.  The lock is held. */
int execution_check_preparing(const ANeuralNetworksExecution *e);
/* The gate of every start: RUNNING with NO_ERROR, or why not. */
int execution_begin(ANeuralNetworksExecution *e, ANeuralNetworksDiagnosticExecutionMode mode);
/* The end of what execution_begin() began, with its telemetry.  shape: n_outputs of them, or NULL:
 * none are known. */
void execution_end(ANeuralNetworksExecution *e, int result, const struct hal_output_shape *shape,
                   const struct durations *durations);
extern const struct durations unknown_durations;
/* What is known of an output before it is computed. */
struct hal_output_shape declared_shape(const struct argument *a);

/* Keeps it until execution_unref(). */
void execution_ref(ANeuralNetworksExecution *e);
void execution_unref(ANeuralNetworksExecution *e);

#endif
