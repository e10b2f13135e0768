/* Internals of the client side: targets and their runs. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "sim/sim.h"

struct callback_wait; /* sim/client/callback_wait.c: the callback of a preparation or an execution
                       */

struct target {
    char *uri;
    struct hal_driver *driver; /* NULL: not connected; `socket` is its service's path */
    void *library;             /* that contains the driver; closed after it; NULL: none */
    double reply_timeout;      /* timeout of a reply of its service in seconds; 0: none */
    char *socket;              /* path of the driver's service; NULL: it is in this process */
    struct callback_wait *callback_waits; /* kept: a driver may call back twice, and late */
    bool is_lost;                         /* its service has ended and did not come back in time */
    enum target_step step;
    _Atomic uint32_t *watched; /* copy of `step`, see target_watch(); NULL: none */
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
void callback_waits_free(struct callback_wait *w);
/* The method whose callback was called more than once since the last call of this; NULL: none. */
const char *callback_waits_repeated(struct callback_wait *w);

#endif
