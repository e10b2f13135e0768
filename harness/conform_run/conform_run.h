/* Runs conformance rules on targets: one item per target, HAL version and rule, distributed over
 * worker processes, so that a driver that crashes or hangs costs one rule. */
#ifndef HARNESS_CONFORM_RUN_H
#define HARNESS_CONFORM_RUN_H

#include <signal.h>

#include "harness/conform/conform.h"

enum conform_outcome {
    OUTCOME_PASS,
    OUTCOME_VIOLATION,
    OUTCOME_CRASH,
    OUTCOME_HANG,
    OUTCOME_NOT_APPLICABLE, /* the driver or the version does not have what the rule is about */
    OUTCOME_UNDECIDED,      /* nothing could be checked */
    OUTCOME_ERROR,          /* not checked: the workers had to be given up */
    OUTCOMES
};
extern const char *const conform_outcome_name[OUTCOMES];

/* Models per part of a rule that is_split. */
enum { CONFORM_PART = 128 };

/* A rule on a target at a version. */
struct conform_item {
    uint32_t target; /* index */
    enum hal_version version;
    const struct conform_rules *file;
    const struct conform_rule *rule;
    uint64_t ordinal; /* of its case (conform_cases.h) */
    bool is_done;     /* set by the caller: is not run; by conform_run(): has been */

    /* Set by conform_run(). */
    uint32_t n_parts; /* of its models, for workers */
    enum conform_outcome outcome;
    struct conform_result result; /* of a crash or hang: its finding is the only one */
    double ms;                    /* wall clock, of all parts */
    char *printed; /* what the driver printed, where the rule does not hold; NULL: nothing; owned */
    uint32_t attempts, failed_attempts; /* with `rerun`; 0: run once */
};

struct conform_target {
    const char *uri;
    enum hal_version version; /* the driver's */
    enum hal_version lowest;  /* that it answers */
    bool is_isolated;         /* its driver is confined (docs/security.md) */
};

/* Callbacks of a run, with the user of conform_run(); each may be NULL. */
struct conform_calls {
    /* An item is complete: at once, in any order. */
    int (*complete)(const struct conform_item *item, void *user, struct why *w);
    bool (*enough)(void *user);             /* no more items are begun */
    int (*tick)(void *user, struct why *w); /* about 20 times a second */
};

struct conform_options {
    const struct conform_target *target;
    uint32_t n_targets;
    const char *const *suite; /* names, or "SUITE/RULE"; all of them if there is none */
    uint32_t n_suites;
    /* Versions of the entry points: 0: each driver's own. */
    enum hal_version version;
    bool all_versions; /* every one that a driver answers, instead */
    unsigned jobs;
    double timeout; /* seconds without a check after which a driver hangs */
    bool in_process;
    uint32_t rerun;        /* runs more of an item that does not hold, each in a new process */
    uint64_t memory_limit; /* bytes for a worker that an isolated driver is in; 0: any */
    struct conform_calls calls;
    const volatile sig_atomic_t *stop;
};

struct conform_run {
    struct conform_item *item; /* in the order of targets, versions, suites, rules; owned */
    uint64_t n_items;
    uint64_t n_not_of_version; /* rules left out: the version does not have what they are about */
};

/* Lists the items.  WHY_INVALID: an unknown suite or rule, a version that a driver lacks. */
int conform_plan(const struct conform_options *o, struct conform_run *ret_run, struct why *w);
/* Runs them and calls each() for every item that it runs, in order.  0: complete; 1: stopped; 2:
 * ended by enough(). */
int conform_run(const struct conform_options *o, struct conform_run *run,
                int (*each)(const struct conform_item *item, void *user, struct why *w), void *user,
                struct why *w);
void conform_run_done(struct conform_run *run);

#endif
