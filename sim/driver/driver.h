/* What the files of the driver share: the HAL's methods on one side, an engine on the other. */
#ifndef SIM_DRIVER_H
#define SIM_DRIVER_H

#include <pthread.h>
#include <stdatomic.h>

#include "sim/base/caller.h"
#include "sim/device/engine.h"
#include "sim/driver/domain.h"
#include "sim/driver/request.h"
#include "sim/hal/convert.h"
#include "sim/hal/hal_answer.h"

/* The bursts of a driver, and the thread that takes from idle ones what they keep. */
struct bursts {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct burst *first;
    bool is_watched; /* the thread is there */
};

/* What the driver says of the extensions that it serves. */
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
    struct accounts accounts;
    struct buffers buffers;
    struct bursts bursts;
    atomic_uint_least64_t prepared; /* how many there have been: their numbers */

    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t idle;
    unsigned threads; /* at work */
    struct fault_memory memory;

    struct hal_capabilities capabilities[HAL_VERSIONS]; /* as each version says them */
    struct hal_operand_performance *rows;               /* of all of them */
};

/* A client's model, taken over: what a prepared model lives on. */
struct loaded {
    struct arena *arena;
    struct mapping *pools;
    uint32_t n_pools;
    struct model model;
    uint32_t n_prefixes;
    uint16_t *prefix; /* of extensions, as the client numbers them; ascending */
};

struct prepared {
    struct hal_prepared_model base;
    struct driver *driver;
    struct loaded loaded;
    struct program *program;
    enum hal_priority priority;
    uint32_t client;        /* who prepared it */
    uint64_t bytes;         /* of its constants */
    uint64_t number;        /* never used again */
    atomic_uint references; /* the client's, and one of every execution under way */
};

/* Whether the driver has an entry point of that version for a method that there was from `first` to
 * `last`. */
bool driver_has_entry(const struct driver *d, enum hal_version version, enum hal_version first,
                      enum hal_version last);
/* Nanoseconds until a deadline, by the clock of that version; HAL_NO_TIME: none. */
uint64_t driver_time_left(uint64_t deadline, enum hal_version version);
/* Runs f(argument) on a thread of its own, for which close() waits.  -1: there are too many. */
int driver_start(struct driver *d, void (*f)(void *argument), void *argument);

/* Tells the log how a call of the HAL ended: answers `status`; refuses as the reason says. */
enum hal_status driver_answer(const char *method, enum hal_version version, enum hal_status status);
enum hal_status driver_refuse(const char *method, enum hal_version version, const struct why *w);
/* Sessions that one client may have, 0: any number; the default of drivers of other kinds. */
uint32_t driver_most_sessions(const struct hal_driver *d);

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
/* Hints say something to extensions that the model names: one value for each token. */
int loaded_check_hints(const struct loaded *l, uint32_t n, const struct hal_token_value *hints,
                       struct why *w);
/* NULL where it is not one of this driver's. */
struct prepared *prepared_of(const struct driver *d, struct hal_prepared_model *m);
void prepared_unref(struct prepared *p);

/* ---- sim/driver/driver_cache.c */

/* How many cache files of each kind the driver asks for; none before HAL 1.2. */
void driver_cache_files(const struct engine *e, uint32_t *ret_n_model, uint32_t *ret_n_data);
/* Saves a model that has been prepared, constants of its pools included; leaves it where the files
 * are not what was asked for, or cannot be written. */
void driver_cache_save(const struct driver *d, const struct hal_cache *cache,
                       const struct hal_model *hal, enum hal_version version,
                       enum hal_priority priority, const struct loaded *l);
/* The model as it was saved, in the arena, its priority and the version of its entry point: to be
 * checked as a client's.  HAL_INVALID_ARGUMENT: wrong numbers of files; HAL_GENERAL_FAILURE: wrong
 * files. */
enum hal_status driver_cache_load(const struct driver *d, const struct hal_cache *cache,
                                  struct arena *a, struct hal_model *ret_hal,
                                  enum hal_version *ret_version, enum hal_priority *ret_priority);

/* ---- sim/driver/driver_execute.c */

/* One request taken over from the client: checked, its memory mapped.  Not to be moved. */
struct execution {
    struct prepared *prepared;
    enum hal_version version;
    bool measure;
    uint64_t loop_ns;
    struct arena *arena;
    bool is_lent_arena;
    struct arena_mark start; /* of the arena, before a computation */
    struct request request;

    struct caller *caller; /* NULL: this process */
    struct job job;
    double in_driver;         /* ns from arrival to end, driver included; 0: not known */
    const struct tensor *out; /* results that are to be written; NULL: there are none */
    bool is_queued;
    enum hal_status refused; /* why it is not queued */
};

/* HAL_INVALID_ARGUMENT where it does not fit the model. */
enum hal_status execution_open(struct execution *x, struct prepared *p, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config);
/* What somebody keeps from one execution to the next. */
struct execution_lent {
    struct arena *arena;        /* the lender empties it; NULL: one of its own */
    const struct mapping *kept; /* of struct request_context */
};
enum hal_status execution_open_lent(struct execution *x, struct prepared *p,
                                    enum hal_version version, const struct hal_request *request,
                                    const struct hal_execution_config *config,
                                    const struct execution_lent *lent);
void execution_close(struct execution *x);

/* Puts a computation into the device's queue; left: ns until the deadline.  What keeps it out is
 * answered by execution_run(), which has to follow, from any thread: computes, writes the result.
 */
void execution_submit(struct execution *x, uint64_t left);
enum hal_status execution_run(struct execution *x, struct hal_result *result);
/* Instead of execution_run(): takes it out of the queue. */
void execution_cancel(struct execution *x);

/* All of it at once, as hal.h's execute_synchronously(). */
enum hal_status execution_run_now(struct prepared *p, enum hal_version version,
                                  const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  const struct execution_lent *lent, struct hal_result *result);

/* Runs f(argument), which has to call execution_leave(), on a thread of its own and on the
 * client's account.  Another status than HAL_NONE: it has as many as it may have. */
enum hal_status execution_start(struct execution *x, void (*f)(void *argument), void *argument);
/* Before anybody is told that it is over. */
void execution_leave(struct execution *x);

extern const struct hal_prepared_model_methods prepared_methods;

/* ---- sim/driver/driver_fenced.c, sim/driver/driver_burst.c, sim/driver/driver_reusable.c */

/* Waits for the fences on a thread of its own, then computes.  done() (may be NULL) is told when
 * the execution is not used any more; also when this fails. */
struct fenced_launch {
    struct execution *execution;
    uint32_t n_wait_for;
    const int *wait_for;
    uint64_t left, duration; /* ns */
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
