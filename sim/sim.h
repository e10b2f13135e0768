/* sim: simulated devices behind the HAL, and the client that runs models on drivers.
 *
 * A driver is a C struct of functions (sim/hal.h: the driver contract, self-contained).  This
 * header is the client side.  A target is a driver named by a URI (sim:cpu, lib:PATH.so, null,
 * ...).  The client opens it, queries which operations it supports, prepares a model and executes
 * requests.  It converts golden's models to HAL structures, surrounds the memory that it passes to
 * the driver with guard bytes, and checks every result against the contract: a deviation is
 * reported as a violation.  Devices are described by profiles (TOML). */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "golden/golden.h"
#include "golden/model/compliance.h"
#include "sim/hal.h"

struct target;

/* What the caller provides. */
struct target_host {
    /* Converts a profile file to JSON text (malloc()ed): sim/ itself reads no TOML. */
    int (*read_profile)(const char *path, char **ret_json, struct why *w);
    double reply_timeout; /* of a driver in another process, in seconds; 0: none */
    bool is_known;        /* the target has been opened before: if its service cannot be reached,
                             target_open() succeeds and the next run reports it */
    const char *no_extensions; /* why vendor extensions may not be used (sim/client/allowlist.h);
                                  NULL: they may; must outlive the target */
};

/* Opens a URI (sim:NAME, sim:PATH.toml, lib:PATH.so?ARGUMENTS, unix:PATH, golden, null).
 * WHY_INVALID: a bad URI, profile or library; the text has the fault and its place. */
int target_open(const char *uri, const struct target_host *host, struct target **ret_target,
                struct why *w);
void target_free(struct target *t);

/* Frees the target except its driver, which the caller then owns (to serve it:
 * sim/service/service.h).  The driver's library, if any, stays loaded. */
struct hal_driver *target_take_driver(struct target *t);

const char *target_uri(const struct target *t);
const struct hal_driver *target_driver(const struct target *t);

/* Properties of a driver, checked against the contract. */
struct target_info {
    char name[64], version[128];
    enum hal_device_type type;
    int hal_version; /* 10 ... 13: HAL 1.0 ... 1.3; 15 ... 18: feature levels 5 ... 8 */
    struct hal_capabilities capabilities;
    uint32_t n_extensions, n_model_cache, n_data_cache;
    const struct hal_extension *extensions; /* owned by the driver */
};
/* WHY_INVALID: what violates the contract. */
int target_info(struct target *t, struct target_info *ret_info, struct why *w);

/* The stage at which a run ended, in order. */
enum stage {
    STAGE_SUPPORTED, /* the driver does not support every operation */
    STAGE_PREPARE,
    STAGE_EXECUTE,
    STAGE_DONE /* the outputs are available */
};

/* The driver's method that a target is currently calling, or whose callback it is waiting for. */
enum target_step {
    TARGET_AT_NOTHING,
    TARGET_AT_SUPPORTED,
    TARGET_AT_PREPARE,
    TARGET_AT_PREPARED, /* the callback */
    TARGET_AT_EXECUTE_SYNCHRONOUSLY,
    TARGET_AT_EXECUTE,
    TARGET_AT_EXECUTED, /* the callback */
    TARGET_AT_RELEASE,
    TARGET_STEPS
};
/* "in prepare_model", ...; "" for nothing. */
extern const char *const target_step_text[TARGET_STEPS];

/* Makes target_run() store its current step (enum target_step) in *ret_step, where another process
 * can read it after this one has crashed. */
void target_watch(struct target *t, _Atomic uint32_t *ret_step);

struct outcome {
    enum stage stage;
    enum hal_status status; /* of the call that ended it; HAL_NONE when done */
    char violation[256];    /* not empty: how the driver violated the contract */
    bool died;              /* its own process has ended; `violation` has the details */
    bool hung;              /* died, because of a timeout */
    struct arena *arena;    /* owns the rest */
    char not_passed[256];   /* not empty: why the model was not passed to the driver */
    uint32_t n_ops;         /* operations of the main graph, and which of them it supports */
    bool *supported;
    const struct conversion_note
        *note; /* what conversion to the driver's version changed or lost */
    uint32_t n_notes;
    uint32_t n_out;
    struct tensor *out;       /* shape as the driver reported or the model declares */
    struct hal_timing timing; /* nanoseconds; HAL_NO_TIME if not reported */
};

struct target_run_options {
    bool only_query_support; /* only get_supported_operations(); if all are, the run ends at
                                STAGE_PREPARE */
    bool measure;
    uint64_t deadline_ns;     /* 0: none */
    uint64_t loop_timeout_ns; /* 0: default */
};

/* Runs a model once on the driver: get_supported_operations(), prepare, execute synchronously, with
 * guard bytes around inputs and outputs.  out_shape: the reference's shapes, one per output of the
 * main graph (they determine the buffer sizes where the model has unknown dimensions).  Returns -1
 * only for errors of Halcyon; everything that the driver does is reported in *ret_outcome.  A
 * driver in this process that crashes or hangs takes the process with it, so the caller isolates
 * it.  After a service has died, the next run connects to it again. */
int target_run(struct target *t, const struct model *m, const struct tensor *in,
               const struct shape *out_shape, const struct target_run_options *options,
               struct outcome *ret_outcome, struct why *w);
void outcome_done(struct outcome *o);

/* The fault table: defects that `?fault=NAME` adds to a simulated device, to test the harness. */
struct fault {
    const char *name;
    const char
        *kind; /* "numbers", "shape", "status", "timing", "memory", "crash", "hang", "refused" */
    const char *doc;                 /* what it does, and on which devices it has an effect */
    const struct fault_hooks *hooks; /* private to sim/ */
};
extern const struct fault fault_table[];
extern const int fault_table_n;

/* URIs of the shipped targets ("sim:cpu", ...), NULL at the end. */
extern const char *const target_shipped[];

#endif
