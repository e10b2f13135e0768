/* Internals of the client side: targets and their runs. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include <fenv.h>
#include <signal.h>

#include "sim/client/driver_client.h"
#include "sim/isolation/host_layout.h"
#include "sim/remote/reply_wait.h"
#include "sim/sim.h"

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
    enum hal_version entry;       /* of the entry points that runs use; 0: the driver's version */
    struct hosted *hosted;        /* NULL: the driver is in this process or at a service */
    void *library;                /* that contains the driver; closed after it; NULL: none */
    struct reply_timeout timeout; /* of its service */
    char *socket;                 /* path of the driver's service; NULL: it is in this process */
    struct driver_client client;  /* of the driver in this process or at a service */
    uint64_t runs;                /* number of the current or last run */
    struct caller_state state;    /* before the current run */
    /* In a process that hosts a driver: the model that is kept prepared for the next run, or NULL.
     */
    struct hal_prepared_model *kept;
    bool is_lost; /* its service has ended and did not come back in time */
    enum target_step step;
    uint64_t *begun;           /* gets the steady clock at the begin of each step; NULL: nothing */
    _Atomic uint32_t *watched; /* copy of `step`, see target_watch(); NULL: none */
    char failure_text[HAL_TEXT_BYTES]; /* the driver's reason for the failure that ended the run */
    const char *no_extensions; /* why extensions are hidden from this process; NULL: they are not */
};

/* A target for a driver that is already open (for tests); the target closes it. */
int target_of_driver(const char *uri, struct hal_driver *driver, struct target **ret_target,
                     struct why *w);

/* Frees a target without closing its driver or library. */
void target_forget(struct target *t);

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

/* Prepares the client for the current run: its driver, number and steps. */
void target_begin_client(struct target *t);
/* Keeps the driver's reason (target.failure_text) if the call that has just returned `status` to
 * this thread has failed; returns the status. */
enum hal_status target_note_failure(struct target *t, enum hal_status status);

/* In a process that hosts a driver: runs a case and writes its answers. */
void target_answer(struct target *t, const struct host_case *run, struct host_answers *a);
/* Releases the model that the last case has kept prepared, if any. */
void target_release_here(struct target *t);
/* Reports one second callback. */
void target_answer_late(struct target *t, struct host_answers *a);

/* sim/client/hosted.c: opens a target whose driver has a process of its own. */
int hosted_open(const char *uri, const char *profile, const struct target_host *host,
                struct target **ret_target, struct why *w);
/* Closes the driver and ends its process. */
void hosted_free(struct target *t);

#endif
