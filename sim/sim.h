/* sim: whole devices behind the HAL, and the runtime that drives them.
 *
 * A driver is a C struct of functions (sim/hal.h: the contract, self-contained).  This header is
 * the client's side: a target is a driver named by a URI (sim:cpu, sim:PATH.toml?fault=NAME, null:,
 * ...), opened once, asked what it supports, given a model to prepare and requests to execute.  The
 * runtime converts golden's models to HAL structures, guards the memory that it lends, and checks
 * everything that the driver answers against the contract: what breaks it is reported as a
 * violation, never trusted.  Devices are described by profiles, data in TOML. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "golden/golden.h"
#include "golden/model/compliance.h"
#include "sim/hal.h"

struct target;

/* What the caller lends: sim/ reads no TOML itself.  Reads a profile file into JSON text
 * (malloced). */
struct target_host {
    int (*read_profile)(const char *path, char **ret_json, struct why *w);
    double patience; /* most seconds for an answer of a driver in another process, 0: any number */
    bool is_known;   /* it has been there before: where it is not, that is the outcome of a run */
    const char *no_extensions; /* why vendor extensions may not be used (sim/client/allowlist.h),
                                  NULL: they may; kept as long as the target */
};

/* Opens a URI (sim:NAME, sim:PATH.toml, lib:PATH.so?ARGUMENTS, unix:PATH, golden, null).  A bad
 * URI, profile or library is WHY_INVALID with what and where. */
int target_open(const char *uri, const struct target_host *host, struct target **ret_target,
                struct why *w);
void target_free(struct target *t);

/* The target's driver, to be served to others (sim/service/service.h); frees the rest.  A library
 * that the driver is in stays loaded. */
struct hal_driver *target_take_driver(struct target *t);

const char *target_uri(const struct target *t);
const struct hal_driver *target_driver(const struct target *t);

/* The contract's answers at start-up, checked. */
struct target_info {
    char name[64], version[128];
    enum hal_device_type type;
    int hal_version; /* 10 ... 13: HAL 1.0 ... 1.3; 15 ... 18: feature levels 5 ... 8 */
    struct hal_capabilities capabilities;
    uint32_t n_extensions, n_model_cache, n_data_cache;
    const struct hal_extension *extensions; /* the driver's own memory */
};
int target_info(struct target *t, struct target_info *ret_info, struct why *w);

/* How far a model got, in the order in which it goes. */
enum stage {
    STAGE_SUPPORTED, /* stopped there: the driver does not support every operation */
    STAGE_PREPARE,
    STAGE_EXECUTE,
    STAGE_DONE /* outputs are there */
};

/* What a target is at: the method of its driver that runs, or whose callback is awaited. */
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

/* From now on *ret_step (enum target_step) follows target_run(): for another process to read when
 * this one has died in it. */
void target_watch(struct target *t, _Atomic uint32_t *ret_step);

struct outcome {
    enum stage stage;
    enum hal_status status; /* of the call that ended it; HAL_NONE when done */
    char violation[256];    /* not empty: the driver broke the contract, and how */
    bool died;              /* its own process ended meanwhile; violation says what is known */
    bool hung;              /* it died in that it does not answer any more */
    struct arena *arena;    /* owns the rest */
    char withheld[256];     /* not empty: why the driver was not even asked */
    uint32_t n_ops;         /* operations of the main graph, and which of them it supports */
    bool *supported;
    const struct conversion_note *note; /* what was said in other words, or lost, at that version */
    uint32_t n_notes;
    uint32_t n_out;
    struct tensor *out;       /* shape as the driver reported or the model declares */
    struct hal_timing timing; /* nanoseconds; HAL_NO_TIME where it did not say */
};

struct target_run_options {
    bool only_ask; /* whether it is supported: then that ends with STAGE_PREPARE */
    bool measure;
    uint64_t deadline_ns;     /* 0: none */
    uint64_t loop_timeout_ns; /* 0: default */
};

/* Supported? prepare, execute once, synchronously, with guarded output buffers.  out_shape: one per
 * output of the main graph, the shapes that the reference found (they size the buffers where the
 * model leaves dimensions unknown).  Returns -1 only for faults of ours; whatever the driver does
 * is in *ret_outcome.  A driver that crashes or hangs takes this process with it: isolate it,
 * unless it has a process of its own; one that has died there is looked for again by the next run.
 */
int target_run(struct target *t, const struct model *m, const struct tensor *in,
               const struct shape *out_shape, const struct target_run_options *options,
               struct outcome *ret_outcome, struct why *w);
void outcome_done(struct outcome *o);

/* The fault table: defects that `?fault=NAME` plants, for testing what a harness finds. */
struct fault {
    const char *name;
    const char
        *kind; /* "numbers", "shape", "status", "timing", "memory", "crash", "hang", "refused" */
    const char *doc;                 /* what it does, and on which devices it can be seen */
    const struct fault_hooks *hooks; /* private to sim/ */
};
extern const struct fault fault_table[];
extern const int fault_table_n;

/* URIs of the shipped targets ("sim:cpu", ...), NULL at the end. */
extern const char *const target_shipped[];

#endif
