/* The service's implementation of each call, one function per method of sim/wire/wire.proto. */
#ifndef SIM_SESSION_CALLS_H
#define SIM_SESSION_CALLS_H

#include "sim/service/session.h"
#include "sim/wire/wire_records.h"

/* A call being executed. */
struct answer {
    struct channel *c;
    struct session *s;
    struct hal_driver *d;
    const Wire__Call *call;
    struct object *o;     /* that the call names, pinned; of methods of an object */
    struct wire_fds *fds; /* received with the call */
    Wire__Reply *reply;
    struct wire_fds *out; /* to be sent with the reply */
    struct arena *a;
    struct why *w;
};

/* The function for each method.  0: the reply is filled.  -1: the client violated the protocol, or
 * WHY_MEMORY. */
#define ANSWERS(X)                                                                                 \
    X(OPEN_CHANNEL, answer_open_channel)                                                           \
    X(OPEN_EVENTS, answer_open_events)                                                             \
    X(SET_STAGING, answer_set_staging)                                                             \
    X(GET_INFO, answer_get_info)                                                                   \
    X(GET_STATUS, answer_get_status)                                                               \
    X(GET_CAPABILITIES, answer_get_capabilities)                                                   \
    X(GET_SUPPORTED_OPERATIONS, answer_get_supported_operations)                                   \
    X(PREPARE_MODEL, answer_prepare_model)                                                         \
    X(PREPARE_MODEL_FROM_CACHE, answer_prepare_model_from_cache)                                   \
    X(ALLOCATE, answer_allocate)                                                                   \
    X(COPY_TO, answer_copy)                                                                        \
    X(COPY_FROM, answer_copy)                                                                      \
    X(EXECUTE_SYNCHRONOUSLY, answer_execute_synchronously)                                         \
    X(EXECUTE, answer_execute)                                                                     \
    X(EXECUTE_FENCED, answer_execute_fenced)                                                       \
    X(CONFIGURE_BURST, answer_configure_burst)                                                     \
    X(CREATE_REUSABLE_EXECUTION, answer_create_reusable_execution)                                 \
    X(RELEASE, answer_release)                                                                     \
    X(BURST_EXECUTE, answer_burst_execute)                                                         \
    X(BURST_RELEASE_MEMORY, answer_burst_release_memory)                                           \
    X(REUSABLE_EXECUTE, answer_reusable_execute)                                                   \
    X(REUSABLE_EXECUTE_FENCED, answer_reusable_execute_fenced)                                     \
    X(GET_EXECUTION_INFO, answer_get_execution_info)

typedef int answer_fn(struct answer *q);
#define X(code, function) answer_fn function;
ANSWERS(X)
#undef X

/* Sets the reply's status and returns 0. */
int answer_status(const struct answer *q, enum hal_status s);
/* The same with the status of a method of the driver that has just returned, and its reason. */
int answer_result(const struct answer *q, enum hal_status s);
/* HAL_GENERAL_FAILURE, as a contract violation of the driver, for a result of its that cannot be
 * sent for the reason q->w; -1: out of memory. */
int answer_violation(const struct answer *q);
/* Puts the status and the handle of a new object into the reply.  No handle if the driver returned
 * no object: the client then sees the violation as it would in the driver's process. */
int answer_object(struct answer *q, enum hal_status s, const struct object *what);

#endif
