/* Waits for the callback of a preparation or an execution, which a driver may call from any thread
 * and must call exactly once.  Internal to the driver's client (sim/client/driver_client.h), which
 * keeps them: a second call may come late. */
#ifndef SIM_CALLBACK_WAIT_H
#define SIM_CALLBACK_WAIT_H

#include <stdatomic.h>

#include "sim/client/driver_client.h"

struct callback_wait {
    struct hal_prepare_callback prepare; /* either this or execution is given to the driver */
    struct hal_execution_callback execution;
    const char *method; /* that is to call back */
    uint64_t run;
    pthread_mutex_t lock;
    pthread_cond_t called;
    atomic_uint calls; /* looked at after the first one without the lock */
    enum hal_status status;
    struct hal_prepared_model *prepared;
    struct hal_result *result; /* NULL once it is not waited for any more */
    struct hal_driver *driver;
    char failure_text[HAL_TEXT_BYTES]; /* with the status */
    bool is_over;                      /* not waited for any more: may be forgotten */
    struct callback_wait *next;
};

/* result: of an execution; receives what the callback is given.  NULL: out of memory. */
struct callback_wait *callback_wait_new(struct driver_client *c, const char *method,
                                        struct hal_result *result);
/* Waits for the end of what was launched, with that status.  Sets all of *e but launched.  False:
 * there was no callback. */
bool callback_wait_finish(struct driver_client *c, struct callback_wait *w,
                          enum hal_status launched, struct client_end *e);
void callback_waits_free(struct callback_wait *w);

#endif
