/* Conformance rules: what the HAL requires of every driver, as data, and the functions that check
 * them (harness/suites/).
 *
 * A rule is checked by one function, on one target, through the entry points of one HAL version, in
 * a worker process (harness/conform_run/conform_run.h).  Every check is counted; a failed one is a
 * finding.  A rule that applies and in which nothing could be checked is undecided, never passed.
 */
#ifndef HARNESS_CONFORM_H
#define HARNESS_CONFORM_H

#include "harness/conform/must.h"
#include "sim/client/driver_client.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/hal_convert.h"
#include "sim/sim.h"

enum { CONFORM_FINDINGS = 6, CONFORM_TEXT = 320, CONFORM_NAME = 120 };

struct conform {
    enum hal_version version; /* of the entry points, unless a rule names others; at most the
                                 driver's own */
    enum hal_version lowest;  /* of the driver's entry points: those of older versions are not
                                 called */
    struct hal_driver *driver;
    bool is_remote;              /* the driver is a service: every call goes through its socket */
    uint32_t part, n_parts;      /* of a rule that is_split: the part of its models to check */
    struct conform_state *state; /* private */
};

struct conform_rule {
    const char *suite, *name;      /* "model", "M3": together "model/M3" */
    enum hal_version since, until; /* of the entry points; until 0: all later versions too */
    const char *text;              /* what a conforming driver does; one line */
    void (*check)(struct conform *c, const void *data);
    const void *data; /* passed to check() */
    bool is_split; /* checks every model of the lists of conform_models.h by itself: models may be
                      divided among workers (conform_is_mine()) */
    /* How many mutants the rule has of all models, for a list of rules; NULL: it has none. */
    uint64_t (*count)(const void *data);
};

/* The rules of one file of harness/suites/. */
struct conform_rules {
    const struct conform_rule *rule;
    int n;
    void (*begin)(void); /* before the first of them, in the parent of all workers; may be NULL */
    void (*end)(void);   /* after the last; may be NULL */
};

struct conform_suite {
    const char *name, *text; /* text: one line */
};
/* harness/suites/suites.c */
extern const struct conform_suite conform_suites[];
extern const int conform_n_suites;
extern const struct conform_rules *const conform_rules[];
extern const int conform_n_rules; /* of conform_rules */

/* Index in hal_versions of the lowest version that the driver answers, or of `at_least` if that is
 * higher: where a loop over the entry points begins. */
int conform_first(const struct conform *c, int at_least);

/* Seed of the random models; set before conform_run(). */
extern uint64_t conform_seed;
/* Time that each rule of the suites "stress" and "crash" takes, about; threads of a client, and
 * clients in processes, of the latter. */
extern double conform_stress_seconds;
extern unsigned conform_crash_threads, conform_crash_processes;

/* Whether the rule concerns entry points of this version. */
bool conform_applies(const struct conform_rule *r, enum hal_version version);
/* Whether the driver has entry points of this version, none of them newer than the rule's. */
bool conform_has_entry(const struct conform *c, enum hal_version version);
/* Whether model `index` of a list belongs to the part of an is_split rule that is checked here. */
bool conform_is_mine(const struct conform *c, uint32_t index);

/* ---- checking a rule */

/* One check of the current rule: counted, and a finding if it fails.  The format describes the case
 * and what was found.  Returns whether the check holds.  From any thread. */
#define EXPECT(c, ok, ...)           conform_expect(c, ok, __FILE__, __LINE__, __VA_ARGS__)
#define EXPECT_STATUS(c, s, e, what) conform_expect_status(c, s, e, __FILE__, __LINE__, what)
__attribute__((format(printf, 5, 6))) bool
conform_expect(struct conform *c, bool ok, const char *file, int line, const char *format, ...);
bool conform_expect_status(struct conform *c, enum hal_status status, enum hal_status expected,
                           const char *file, int line, const char *what);

/* A condition of the helpers below: a finding if it fails, but not counted as a check of the rule.
 */
__attribute__((format(printf, 3, 4))) void conform_require(struct conform *c, bool ok,
                                                           const char *format, ...);

/* What is being done, such as a model's name: the text of a crash or hang, and of failures that the
 * helpers below find. */
__attribute__((format(printf, 2, 3))) void conform_doing(struct conform *c, const char *format,
                                                         ...);

/* Why the rule, or a part of it, cannot be checked on this driver ("no compilation cache"): the
 * reason that is shown if nothing else of the rule is checked. */
/* Whether the connection to the driver's service has failed, and why. */
bool conform_is_cut_off(const struct conform *c, struct why *ret_why);
__attribute__((format(printf, 2, 3))) void conform_not_applicable(struct conform *c,
                                                                  const char *format, ...);

/* Prepares the model through the entry point of that version, or (model NULL) restores it from the
 * cache of the configuration, and waits for the callback.  Returns the status of the call, that of
 * the callback, and the model (NULL unless HAL_NONE; released by the caller).  A violation of the
 * contract is a finding; a second callback also if it comes before the end of the rule. */
struct conform_prepared {
    enum hal_status launched, status;
    struct hal_prepared_model *model;
};
struct conform_prepared conform_prepare(struct conform *c, enum hal_version entry,
                                        const struct hal_model *model,
                                        const struct hal_prepare_config *config);

/* The same with the default configuration at the rule's version, unless the state says otherwise
 * (struct conform_state).  Returns NULL if the driver does
 * not support every operation; if no model of a rule is supported and nothing else is checked, the
 * rule is not applicable.  Checks that the preparation of a legal model launches, and succeeds if
 * the driver supports the model.  Messages name it by conform_doing(). */
struct hal_prepared_model *conform_prepare_supported(struct conform *c,
                                                     const struct hal_model *model);

/* Whether the driver supports every operation of the model at that version; not a check. */
bool conform_supports(const struct conform *c, enum hal_version version,
                      const struct hal_model *model);

/* Calls get_number_of_cache_files_needed.  False: the driver has no such method, and so no
 * compilation cache; then a rule without other checks is not applicable. */
bool conform_cache_files_needed(struct conform *c, uint32_t *ret_n_model, uint32_t *ret_n_data,
                                enum hal_status *ret_status);

/* Opens the target once more: another driver of the same kind; closed by the caller. */
struct hal_driver *conform_open(const struct conform *c);

/* ---- running a rule */

enum conform_end {
    CONFORM_PASSED,
    CONFORM_FAILED,
    CONFORM_NOT_APPLICABLE, /* `reason` says why */
    CONFORM_UNDECIDED       /* nothing was checked */
};

/* The result of one rule.  Workers send it through a pipe byte for byte: no pointers. */
struct conform_result {
    enum conform_end end;
    uint32_t checks, failures;
    uint32_t n_findings; /* the first failures */
    char finding[CONFORM_FINDINGS][CONFORM_TEXT];
    char reason[CONFORM_TEXT];
};

/* Progress of a rule, in memory that the parent of a worker can read after its death. */
struct conform_progress {
    uint64_t begun; /* clock_steady_ns() */
    uint32_t checks;
    bool is_doubled; /* the driver forked, and a call returned in the new process, too */
    char doing[CONFORM_TEXT];
};

struct conform_state {
    int (*open)(void *user, struct hal_driver **ret_driver, bool *ret_is_remote, struct why *w);
    void (*keep_alive)(void *user); /* called with every check; may be NULL */
    void *user;
    /* When an execution fails, also because the device is busy, the target computes it with the
     * reference instead: results may be the device's or the reference's.  Like the two functions,
     * set before conform_begin(). */
    bool may_fall_back;
    struct conform_progress *progress;
    struct conform_result *result;
    unsigned unsupported; /* models of this rule that the driver does not support */
    char one_unsupported[CONFORM_NAME];
    unsigned missing, known; /* a service's kinds of execution that it lacks, or was asked for: bit
                                per conform_kinds */
    /* How conform_prepare_supported() prepares models; reset before each rule. */
    bool is_restoring; /* saves them to a cache and restores them, if the driver does */
    enum hal_priority priority;
    struct conform_answers *first; /* the driver's, before the first rule; NULL: not asked yet */
    /* How a small model was executed after rules: bit per enum execution_way. */
    unsigned right, wrong;
    struct driver_client client; /* prepares models */
};

#endif
