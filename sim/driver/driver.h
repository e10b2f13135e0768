/* Internals of the driver: implements the HAL's methods (sim/hal.h) on top of an engine
 * (sim/device/engine.h), which sees only valid models and complete inputs. */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/base/caller.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/device/engine.h"
#include "sim/driver/memory_domain.h"
#include "sim/driver/request.h"
#include "sim/hal/argument_check.h"
#include "sim/hal/hal_result.h"
#include "sim/wire/wire_methods.h"

/* The bursts of a driver, and the thread that frees the caches of idle ones. */
struct bursts {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct burst *first;
    bool is_watched; /* the thread is running */
};

/* The driver's result of get_supported_extensions(). */
struct driver_extensions {
    struct hal_extension extension[EXTENSION_END];
    struct hal_extension_type type[DT_END];
    uint32_t n, n_types;
};

struct driver {
    struct hal_driver base;
    struct driver_extensions extensions;
    struct engine *engine;
    struct schedule *schedule;
    struct client_quotas client_quotas;
    struct buffers buffers;
    struct bursts bursts;
    atomic_uint_least64_t prepared; /* number of models prepared so far */

    pthread_mutex_t lock; /* protects `threads` and `memory` */
    pthread_cond_t idle;
    unsigned threads;     /* running */
    struct fence closing; /* signalled by close(): fenced executions stop waiting */
    struct fault_memory memory;

    struct hal_capabilities capabilities[HAL_VERSIONS]; /* converted to each version */
    struct hal_operand_performance *rows;               /* of all of them */
};

struct prepared {
    struct hal_prepared_model base;
    struct driver *driver;
    struct loaded_model loaded;
    struct program *program;
    enum hal_priority priority;
    uint32_t client;        /* that prepared it */
    uint64_t bytes;         /* of its constants */
    uint64_t number;        /* unique within the driver */
    atomic_uint references; /* the client's, and one per execution, burst and reusable execution */
};

/* Checks that the driver has an entry point of that version for the method.  WHY_INVALID. */
int driver_check_entry(const struct driver *d, enum hal_version version, Wire__Method method,
                       struct why *w);
/* HAL_GENERAL_FAILURE of a method that the driver's version does not have. */
enum hal_status driver_too_old(enum hal_version since);
/* Nanoseconds until a deadline, on the clock of that version; 0: past; HAL_NO_TIME: no deadline. */
uint64_t driver_time_left(uint64_t deadline, enum hal_version version);
/* Runs f(argument) on a new thread, for which close() waits.  -1: too many threads. */
int driver_start_thread(struct driver *d, void (*f)(void *argument), void *argument);

/* Both log the outcome of a HAL call (--vlog driver) and return its status.  driver_log_status():
 * with the given status; driver_log_failure(): failed with that reason, which becomes the text of
 * get_failure_text(), and whose status is returned.  Methods begin with failure_text_clear(). */
enum hal_status driver_log_status(const char *method, enum hal_version version,
                                  enum hal_status status);
enum hal_status driver_log_failure(const char *method, enum hal_version version,
                                   const struct why *w);
/* Maximum number of sessions per client, 0: unlimited.  For drivers not made by driver_new(), the
 * default limit. */
uint32_t driver_max_sessions(const struct hal_driver *d);

/* ---- sim/driver/driver_models.c */

enum hal_status driver_get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n);
enum hal_status driver_prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback);
enum hal_status driver_prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback);
/* NULL: not a prepared model of this driver. */
struct prepared *prepared_of(const struct driver *d, struct hal_prepared_model *m);
void prepared_unref(struct prepared *p);

/* ---- sim/driver/driver_cache.c */

/* Numbers of cache files that the driver needs; 0 before HAL 1.2. */
void driver_cache_files(const struct engine *e, uint32_t *ret_n_model, uint32_t *ret_n_data);
/* Writes a prepared model, including the constants in its pools, to the cache files.  Does nothing
 * if their number is not the required one; a failure to write is only logged. */
void driver_cache_save(const struct driver *d, const struct hal_cache *cache,
                       const struct hal_model *hal, enum hal_version version,
                       enum hal_priority priority, const struct loaded_model *l);
/* Reads a model, its priority and the version of its prepare_model() from the cache.  The model is
 * allocated in the arena and as untrusted as a client's.  HAL_INVALID_ARGUMENT: wrong number of
 * files; HAL_GENERAL_FAILURE: wrong contents. */
enum hal_status driver_cache_load(const struct driver *d, const struct hal_cache *cache,
                                  struct arena *a, struct hal_model *ret_hal,
                                  enum hal_version *ret_version, enum hal_priority *ret_priority);

/* ---- sim/driver/driver_execute.c */

/* An execution: the client's request, checked and with its memory mapped.  Must not be moved. */
struct execution {
    struct prepared *prepared;
    enum hal_version version;
    bool measure;
    uint64_t loop_ns;
    struct arena *arena;
    bool is_reused_arena;    /* the arena belongs to the burst */
    struct arena_mark start; /* state of the arena before a computation */
    struct request request;

    struct caller *caller; /* the client; NULL: this process */
    struct job job;
    uint64_t in_driver;       /* virtual ns from arrival to completion; 0: unknown */
    const struct tensor *out; /* results to be written to the outputs; NULL: none */
    bool is_queued;
    enum hal_status refused; /* status if not queued, and why */
    char reason[HAL_TEXT_BYTES];
};

/* Checks a request and opens it for any number of computations.  HAL_INVALID_ARGUMENT: it does not
 * fit the model. */
enum hal_status execution_open(struct execution *x, struct prepared *p, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config);
/* Resources that a burst reuses from one execution to the next. */
struct execution_reuse {
    struct arena *arena;        /* rewound by the burst; NULL: the execution creates one */
    const struct mapping *kept; /* cached mappings, see struct request_context */
};
enum hal_status execution_open_reusing(struct execution *x, struct prepared *p,
                                       enum hal_version version, const struct hal_request *request,
                                       const struct hal_execution_config *config,
                                       const struct execution_reuse *lent);
void execution_close(struct execution *x);

/* Puts a computation into the device's queue.  left: ns until the deadline, or HAL_NO_TIME.  Must
 * be followed by execution_run() or execution_cancel(). */
void execution_submit(struct execution *x, uint64_t left);
/* Waits for the device, computes and writes outputs and *result; from any thread.  Returns the
 * reason if execution_submit() could not queue it. */
enum hal_status execution_run(struct execution *x, struct hal_result *result);
/* Removes the computation from the queue instead of running it. */
void execution_cancel(struct execution *x);

/* Whether there is space for the shapes of all outputs.  WHY_INVALID. */
int driver_check_capacity(const struct hal_result *result, uint32_t n_outputs, struct why *w);
/* Opens, runs and closes an execution: hal.h's execute_synchronously(). */
enum hal_status execution_run_now(struct prepared *p, enum hal_version version,
                                  const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  const struct execution_reuse *lent, struct hal_result *result);

/* Runs f(argument), which must call execution_end_thread(), on a new thread that counts towards the
 * client's quota.  Any other status than HAL_NONE: the quota or the threads are exhausted. */
enum hal_status execution_start_thread(struct execution *x, void (*f)(void *argument),
                                       void *argument);
/* Returns the quota; before the client is notified, so that it can launch the next execution. */
void execution_end_thread(struct execution *x);

extern const struct hal_prepared_model_methods prepared_methods;

/* ---- sim/driver/driver_fenced.c, sim/driver/driver_burst.c, sim/driver/driver_reusable.c */

/* A fenced execution: waits for the fences on a new thread, then computes.  done() (may be NULL) is
 * called when the execution is no longer used, also when the launch fails. */
struct fenced_launch {
    struct execution *execution;
    uint32_t n_wait_for;
    const int *wait_for;
    uint64_t left, duration; /* ns until the deadline, ns after the fences; or HAL_NO_TIME */
    void (*done)(struct execution *x);
};
enum hal_status execution_run_fenced(const struct fenced_launch *launch, int *ret_fence,
                                     struct hal_fenced_info **ret_info);
enum hal_status driver_execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info);
void bursts_init(struct bursts *b);
void bursts_done(struct bursts *b);
enum hal_status driver_configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst);
enum hal_status driver_create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution);

#endif
