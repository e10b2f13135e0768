/* What the files of the runtime (the client's side) share. */
#ifndef SIM_RUNTIME_H
#define SIM_RUNTIME_H

#include "sim/sim.h"

struct waiter; /* sim/client/callback_wait.c: the end of a preparation or an execution */

struct target {
    char *uri;
    struct hal_driver *driver; /* NULL: to be looked for at `socket` */
    void *library;             /* that the driver is in, unloaded after it; NULL: none */
    double patience;           /* with the process that it is in */
    char *socket;              /* path of the service that it is in; NULL: it is in this process */
    struct waiter *waiters;    /* kept: a driver may call twice, and late */
    bool is_lost;              /* its service has ended, and no other one came in time */
    enum target_step step;
    _Atomic uint32_t *watched; /* follows it; NULL: nobody watches */
    const char *no_extensions; /* why they are hidden from this process; NULL: they are not */
};

/* A driver under test may be handed in directly; the target closes it. */
int target_of_driver(const char *uri, struct hal_driver *driver, struct target **ret_target,
                     struct why *w);

/* Whether the structure of a driver is one at all: its layout, its version, the methods that every
 * driver has. */
int target_check_table(const struct hal_driver *d, struct why *w);

/* A driver in a shared library, to be closed before the library.  WHY_INVALID: what is wrong. */
int library_open(const char *path, const char *arguments, struct hal_driver **ret_driver,
                 void **ret_library, struct why *w);
void library_close(void *library);

/* Whether its process has ended, and looking for a new one at the same place. */
bool target_is_dead(struct target *t, struct why *w);
int target_revive(struct target *t, struct why *w);

void target_at(struct target *t, enum target_step step);

/* Prepares and waits for the callback.  ret_prepared: NULL unless the status is HAL_NONE.  What
 * breaks the contract goes to `violation`. */
enum hal_status target_prepare(struct target *t, const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepared_model **ret_prepared, char *violation,
                               size_t size);
/* Executes and waits: HAL 1.0 and 1.1 have no synchronous executions. */
enum hal_status target_execute(struct target *t, struct hal_prepared_model *p,
                               const struct hal_request *request,
                               const struct hal_execution_config *config, struct hal_result *result,
                               char *violation, size_t size);
void waiters_free(struct waiter *w);
/* The method whose callback came more than once since this was asked last; NULL: none. */
const char *waiters_repeated(struct waiter *w);

#endif
