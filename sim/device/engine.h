/* Engines: the computing half of a driver.  The driver (sim/driver/driver.c) implements the HAL: it
 * converts and validates models, checks requests and maps memory.  An engine receives valid models
 * and complete inputs, and computes. */
#ifndef SIM_ENGINE_H
#define SIM_ENGINE_H

#include "golden/model/model.h"
#include "sim/base/client_quota.h"
#include "sim/device/fault.h"
#include "sim/device/schedule.h"
#include "sim/hal.h"
#include "sim/hal/extension_codes.h"

struct engine;
struct program; /* a model prepared by an engine */

struct run_limits {
    uint64_t loop_ns;          /* time limit of one WHILE */
    struct schedule *schedule; /* the device's clock, which the run advances ... */
    struct job *job;           /* ... as this job, which holds the device */
};

struct run_output {
    struct tensor *out;            /* one per output of the main graph */
    uint64_t on_device, in_driver; /* virtual ns from arrival to end; HAL_NO_TIME: not measured */
};

/* Methods that can fail return -1 with the reason in w.  All are set unless NULL is explained. */
struct engine_methods {
    /* Which operations of the main graph are supported; ret_supported has an element for each, all
     * false before the call.  Fails only for WHY_MEMORY. */
    int (*supported)(struct engine *e, const struct model *m, bool *ret_supported, struct why *w);
    /* m outlives the program. */
    int (*prepare)(struct engine *e, const struct model *m, struct program **ret_program,
                   struct why *w);
    void (*program_free)(struct program *p);
    /* Lower bound of the virtual ns that a run takes, as far as known before it. */
    uint64_t (*estimate)(const struct program *p);
    /* in: a tensor per input of the main graph; run() may change their data.  Results are allocated
     * in `a`.  Between two operations a run may be suspended for a job of higher priority
     * (schedule_spend()).  WHY_TIMEOUT as soon as it is known that the run cannot end before its
     * job's deadline. */
    int (*run)(struct program *p, const struct tensor *in, const struct run_limits *limits,
               struct arena *a, struct run_output *ret_output, struct why *w);
    void (*free)(struct engine *e);
    /* Virtual ns that preparing m takes, less from a cache; constant_bytes: size of its constants.
     * NULL: 0. */
    uint64_t (*preparing)(const struct engine *e, const struct model *m, uint64_t constant_bytes,
                          bool is_cached);
};

/* Default idle time of bursts: one second. */
#define BURST_IDLE_NS UINT64_C(1000000000)

/* An engine's own structure starts with this. */
struct engine {
    const struct engine_methods *methods;
    const char *name, *version;
    enum hal_device_type type;
    enum hal_version hal, lowest_hal; /* lowest_hal 0: HAL_1_0 */
    struct hal_capabilities capabilities;
    uint64_t memory;        /* limit of one execution in bytes, 0: none */
    uint32_t queue_depth;   /* executions of one client that may wait, 0: any number */
    uint32_t priorities;    /* distinct priority levels, at least 1 */
    uint64_t burst_idle_ns; /* without requests until a burst frees its memory; 0: BURST_IDLE_NS */
    uint32_t model_cache_files, data_cache_files;
    struct client_limits limits;
    extension_set extensions;  /* vendor extensions that it supports */
    const struct fault *fault; /* planted fault; NULL: none */
    bool is_realtime;          /* its clock is the machine's, not virtual */
};

/* The null device, which supports no operation. */
int engine_null(struct engine **ret_engine, struct why *w);
/* The reference executor as a device. */
int engine_reference(struct engine **ret_engine, struct why *w);
/* A simulated device.  Takes ownership of p, also on failure; fault (NULL: none) is not copied. */
struct profile;
int engine_device(struct profile *p, const struct fault *fault, struct engine **ret_engine,
                  struct why *w);

/* The HAL driver of an engine.  Takes ownership of e, also on failure. */
int driver_new(struct engine *e, struct hal_driver **ret_driver, struct why *w);

#endif
