/* What a driver runs on.  The driver (sim/driver/driver.c) speaks the HAL: it converts and
 * validates models, checks requests, maps memory.  An engine gets legal models and complete inputs,
 * and computes. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "golden/model/model.h"
#include "sim/base/client_quota.h"
#include "sim/device/fault.h"
#include "sim/device/schedule.h"
#include "sim/hal.h"
#include "sim/hal/names.h"

struct engine;
struct program; /* a model that an engine has made ready */

struct run_limits {
    uint64_t loop_ns;          /* for one WHILE */
    struct schedule *schedule; /* the device's clock, on which the run spends its time ... */
    struct job *job;           /* ... as this job, which has the device */
};

struct run_output {
    struct tensor *out;            /* one per output of the main graph */
    uint64_t on_device, in_driver; /* virtual ns from arrival to end, or HAL_NO_TIME */
};

struct engine_methods {
    /* Which operations of the main graph it would run. */
    int (*supported)(struct engine *e, const struct model *m, bool *ret_supported, struct why *w);
    /* m outlives the program. */
    int (*prepare)(struct engine *e, const struct model *m, struct program **ret_program,
                   struct why *w);
    void (*program_free)(struct program *p);
    /* Least virtual ns that a run takes, as far as that can be told before. */
    double (*estimate)(const struct program *p);
    /* Results are allocated in `a`.  Runs take turns between operations (schedule_spend()); one
     * that cannot end before its job's deadline ends with WHY_TIMEOUT as soon as that is known. */
    int (*run)(struct program *p, const struct tensor *in, const struct run_limits *limits,
               struct arena *a, struct run_output *ret_output, struct why *w);
    void (*free)(struct engine *e);
    /* Virtual ns that it takes to make a model with so many bytes of constants ready; less where it
     * comes from a cache.  NULL: none. */
    double (*preparing)(const struct engine *e, const struct model *m, uint64_t constant_bytes,
                        bool is_cached);
};

/* One second: what else a driver does not say of its bursts. */
#define BURST_IDLE_NS UINT64_C(1000000000)

/* An engine's own structure starts with this. */
struct engine {
    const struct engine_methods *methods;
    const char *name, *version;
    enum hal_device_type type;
    enum hal_version hal;
    struct hal_capabilities capabilities;
    uint64_t memory;        /* limit of one execution, 0: none */
    uint32_t queue_depth;   /* executions of a client that wait, 0: any number */
    uint32_t priorities;    /* levels that are told apart, at least 1 */
    uint64_t burst_idle_ns; /* after which a burst keeps nothing; 0: BURST_IDLE_NS */
    uint32_t model_cache_files, data_cache_files;
    struct client_limits limits;
    extension_set extensions;  /* that it serves */
    const struct fault *fault; /* NULL: none */
    bool is_realtime;          /* its clock is the machine's */
};

/* Supports nothing. */
int engine_null(struct engine **ret_engine, struct why *w);
/* The reference. */
int engine_reference(struct engine **ret_engine, struct why *w);
/* Described by a profile, which it takes over, also on failure. */
struct profile;
int engine_device(struct profile *p, const struct fault *fault, struct engine **ret_engine,
                  struct why *w);

/* The driver of an engine, which it takes over, also on failure. */
int driver_new(struct engine *e, struct hal_driver **ret_driver, struct why *w);

#endif
