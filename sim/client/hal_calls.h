/* Calls of a driver's methods as suites and tests make them: default configurations, and waiting
 * for callbacks. */
#ifndef SIM_HAL_CALLS_H
#define SIM_HAL_CALLS_H

#include <pthread.h>

#include "sim/hal.h"

/* Fast single answer, medium priority, no deadline, no cache. */
extern const struct hal_prepare_config client_default_preparation;
/* Without deadline, without its own loop timeout and without measured timing. */
struct hal_execution_config client_config(void);

/* A callback of preparations, which may serve several one after another. */
struct client_prepare_wait {
    struct hal_prepare_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls; /* so far; the rest is of the last one */
    enum hal_status status;
    struct hal_prepared_model *prepared;
};
void client_prepare_wait_init(struct client_prepare_wait *w);
/* Waits until it has been called `calls` times in all, at most that many seconds (0: without
 * limit).  False: it has not. */
bool client_prepare_await(struct client_prepare_wait *w, unsigned calls, double seconds);

/* A callback of an asynchronous execution that records its arguments. */
struct client_wait {
    struct hal_execution_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls;
    enum hal_status status;
    uint32_t n_shapes;
    struct hal_output_shape *shapes; /* receives up to `capacity` shapes; the caller's, or NULL */
    uint32_t capacity;
    struct hal_timing timing;
};
void client_wait_init(struct client_wait *w);
/* Waits for the callback and returns its status. */
enum hal_status client_wait(struct client_wait *w);

#endif
