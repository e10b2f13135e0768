/* Rules that use a driver from several threads: running a function on them, and preparations with a
 * callback of their own.  EXPECT may be used on every thread; conform_prepare() and
 * conform_not_applicable() only on the rule's. */
#ifndef HARNESS_CONFORM_THREADS_H
#define HARNESS_CONFORM_THREADS_H

#include "harness/conform/conform_requests.h"

enum { CONFORM_MAX_THREADS = 16 };

/* Calls work(c, 0, user) to work(c, n - 1, user), each on a thread of its own, all at once, and
 * waits for them.  A condition of conform_must() that fails ends the work of its thread; when all
 * have ended, the rule is left.  n is at most CONFORM_MAX_THREADS. */
typedef void conform_work(struct conform *c, unsigned index, void *user);
void conform_in_threads(struct conform *c, unsigned n, conform_work *work, void *user);

/* Prepares a model that the driver supports, from any thread, on any driver.  Checks that the
 * preparation starts and succeeds; NULL: it does not. `wait` serves one preparation at a time, and
 * is not freed or moved while the driver may still call it. */
struct hal_prepared_model *conform_thread_prepare(struct conform *c, struct hal_driver *d,
                                                  struct client_prepare_wait *wait,
                                                  const struct hal_model *model);

/* While other threads use a driver, it may be short of resources (HAL_RESOURCE_EXHAUSTED_TRANSIENT,
 * before 1.3 HAL_GENERAL_FAILURE).  Whether to try again, after a millisecond: up to 500 times
 * since any thread's try has ended otherwise.  Begins with { 0 }. */
struct conform_retry {
    unsigned seen, turns;
};
bool conform_try_again(struct conform_retry *r, enum hal_status s, enum hal_version version);

/* Runs a request while other threads use the driver, again if it is short of resources.  Returns
 * the last status. */
enum hal_status conform_run_beside(const struct conform_kind *kind, struct hal_prepared_model *p,
                                   enum hal_version version, struct conform_request *r,
                                   const struct hal_execution_config *config);
/* The same condition of any status. */
bool conform_is_exhausted(enum hal_status s, enum hal_version version);

#endif
