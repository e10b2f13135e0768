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

typedef int answer_fn(struct answer *q);

/* 0: the reply is filled.  -1: the client violated the protocol, or WHY_MEMORY. */
answer_fn answer_open_channel, answer_open_events, answer_set_staging;
answer_fn answer_get_info, answer_get_status, answer_get_capabilities;
answer_fn answer_get_supported_operations, answer_prepare_model, answer_prepare_model_from_cache;
answer_fn answer_allocate, answer_copy;
answer_fn answer_execute_synchronously, answer_execute, answer_execute_fenced;
answer_fn answer_configure_burst, answer_create_reusable_execution, answer_release;
answer_fn answer_burst_execute, answer_burst_release_memory;
answer_fn answer_reusable_execute, answer_reusable_execute_fenced, answer_get_execution_info;

/* Sets the reply's status and returns 0. */
int answer_status(const struct answer *q, enum hal_status s);
/* The same with the status of a method of the driver that has just returned, and its reason. */
int answer_result(const struct answer *q, enum hal_status s);
/* Puts the status and the handle of a new object into the reply.  No handle if the driver returned
 * no object: the client then sees the violation as it would in the driver's process. */
int answer_object(struct answer *q, enum hal_status s, const struct object *what);

#endif
