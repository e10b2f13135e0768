/* What the files of the client's end share. */
#ifndef SIM_REMOTE_INTERNAL_H
#define SIM_REMOTE_INTERNAL_H

#include <pthread.h>

#include "sim/hal/hal_answer.h"
#include "sim/remote/remote.h"
#include "sim/remote/shared.h"
#include "sim/service/burst_server.h"
#include "sim/wire/wire.h"

/* That the message of a reply or an event may take. */
enum { REMOTE_REPLY_MEMORY = 1 << 28 };

/* A socket that carries one call at a time, with memory that both sides see. */
struct remote_channel {
    struct remote_channel *next;
    int socket;
    struct spin spin; /* of the waits for a reply */
    struct wire_staging staging;
    struct arena *arena; /* of the call under way */
};

/* What the service will call back. */
struct remote_callback {
    struct remote_callback *next;
    uint64_t id;
    struct hal_prepare_callback *prepare; /* one of the two */
    struct hal_execution_callback *execution;
    struct shared *shared; /* memory to be copied back before execution is told; NULL: none */
};

/* Constant for the driver's life; asked once. */
struct remote_info {
    enum hal_status type_status, version_status, extensions_status, cache_status;
    enum hal_device_type type;
    const char *version;
    uint32_t n_extensions, n_model_cache, n_data_cache;
    const struct hal_extension *extensions;
    struct hal_capabilities capabilities[HAL_FL8 + 1]; /* by version */
    bool has_capabilities[HAL_FL8 + 1];
};

struct remote {
    struct hal_driver base;
    struct arena *arena; /* what the driver says of itself */
    struct remote_info info;
    struct remote_channel *first; /* only for asking for more of them */
    pthread_mutex_t asking;
    int events;
    int stop; /* an eventfd: readable once the connection ends */
    double patience;
    pthread_t thread; /* reads the events */

    pthread_mutex_t lock; /* of what follows */
    struct remote_channel *idle;
    unsigned busy; /* channels that carry a call */
    struct remote_callback *callbacks;
    uint64_t last_id;
    unsigned waiting; /* threads of remote_start() */
    pthread_cond_t changed;
    bool is_dead, is_closing;
    char breach[160];
    struct why why;
};

/* A call in the making and its answer. */
struct remote_call {
    struct remote *r;
    struct remote_channel *c;
    struct arena *a;
    Wire__Call call;
    struct wire_fds fds;
    const Wire__Reply *reply;
    struct wire_fds reply_fds; /* the caller's: taken or closed at the end */
    struct why why;
};

/* Begins one on a channel of its own, waiting for one if there must be no more of them.  version:
 * 0: the method has none.  -1, as remote_failure() says: dead, or no memory. */
int remote_begin(struct remote *r, Wire__Method method, enum hal_version version,
                 struct remote_call *ret_call);
/* Besides the call itself; -1 when it is refused. */
int remote_exchange(struct remote_channel *c, Wire__Call *call, const struct wire_fds *fds,
                    struct why *w);
/* -1, with q->why: there are none, or no memory. */
int remote_put_hints(struct remote_call *q, uint32_t n, const struct hal_token_value *hints,
                     Wire__TokenValue ***ret_hints);
/* Sends it and waits.  DEVICE_UNAVAILABLE when the other side is gone or answers nonsense. */
enum hal_status remote_run(struct remote_call *q);
void remote_end(struct remote_call *q);
/* After a call with a callback: true when nobody will call back, so that the caller has to, with
 * *status.  Where somebody has, although no reply came, it was launched: *status becomes HAL_NONE.
 */
bool remote_launch_failed(struct remote_call *q, enum hal_status *status);
/* The answer to a call that failed, as q->why says, in the words of the call's version. */
enum hal_status remote_failure(const struct remote_call *q);
/* The other side is not to be talked to any more. */
void remote_give_up(struct remote *r, const struct why *w);

/* sim/remote/remote_events.c */

/* Names a callback in the call; -1, with q->why: no memory. */
int remote_await(struct remote_call *q, const struct remote_callback *callback);
/* Takes it back; false when it has been called already. */
bool remote_forget(struct remote *r, uint64_t id);
/* The thread of the connection's events, until it ends: then whoever still waits is told. */
void *remote_run_events(void *r);

/* What the driver did at the service against the contract, for remote_take_breach(); the first
 * stands. */
__attribute__((format(printf, 2, 3))) void remote_breach(struct remote *r, const char *fmt, ...);

/* Reads shapes and timing of an answer; false when they make no sense. */
bool remote_take_result(size_t n, Wire__Shape *const *shapes, const Wire__Timing *timing,
                        struct hal_result *result);
struct hal_timing remote_take_timing(const Wire__Timing *t);

/* Runs f(argument) on a thread that waits for fences, no longer than until r->stop is readable, and
 * ends with remote_leave(); -1: no thread. */
int remote_start(struct remote *r, void *(*f)(void *argument), void *argument);
void remote_leave(struct remote *r);

/* sim/remote/remote_driver.c: the driver's own methods; asks what it says of itself, over r->first.
 */
int remote_describe(struct remote *r, struct why *w);
void remote_close(struct hal_driver *self);

/* One call over r->first while nothing else is there yet; the reply lives in its arena. */
int remote_ask_first(struct remote *r, Wire__Call *call, const Wire__Reply **ret_reply,
                     struct why *w);

/* Handles of objects at the service. */
void remote_release(struct remote *r, uint64_t handle);

struct remote_prepared {
    struct hal_prepared_model base;
    struct remote *r;
    uint64_t handle;
};

struct hal_prepared_model *remote_prepared_new(struct remote *r, uint64_t handle);
/* 0 where it is not a model of this driver's. */
uint64_t remote_prepared_handle(const struct remote *r, struct hal_prepared_model *m);
struct hal_buffer *remote_buffer_new(struct remote *r, uint64_t handle);

/* Makes the memory of the call's channel that large; -1: the service refuses. */
int remote_grow_staging(struct remote_call *q, uint64_t size);
/* A call that has been begun, with its object and what belongs to the method: the request's plain
 * memory goes through that of the channel. */
enum hal_status remote_run_staged(struct remote_call *q, const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  struct hal_result *result);

/* sim/remote/remote_burst.c: a burst at the service, with queues of these lengths; ret_fds: of the
 * client's end, none where the service has no queues to give. */
enum hal_status remote_open_burst(struct hal_prepared_model *model, enum hal_version version,
                                  uint32_t request_length, uint32_t result_length,
                                  uint64_t *ret_handle, struct burst_fds *ret_fds);
enum hal_status remote_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst);

/* A fenced method with its object and request: waits, runs, answers as execute_fenced() does.
 * Leaves the memory, if it was taken, when it is over. */
enum hal_status remote_run_fenced(struct remote_call *q, uint32_t n_wait_for, const int *wait_for,
                                  struct shared *shared, int *ret_fence,
                                  struct hal_fenced_info **ret_info);

#endif
