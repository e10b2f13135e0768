/* Internals of the client side: targets and their runs. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include <fenv.h>
#include <signal.h>

#include "sim/isolation/host_layout.h"
#include "sim/remote/reply_wait.h"
#include "sim/sim.h"

struct callback_wait; /* sim/client/callback_wait.c: the callback of a preparation or an execution
                       */

/* What a driver may have changed of the thread that calls it. */
struct caller_state {
    fenv_t floating_point;
    sigset_t signals;
};
void caller_state_save(struct caller_state *s);
void caller_state_restore(const struct caller_state *s);

struct hosted; /* sim/client/hosted.h: a driver in a process of its own */

struct target {
    char *uri;
    struct hal_driver *driver;    /* NULL: not connected; `socket` is its service's path */
    struct hosted *hosted;        /* NULL: the driver is in this process or at a service */
    void *library;                /* that contains the driver; closed after it; NULL: none */
    struct reply_timeout timeout; /* of its service */
    char *socket;                 /* path of the driver's service; NULL: it is in this process */
    struct callback_wait *callback_waits; /* kept: a driver may call back twice, and late */
    uint64_t runs;                        /* number of the current or last run */
    struct caller_state state;            /* before the current run */
    bool is_lost;                         /* its service has ended and did not come back in time */
    enum target_step step;
    uint64_t *begun;           /* gets the steady clock at the begin of each step; NULL: nothing */
    _Atomic uint32_t *watched; /* copy of `step`, see target_watch(); NULL: none */
    char failure_text[HAL_TEXT_BYTES]; /* the driver's reason for the failure that ended the run */
    const char *no_extensions; /* why extensions are hidden from this process; NULL: they are not */
};

/* A target for a driver that is already open (for tests); the target closes it. */
int target_of_driver(const char *uri, struct hal_driver *driver, struct target **ret_target,
                     struct why *w);

/* Checks a driver's structure: its ABI version, its HAL version, the methods that every driver has.
 * WHY_INVALID. */
int target_check_table(const struct hal_driver *d, struct why *w);

/* Opens a driver in a shared library; close it before the library.  WHY_INVALID: what is wrong. */
int library_open(const char *path, const char *arguments, struct hal_driver **ret_driver,
                 void **ret_library, struct why *w);
void library_close(void *library);

/* Whether the connection to its service has failed. */
bool target_is_dead(struct target *t, struct why *w);
/* Connects again to a service at the same path. */
int target_reconnect(struct target *t, struct why *w);

/* Sets the current step. */
void target_at(struct target *t, enum target_step step);

/* Prepares and waits for the callback.  *ret_prepared: NULL unless the status is HAL_NONE.  A
 * violation of the contract is described in `violation` (size bytes). */
enum hal_status target_prepare(struct target *t, const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepared_model **ret_prepared, char *violation,
                               size_t size);
/* Executes and waits; asynchronously on HAL 1.0 and 1.1, which have no synchronous execution. */
enum hal_status target_execute(struct target *t, struct hal_prepared_model *p,
                               const struct hal_request *request,
                               const struct hal_execution_config *config, struct hal_result *result,
                               char *violation, size_t size);
/* Keeps the driver's reason (target.failure_text) if the call that has just returned `status` to
 * this thread has failed; returns the status. */
enum hal_status target_note_failure(struct target *t, enum hal_status status);
void callback_waits_free(struct callback_wait *w);
/* The method whose callback was called more than once since the last call of this; NULL: none.
 * *ret_run: the run that it belongs to. */
const char *callback_waits_repeated(struct target *t, uint64_t *ret_run);
/* Whether the prepared model's table has the method that target_execute() uses. */
bool target_can_execute(const struct target *t, const struct hal_prepared_model_methods *m);

/* In a process that hosts a driver: runs a case and writes its answers. */
void target_answer(struct target *t, const struct host_case *run, struct host_answers *a);
/* Reports one second callback. */
void target_answer_late(struct target *t, struct host_answers *a);

/* sim/client/hosted.c: opens a target whose driver has a process of its own. */
int hosted_open(const char *uri, const char *profile, const struct target_host *host,
                struct target **ret_target, struct why *w);
/* Closes the driver and ends its process. */
void hosted_free(struct target *t);

#endif
