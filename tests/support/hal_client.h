/* A client of the HAL for tests: opens drivers, prepares models made with build.h, and executes
 * requests whose pools are ordinary memory.  Except where noted, a function fails the test if a
 * step that must succeed fails.  A driver is closed by its close(). */
#ifndef TESTS_HAL_CLIENT_H
#define TESTS_HAL_CLIENT_H

#include <sys/types.h>

#include "golden/model/build.h"
#include "sim/client/hal_calls.h"
#include "sim/driver/driver.h"

/* Opens the driver of a shipped profile ("cpu"), or of the reference ("golden").  version: the HAL
 * version it implements, 0: the profile's; "golden" ignores it. */
struct hal_driver *client_open(const char *name, enum hal_version version);

/* Opens a driver on which each launch and each operation takes `ns` virtual nanoseconds, and
 * everything else takes no time. */
struct hal_driver *client_open_slow(const char *name, double ns);
/* The same with a queue of `depth` executions (0: unlimited) and `priorities` priority levels. */
struct hal_driver *client_open_queue(const char *name, double ns, uint32_t depth,
                                     uint32_t priorities);

/* Opens a driver whose bursts release their memory after `ms` milliseconds without a request. */
struct hal_driver *client_open_idle(const char *name, uint64_t ms);

/* Opens a driver that requires these numbers of cache files.  version: its version string, NULL:
 * the profile's. */
struct hal_driver *client_open_cached(const char *name, uint32_t n_model, uint32_t n_data,
                                      const char *version);

/* Opens a driver whose profile was first passed to change(). */
struct profile;
struct hal_driver *client_open_changed(const char *name, void (*change)(struct profile *p));

/* Opens a driver of this HAL version with these quotas per client. */
struct hal_driver *client_open_limited(const char *name, enum hal_version version,
                                       const struct client_limits *limits);

/* Starts a service for the driver in this process and returns a remote driver connected to it.
 * Takes ownership of d: closing the remote driver closes d. */
struct hal_driver *client_over_socket(struct hal_driver *d);
/* The same for the client with this number; closing the remote driver leaves d open. */
struct hal_driver *client_join(struct hal_driver *d, uint32_t client);

/* A model in the form of golden and of the HAL, and its prepared model or NULL. */
struct client_model {
    struct build b;
    struct arena *arena;
    struct hal_model hal;
    struct hal_prepared_model *prepared;
};

/* Each of these three builds and converts a model of ADD on TENSOR_FLOAT32. */

/* z = x + y, n elements; unknown_dim: the dimension of z is unspecified. */
void client_add_model(struct client_model *m, uint32_t n, bool unknown_dim);
/* z = x + y + ... + y: a chain of `ops` operations on n elements. */
void client_add_chain(struct client_model *m, uint32_t n, uint32_t ops);
/* WHILE x >= 0: x = x + 1, one element; an x that is not negative never ends. */
void client_add_endless(struct client_model *m);
/* Converts m->b.model to m->hal.  Aborts on failure, because fuzz targets use it too. */
void client_convert(struct client_model *m);
/* Prepares a model, or with m = NULL one from the cache, waits for the callback and returns its
 * status.  Fails the test if the launch's status contradicts it, or if a prepared model comes with
 * an error, or none with success.  The caller releases *ret_prepared. */
enum hal_status client_prepare_with(struct hal_driver *d, enum hal_version version,
                                    const struct hal_model *m,
                                    const struct hal_prepare_config *config,
                                    struct hal_prepared_model **ret_prepared);
/* Prepares the model without a deadline; fails the test if that fails. */
void client_prepare(struct client_model *m, struct hal_driver *d, enum hal_priority priority);
/* Releases the prepared model, if any, and frees the model. */
void client_done(struct client_model *m);

/* A request for client_add_model(): x, y and z in one pool each. */
struct client_request {
    float x[8], y[8], z[8];
    struct hal_argument in[2], out[1];
    struct hal_request_pool pool[3];
    struct hal_request hal;
    struct hal_output_shape shape[1];
    struct hal_result result;
};
/* Fills the request and its inputs x[i] = i, y[i] = 10 i, for i < n <= 8.  It points into *r. */
void client_fill(struct client_request *r, uint32_t n);
/* Fails the test unless z[i] = 11 i for i < n. */
void client_check(const struct client_request *r, uint32_t n);

/* Executes synchronously with client_config(); returns the status. */
enum hal_status client_execute(struct hal_prepared_model *p, enum hal_version version,
                               const struct hal_request *request, struct hal_result *result);
/* Starts a fenced execution that waits for `fence` (the caller keeps it) and returns the
 * execution's own fence, which the caller closes. */
int client_execute_after(int fence, struct hal_prepared_model *p, const struct hal_request *request,
                         struct hal_fenced_info **ret_info);

/* Waits for a fenced execution, closes its fence, releases its info and returns its status; returns
 * `launched` if that is an error.  Fails the test if the fence's state contradicts the status. */
enum hal_status client_end_fenced(enum hal_status launched, int fence,
                                  struct hal_fenced_info *info);

/* The number of mappings of memory files (memfd) of this name in a process. */
int client_mappings(pid_t pid, const char *name);

#endif
