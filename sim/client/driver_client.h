/* One client of a driver: prepares models, executes requests in every way that the HAL has, and
 * waits for what was launched.
 *
 * It checks what every client can see: unknown statuses, callbacks that are missing, repeated or
 * contradict the launch, fences that contradict the execution's status.  Runs (target_run()), the
 * suites of `halcyon conform` and tests use it.  From any thread.
 *
 * A driver may call back late or once more: callbacks are kept after their call. */
#ifndef SIM_DRIVER_CLIENT_H
#define SIM_DRIVER_CLIENT_H

#include <pthread.h>

#include "golden/base/trace.h"
#include "sim/sim.h"
#include "sim/wire/wire_methods.h"

/* Releases an object of the driver in the middle of a section, whose time does not contain it. */
#define DRIVER_RELEASE(object)                                                                     \
    do {                                                                                           \
        TRACE_SUBTRACT(LR, PT, "release");                                                         \
        (object)->methods->release(object);                                                        \
    } while (0)

struct callback_wait; /* a callback that the driver was given */

struct driver_client {
    struct hal_driver *driver; /* asked for the reasons of failures; NULL: it is not */
    bool is_service;           /* callbacks may take as long as replies of the service */
    double patience; /* seconds that the callback of a failed launch may take; 5, unless changed */
    uint64_t run;    /* callbacks that are given to the driver from now on belong to it */
    /* Called before a method, and when only its callback or fence is awaited; may be NULL. */
    void (*at)(enum target_step step, void *user);
    void *user;

    pthread_mutex_t lock;
    struct callback_wait *waits;
};

void driver_client_init(struct driver_client *c, struct hal_driver *driver);
/* Frees the client.  The driver must have been closed before. */
void driver_client_done(struct driver_client *c);

/* The outcome of preparing a model or executing a request. */
struct client_end {
    enum hal_status launched;          /* of the call itself, which may return before the end */
    enum hal_status status;            /* at the end; `launched`, where that is a failure */
    bool lacks_callback;               /* it did not come: a violation */
    char failure_text[HAL_TEXT_BYTES]; /* the driver's reason for the status; "": none */
    char violation[160];               /* how the driver violates the contract; "": it does not */
};

/* Prepares the model through the entry point of that version, or (model NULL) restores it from the
 * cache of the configuration, and waits for the callback.  Returns the prepared model, which the
 * caller releases: not NULL only if the status is HAL_NONE.  A driver without a cache:
 * HAL_GENERAL_FAILURE. */
struct hal_prepared_model *driver_client_prepare(struct driver_client *c, enum hal_version entry,
                                                 const struct hal_model *model,
                                                 const struct hal_prepare_config *config,
                                                 struct client_end *ret_end);

/* The same with a cache: prepares the model, which writes to the cache, releases it, and restores
 * it. Where the driver needs no cache files, or does not restore it, prepares it without. */
struct hal_prepared_model *driver_client_prepare_cached(struct driver_client *c,
                                                        enum hal_version entry,
                                                        const struct hal_model *model,
                                                        const struct hal_prepare_config *config,
                                                        struct client_end *ret_end);

/* The ways of execution, by enum execution_way. */
struct execution_way_info {
    const char *name;    /* "synchronous", ... */
    Wire__Method method; /* of the prepared model */
    bool reports;        /* the shapes of the outputs */
};
extern const struct execution_way_info execution_ways[EXECUTION_WAYS];
/* The row of its method: name, versions, phase of traces. */
const struct wire_method *execution_way_method(enum execution_way way);
/* Whether the version has it. */
bool execution_way_is_of(enum execution_way way, enum hal_version version);
/* Whether the prepared model's table has its method.  The table of a service's has all. */
bool execution_way_has_method(enum execution_way way, const struct hal_prepared_model_methods *m);

/* Executes the request through the entry point of that version, which has this way, and waits for
 * the end.  The prepared model has the method.
 *
 * result: shapes of a fenced execution are none, its timing is that since the fences.
 * ret_since_launch (may be NULL): of a fenced execution, else unknown.
 *
 * A burst is configured for this execution; its memories are kept under identifiers if the
 * execution is measured, and some of them are released, known and unknown ones.  A reusable
 * execution is run twice, and must end alike, unless the first time the driver is short of
 * resources. */
void driver_client_execute(struct driver_client *c, enum execution_way way,
                           struct hal_prepared_model *p, enum hal_version entry,
                           const struct hal_request *request,
                           const struct hal_execution_config *config, struct hal_result *result,
                           struct hal_timing *ret_since_launch, struct client_end *ret_end);

/* A buffer of the driver in which an argument of one execution lies, since HAL 1.3. */
struct client_buffer {
    bool is_output;
    uint32_t index; /* of the input or output */
    uint32_t n_dims;
    const uint32_t *dims;     /* of its value */
    struct hal_memory memory; /* of exactly the value's size: an input is copied from it before the
                                 execution, an output to it afterwards */
};

/* One of several executions of a prepared model. */
struct client_execution {
    const struct hal_request *request; /* arguments in buffers have a place in its pools, too */
    uint32_t n_buffers;
    const struct client_buffer *buffer; /* where the driver provides none, the pools are used */
    struct hal_result *result;          /* as of driver_client_execute(), and what follows */
    struct client_end end;
    uint32_t n_allocated; /* buffers that the driver provided */
};

/* Executes n requests at once, each on a thread of its own.  What fails for lack of resources is
 * executed once more, alone. */
enum { CLIENT_MOST_AT_ONCE = 4 };
void driver_client_execute_at_once(struct driver_client *c, enum execution_way way,
                                   struct hal_prepared_model *p, enum hal_version entry,
                                   const struct hal_execution_config *config, uint32_t n,
                                   struct client_execution *x);

/* The method that has called back once more since the last call of this; NULL: none.  *ret_run (may
 * be NULL): the run that the callback belongs to. */
const char *driver_client_repeated(struct driver_client *c, uint64_t *ret_run);

#endif
