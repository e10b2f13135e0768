/* A client of the HAL for tests: one driver, models prepared from builders, requests on plain
 * memory.
 */
#ifndef TESTS_HAL_CLIENT_H
#define TESTS_HAL_CLIENT_H

#include <sys/types.h>

#include "sim/driver/driver.h"
#include "tests/support/build.h"

/* The driver of a shipped profile ("cpu"), or of the reference ("golden"); version 0: its own. */
struct hal_driver *client_open(const char *name, enum hal_version version);

/* One whose every launch and operation takes that many virtual ns, and nothing else does. */
struct hal_driver *client_open_slow(const char *name, double ns);
/* The same with a queue of that depth (0: any) and so many priorities. */
struct hal_driver *client_open_queue(const char *name, double ns, uint32_t depth,
                                     uint32_t priorities);

/* One whose bursts keep nothing after so many ms without requests. */
struct hal_driver *client_open_idle(const char *name, uint64_t ms);

/* One that asks for these numbers of cache files; version: what it says of itself, NULL: its own.
 */
struct hal_driver *client_open_cached(const char *name, uint32_t n_model, uint32_t n_data,
                                      const char *version);

/* One whose profile has been changed. */
struct profile;
struct hal_driver *client_open_changed(const char *name, void (*change)(struct profile *p));

/* One of which a client may hold that much. */
struct hal_driver *client_open_limited(const char *name, enum hal_version version,
                                       const struct client_limits *limits);

/* The same driver as a client of its service sees it: over a socket. */
struct hal_driver *client_over_socket(struct hal_driver *d);
/* The same for one of several clients, by number; closing it leaves the driver open. */
struct hal_driver *client_join(struct hal_driver *d, uint32_t client);

struct client_model {
    struct build b;
    struct arena *arena;
    struct hal_model hal;
    struct hal_prepared_model *prepared;
};

/* z = x + y, TENSOR_FLOAT32; with unknown_dim the first dimension of the output is. */
void client_add_model(struct client_model *m, uint32_t n, bool unknown_dim);
/* y is added `ops` times, one operation after the other. */
void client_add_chain(struct client_model *m, uint32_t n, uint32_t ops);
/* x + 1 as long as x >= 0, one number. */
void client_add_endless(struct client_model *m);
/* Puts what was built into the HAL's words; not only in Check's tests. */
void client_convert(struct client_model *m);
/* Prepares a model, or (NULL) one from the cache, and waits for the callback, whose status it
 * returns. Fails the test where status, prepared model and launch contradict each other. */
enum hal_status client_prepare_with(struct hal_driver *d, enum hal_version version,
                                    const struct hal_model *m,
                                    const struct hal_prepare_config *config,
                                    struct hal_prepared_model **ret_prepared);
/* Fails the test unless the model prepares. */
void client_prepare(struct client_model *m, struct hal_driver *d, enum hal_priority priority);
void client_done(struct client_model *m);

/* x, y and z of client_add_model() in two pools, inputs and outputs. */
struct client_request {
    float x[8], y[8], z[8];
    struct hal_argument in[2], out[1];
    struct hal_request_pool pool[3];
    struct hal_request hal;
    struct hal_output_shape shape[1];
    struct hal_result result;
};
void client_fill(struct client_request *r, uint32_t n);
struct hal_execution_config client_config(void);
/* Fails the test unless z is what it must be. */
void client_check(const struct client_request *r, uint32_t n);

/* Synchronously, as client_config() says. */
enum hal_status client_execute(struct hal_prepared_model *p, enum hal_version version,
                               const struct hal_request *request, struct hal_result *result);
/* Starts an execution behind a fence, lent, and returns its own; fails the test when it cannot. */
int client_execute_after(int fence, struct hal_prepared_model *p, const struct hal_request *request,
                         struct hal_fenced_info **ret_info);

/* Waits for a fenced execution and closes what it has left.  Fails the test where fence and info
 * contradict each other. */
enum hal_status client_end_fenced(enum hal_status launched, int fence,
                                  struct hal_fenced_info *info);

/* Of memory files of that name, in the address space of a process. */
int client_mappings(pid_t pid, const char *name);

/* Waits for the end of an asynchronous execution. */
struct client_wait {
    struct hal_execution_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls;
    enum hal_status status;
    uint32_t n_shapes;
    struct hal_output_shape *shapes; /* the caller's room for `capacity`; NULL: not wanted */
    uint32_t capacity;
    struct hal_timing timing;
};
void client_wait_init(struct client_wait *w);
enum hal_status client_wait(struct client_wait *w);

#endif
