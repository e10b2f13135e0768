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
struct outcome;

/* Which drivers get a process of their own, which cannot harm this one (docs/security.md). */
enum isolation {
    ISOLATE_NONE,
    ISOLATE_FOREIGN, /* those under test: lib:, sl:, rt:, sim: with a fault */
    ISOLATE_ALL      /* all but golden and null; unix: always has its own */
};
bool target_is_isolated(const char *uri, enum isolation isolation);

/* What the caller provides. */
struct target_host {
    /* Converts a profile file to JSON text (malloc()ed): sim/ itself reads no TOML. */
    int (*read_profile)(const char *path, char **ret_json, struct why *w);
    const char *profile;  /* JSON text in place of that of any profile file; NULL: it is read */
    double reply_timeout; /* of a driver in another process, in seconds; 0: none */
    bool is_known;        /* the target has been opened before: if its service cannot be reached,
                             target_open() succeeds and the next run reports it */
    const char *no_extensions; /* why vendor extensions may not be used (sim/client/allowlist.h);
                                  NULL: they may; must outlive the target */
    enum isolation isolation;  /* whether the driver gets a process of its own */
    bool may_use_devices;      /* it is, but may use device nodes */
    enum hal_version entry;    /* runs use the entry points of this version; 0: the driver's own */
    uint64_t memory_limit;     /* bytes of anonymous memory that such a process may use; 0: any */
    bool may_spin;             /* such a process and this one have a processor each: waits for
                                  each other may spin */
    bool is_served;            /* target_driver() of a driver in a process of its own has all
                                  methods, not only its properties */
    void (*waiting)(void *user); /* called now and then while a driver in another process works,
                                    from any thread; may be NULL */
    /* Called by target_open() when such a process dies or hangs, before it fails with
     * WHY_EXECUTION; *o as that of target_close(), freed afterwards.  May be NULL. */
    void (*died)(const struct outcome *o, void *user);
    /* Attaches a debugger to such a process, which any process of the user may then trace: called
     * once, before the first case is sent.  -1: the run fails.  NULL: no debugger. */
    int (*attach)(int pid, void *user, struct why *w);
    void *user;
};

/* Opens a URI (sim:NAME, sim:PATH.toml, sim:PATH.json, lib:PATH.so?ARGUMENTS, sl:PATH.so, rt:,
 * unix:PATH, golden, null).
 * WHY_INVALID: a bad URI, profile or library, or a driver that does not answer host->entry; the
 * text has the fault and its place. */
int target_open(const char *uri, const struct target_host *host, struct target **ret_target,
                struct why *w);
void target_free(struct target *t);

/* Frees the target except its driver, which the caller then owns (to serve it:
 * sim/service/service.h).  The driver's library, if any, stays loaded. */
struct hal_driver *target_take_driver(struct target *t);

const char *target_uri(const struct target *t);
const struct hal_driver *target_driver(const struct target *t);
/* Of the entry points that runs use; 0: not known, as its service is not connected. */
enum hal_version target_version(const struct target *t);

/* Properties of a driver, checked against the contract. */
struct target_info {
    char name[64], version[128];
    enum hal_device_type type;
    enum hal_version hal_version, lowest_version;
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

/* How a request is executed (sim/client/driver_client.h). */
enum execution_way {
    EXECUTION_SYNCHRONOUS, /* since HAL 1.2 */
    EXECUTION_ASYNCHRONOUS,
    EXECUTION_BURST,
    EXECUTION_FENCED,
    EXECUTION_REUSABLE,
    EXECUTION_REUSABLE_FENCED,
    EXECUTION_WAYS
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
    TARGET_AT_BURST,
    TARGET_AT_FENCED,
    TARGET_AT_FENCE, /* the fence */
    TARGET_AT_REUSABLE,
    TARGET_AT_BUFFERS, /* allocate and copy_from; of an output's copy_to, the execution */
    TARGET_AT_ONCE,    /* executions at once */
    TARGET_AT_RELEASE,
    TARGET_STEPS
};
/* "in prepare_model", ...; "" for nothing. */
extern const char *const target_step_text[TARGET_STEPS];
/* The stage that a step belongs to. */
extern const enum stage target_stage_of[TARGET_STEPS];

/* Makes target_run() store its current step (enum target_step) in *ret_step, where another process
 * can read it after this one has crashed. */
void target_watch(struct target *t, _Atomic uint32_t *ret_step);

struct outcome {
    enum stage stage;
    enum hal_status status;            /* of the call that ended it; HAL_NONE when done */
    char failure_text[HAL_TEXT_BYTES]; /* the driver's reason for that status; "": none */
    char violation[256];               /* not empty: how the driver violated the contract */
    bool died;                         /* its own process has ended; `violation` has the details */
    bool hung;                         /* died, because of a timeout */
    bool trespassed;                   /* died of an access to memory that was not lent */
    int signal;                        /* died of it; 0: it did not */
    const char *prints;                /* what a hosted driver has printed; NULL: nothing */
    const char *backtrace;             /* of its crash; NULL: none */
    uint64_t run;                      /* number of this run of the target, from 1 on */
    uint64_t late_run;                 /* an earlier run whose violation was noticed now; 0: none */
    char late[128];                    /* that violation */
    bool is_late_callback; /* it is a second callback, which certainly belongs to that run */
    struct arena *arena;   /* owns the rest */
    char not_passed[256];  /* not empty: why the model or request was not passed to the driver */
    uint32_t n_ops;        /* operations of the main graph, and which of them it supports */
    bool *supported;
    const struct conversion_note
        *note; /* what conversion to the driver's version changed or lost */
    uint32_t n_notes;
    uint32_t n_out;
    struct tensor *out;       /* shape as the driver reported or the model declares */
    struct hal_timing timing; /* nanoseconds; HAL_NO_TIME if not reported */
    uint32_t n_buffers;       /* arguments that lay in buffers of the driver */
    struct outcome *beside;   /* of the executions at once with this one, which is done; each has
                                 stage, status, violation and outputs only */
    uint32_t n_beside;
};

/* Inputs of an execution, and the shapes of its outputs as in target_run(). */
struct target_inputs {
    const struct tensor *in;
    const struct shape *out_shape;
};
enum { TARGET_MOST_BESIDE = 3 };

/* Writes other values for an input, which the model may take or not: its elements in reverse, but
 * for the first ones of a longer input, and then moved round by `turn` places. */
void target_put_other(const struct tensor *t, uint32_t turn, uint8_t *at);

/* How a model is prepared and executed other than plainly. */
struct target_variation {
    enum hal_preference preference;
    enum hal_priority priority;
    bool from_cache;  /* prepared from the cache that a first preparation has written, if the driver
                         caches it; else plainly */
    bool after_other; /* the prepared model executes a request with other inputs first */
    uint32_t shift;   /* bytes, a multiple of 4, that arguments lie farther behind in their pools */
    bool other_pools; /* arguments that otherwise share a pool have one each, and the reverse */
    bool input_buffers, output_buffers; /* tensors lie in buffers of the driver, if it has them */
    uint32_t n_beside; /* executions at once with this one, each with its inputs; at most
                          TARGET_MOST_BESIDE */
    const struct target_inputs *beside;
};

struct target_run_options {
    bool only_query_support; /* only get_supported_operations(); if all are, the run ends at
                                STAGE_PREPARE */
    bool measure;
    bool trap_inputs;         /* of a hosted driver: reading behind an input ends its process */
    uint64_t allowance_ns;    /* added to the time-out of a driver in a process of its own */
    uint64_t deadline_ns;     /* 0: none */
    uint64_t loop_timeout_ns; /* 0: default */
    const struct target_variation *vary; /* NULL: plainly */
    bool keep_prepared;                  /* for target_run() with .use_prepared; a hosted driver */
    bool use_prepared; /* the model is the one of the last run, which has kept it prepared; else it
                          is prepared again */
    enum execution_way way; /* synchronous: asynchronous before HAL 1.2.  One that the driver's
                               version or its prepared model does not have: not_passed tells */
};

/* Runs a model once on the driver: get_supported_operations(), prepare, execute, with guard bytes
 * around inputs and outputs.  out_shape: the reference's shapes, one per output of the
 * main graph (they determine the buffer sizes where the model has unknown dimensions).  Returns -1
 * only for errors of Halcyon; everything that the driver does is reported in *ret_outcome.  A
 * driver in this process that crashes or hangs takes the process with it, so the caller isolates
 * it.  After a service has died, the next run connects to it again. */
int target_run(struct target *t, const struct model *m, const struct tensor *in,
               const struct shape *out_shape, const struct target_run_options *options,
               struct outcome *ret_outcome, struct why *w);
void outcome_done(struct outcome *o);
/* Releases the model that the last run has kept prepared, if any.  True: the driver has died
 * meanwhile, *ret_outcome as that of target_close(). */
bool target_release_prepared(struct target *t, struct outcome *ret_outcome);

/* Of a driver in a process of its own; the others return false.  Compares all memory that was lent
 * to earlier runs; true: some has changed since, *ret_run tells of which run. */
bool target_sweep(struct target *t, uint64_t *ret_run);
/* A second callback that came after the last run: true, with the run that it belongs to. */
bool target_take_late_callback(struct target *t, uint64_t *ret_run, char *ret_text, size_t size);
/* Ends the process without closing the driver; the next run starts another. */
void target_restart(struct target *t);
/* Closes the driver and ends its process, of which a violation is reported: *ret_outcome as that of
 * a run without outputs.  True: there is one. */
bool target_close(struct target *t, struct outcome *ret_outcome);
/* After a call of one of target_driver()'s methods has failed: whether the process has died or does
 * not answer any more, *ret_outcome as that of target_close(). */
bool target_has_failed(struct target *t, struct outcome *ret_outcome);
/* Its process id; 0: none. */
int target_process(const struct target *t);

/* The fault table: defects that `?fault=NAME` adds to a simulated device, to test the harness.
 * Those with hooks are in the device, the others in a layer around its driver (sim/faulty/). */
struct fault {
    const char *name, *kind;
    const char *const *rules; /* of `halcyon conform`, all of which find it on sim:cpu: "model/M1";
                                 NULL at the end */
    const char *doc; /* what it does, and of a device's on which devices it has an effect */
    const struct fault_hooks *hooks;       /* private to sim/; NULL: none */
    const struct contract_hooks *contract; /* likewise */
};
/* Row `index` of the table, NULL after the last. */
const struct fault *fault_at(int index);
/* The row with that name, or NULL. */
const struct fault *fault_find(const char *name);

/* URIs of the shipped targets ("sim:cpu", ...), NULL at the end. */
extern const char *const target_shipped[];

#endif
