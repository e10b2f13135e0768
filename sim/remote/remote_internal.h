/* Internals of the client of a service. */
#ifndef SIM_REMOTE_INTERNAL_H
#define SIM_REMOTE_INTERNAL_H

#include <pthread.h>

#include "sim/base/failure_text.h"
#include "sim/hal/hal_result.h"
#include "sim/remote/remote.h"
#include "sim/remote/shared_pools.h"
#include "sim/service/burst_server.h"
#include "sim/wire/wire_records.h"

/* Maximum memory of a decoded reply or event, in bytes. */
enum { REMOTE_REPLY_MEMORY = 1 << 28 };

/* A socket that carries one call at a time, with staging memory shared with the service. */
struct remote_channel {
    struct remote_channel *next;
    int socket;
    const struct reply_limit *limit;
    struct spin spin; /* state of spinning waits for a reply */
    struct wire_staging staging;
    struct arena *arena; /* of the current call */
};

/* A pending callback. */
struct remote_callback {
    struct remote_callback *next;
    uint64_t id;
    struct hal_prepare_callback *prepare; /* either this or execution */
    struct hal_execution_callback *execution;
    struct shared_pools *shared; /* outputs to copy back before execution->notify(); NULL: none */
};

/* Properties of the driver; constant, therefore queried once. */
struct remote_info {
    struct hal_driver_info driver;
    struct hal_capabilities capabilities[HAL_FL8 + 1]; /* by version */
    bool has_capabilities[HAL_FL8 + 1];
};

struct remote {
    struct hal_driver base;
    struct arena *arena; /* of the driver's properties */
    struct remote_info info;
    struct remote_channel *first; /* used only to open further channels */
    pthread_mutex_t asking;       /* protects arena, info and first */
    int events;
    int stop; /* an eventfd: readable once the connection has ended */
    struct reply_limit limit;
    pthread_t thread; /* reads the events */

    pthread_mutex_t lock; /* protects what follows */
    struct remote_channel *idle;
    unsigned busy; /* channels that carry a call */
    struct remote_callback *callbacks;
    uint64_t last_id;
    unsigned waiting; /* threads of remote_start_thread() */
    pthread_cond_t changed;
    bool is_dead, is_closing;
    char breach[160]; /* the first violation not yet reported; "": none */
    struct why why;   /* of is_dead */
};

/* A call and its reply. */
struct remote_call {
    struct remote *r;
    struct remote_channel *c;
    struct arena *a;
    Wire__Call call;
    struct wire_fds fds;
    const Wire__Reply *reply;
    struct wire_fds reply_fds; /* taken by the caller, or closed by remote_end() */
    struct why why;
};

/* Begins a call on an idle or new channel; waits for one if the service allows no more.  version 0:
 * the method has none.  -1: the connection is dead, or out of memory; see remote_failure(). */
int remote_begin(struct remote *r, Wire__Method method, enum hal_version version,
                 struct remote_call *ret_call);
/* Exchanges a further call and reply on the channel of a call that is being prepared.  WHY_MEMORY:
 * the service has rejected it; other codes: the connection has failed. */
int remote_exchange(struct remote_channel *c, Wire__Call *call, const struct wire_fds *fds,
                    struct why *w);
/* HAL_INVALID_ARGUMENT without a call, with the reason as the text. */
enum hal_status remote_reject(const char *reason);
/* Sends the call and waits for the reply; returns its status.  q->reply is NULL if none came.
 * HAL_DEVICE_UNAVAILABLE: the connection has failed, or the reply was invalid. */
enum hal_status remote_run(struct remote_call *q);
/* Ends a call, whether or not it was run; q->reply becomes invalid. */
void remote_end(struct remote_call *q);
/* After a call with a callback.  True: no event will come for it, and the caller calls the callback
 * with *status.  False: the event has come or will come; if it has although no reply came, the
 * launch succeeded and *status is set to HAL_NONE. */
bool remote_launch_failed(struct remote_call *q, enum hal_status *status);
/* The status for a call that failed with q->why, in the codes of the call's version.  q->why
 * becomes the text of get_failure_text(). */
enum hal_status remote_failure(const struct remote_call *q);
/* Marks the connection dead, and ends all waits for events and fences. */
void remote_disconnect(struct remote *r, const struct why *w);

/* Records a contract violation for remote_take_violation(), unless there is one already. */
__attribute__((format(printf, 2, 3))) void remote_record_violation(struct remote *r,
                                                                   const char *fmt, ...);

/* Runs f(argument) on a new thread.  f may wait for fences until r->stop is readable, and calls
 * remote_end_thread() last.  -1: no thread. */
int remote_start_thread(struct remote *r, void *(*f)(void *argument), void *argument);
void remote_end_thread(struct remote *r);

/* sim/remote/remote_events.c */

/* Registers a copy of a callback and sets its id in the call.  -1 with q->why: out of memory. */
int remote_add_callback(struct remote_call *q, const struct remote_callback *callback);
/* Unregisters it; false: it has been called already. */
bool remote_remove_callback(struct remote *r, uint64_t id);
/* The thread that reads events until the connection ends, and then calls every pending callback
 * with HAL_DEVICE_UNAVAILABLE. */
void *remote_run_events(void *r);

/* sim/remote/remote_driver.c: sets the driver's methods and queries its properties over r->first.
 */
int remote_query_info(struct remote *r, struct why *w);
void remote_close(struct hal_driver *self);

/* One call over r->first, before other channels exist; the reply is in that channel's arena. */
int remote_call_first(struct remote *r, Wire__Call *call, const Wire__Reply **ret_reply,
                      struct why *w);

/* Releases an object at the service by its handle. */
void remote_release(struct remote *r, uint64_t handle);

/* A prepared model at the service. */
struct remote_prepared {
    struct hal_prepared_model base;
    struct remote *r;
    uint64_t handle;
};

/* Takes ownership of the event's handle; NULL: out of memory, and the handle is released. */
struct hal_prepared_model *remote_prepared_new(struct remote *r, const Wire__Event *e);
/* 0: not a prepared model of this driver. */
uint64_t remote_prepared_handle(const struct remote *r, struct hal_prepared_model *m);

/* Ensures that the staging memory of the call's channel has `size` bytes.  -1 with q->why: out of
 * memory, or the service rejects it. */
int remote_grow_staging(struct remote_call *q, uint64_t size);
/* Runs a synchronous execution: completes a call that has its object and method-specific members,
 * copying pools of kind ADDRESS to and from the channel's staging memory. */
enum hal_status remote_run_staged(struct remote_call *q, const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  struct hal_result *result);

/* sim/remote/remote_burst.c: creates a burst at the service with queues of these lengths in datums.
 * *ret_handle 0: the driver returned no burst.  *ret_fds: the client side of the queues, all -1 if
 * the service provides none. */
enum hal_status remote_open_burst(struct hal_prepared_model *model, enum hal_version version,
                                  uint32_t request_length, uint32_t result_length,
                                  uint64_t *ret_handle, struct burst_fds *ret_fds);
enum hal_status remote_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst);

/* Runs a fenced execution: completes a call that has its object and request.  Results as those of
 * execute_fenced().  `shared` (NULL: none) is copied in and out as needed, and released by
 * shared_pools_unlock() when the execution is over or has failed. */
enum hal_status remote_run_fenced(struct remote_call *q, uint32_t n_wait_for, const int *wait_for,
                                  struct shared_pools *shared, int *ret_fence,
                                  struct hal_fenced_info **ret_info);

#endif
