/* Answering calls: what the files that do so share. */
#ifndef SIM_SESSION_ANSWER_H
#define SIM_SESSION_ANSWER_H

#include "sim/service/session.h"

/* A call being answered. */
struct answer {
    struct channel *c;
    struct session *s;
    struct hal_driver *d;
    const Wire__Call *call;
    struct wire_fds *fds; /* the client's */
    Wire__Reply *reply;
    struct wire_fds *out;
    struct arena *a;
    struct why *w;
};

typedef int answer_fn(struct answer *q);

/* 0: the reply is filled.  -1: the client broke the protocol, or WHY_MEMORY. */
answer_fn answer_open_channel, answer_open_events, answer_set_staging;
answer_fn answer_get_info, answer_get_status, answer_get_capabilities;
answer_fn answer_get_supported_operations, answer_prepare_model, answer_prepare_model_from_cache;
answer_fn answer_allocate, answer_copy;
answer_fn answer_execute_synchronously, answer_execute, answer_execute_fenced;
answer_fn answer_configure_burst, answer_create_reusable_execution, answer_release;
answer_fn answer_burst_execute, answer_burst_release_memory;
answer_fn answer_reusable_execute, answer_reusable_execute_fenced, answer_get_execution_info;

int answer_no_memory(const struct answer *q);
int answer_status(const struct answer *q, enum hal_status s);
int answer_hints(const struct answer *q, size_t n, Wire__TokenValue *const *m,
                 const struct hal_token_value **ret_hints);
/* Runs f with the object that the call names; a handle that is none is the client's mistake, which
 * a driver would have answered so. */
int answer_with_object(struct answer *q, enum object_kind kind,
                       int (*f)(struct answer *q, struct object *o));
/* The handle of something new, for the reply: none where the driver has made nothing, which a
 * client learns as it would in the driver's process. */
int answer_object(struct answer *q, enum hal_status s, const struct object *what);

#endif
