/* Runs cases on targets: distributes them over worker processes, counts the verdicts, and passes
 * them to the console and to the results database.  Shared by `run`, `random` and `replay`. */
#ifndef HARNESS_CAMPAIGN_H
#define HARNESS_CAMPAIGN_H

#include <signal.h>

#include "harness/check/cases.h"
#include "harness/check/waivers.h"
#include "harness/cli/console.h"
#include "harness/cli/options.h"
#include "harness/store/results.h"

struct active_case;

struct campaign {
    /* Set by the caller, who owns what is pointed to. */
    const struct options *options;
    const struct cases *cases;
    enum judge_kind judge;
    const char *const *target; /* URIs */
    uint32_t n_targets;
    struct waivers *waivers; /* NULL: none */
    struct results *results; /* NULL: nothing is recorded */
    bool details;            /* a replay: explain every output, print no replay command */

    /* Filled in by the run; freed by campaign_done(). */
    struct totals totals[MAX_TARGETS];
    struct console console;
    uint64_t n_items; /* cases of this shard that are still to run */
    uint64_t *item;   /* their indexes; NULL: every n_shards-th case, from shard - 1 on */
    uint64_t done;
    struct active_case *active_case; /* cases in progress */
    uint32_t n_active_cases, active_case_capacity;
};

/* Number of cases, of `n`, in the shard that the options select. */
uint64_t campaign_shard(const struct options *o, uint64_t n);

/* For a resumed run: counts the verdicts that the database has for the current run, and removes
 * their cases from those still to run. */
int campaign_skip_done(struct campaign *c, struct why *w);

/* Runs all remaining cases.  0: complete; 1: interrupted through `stop` (see struct
 * worker_pool_options); -1: an error of Halcyon's own. */
int campaign_run(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w);
void campaign_done(struct campaign *c);

/* Number of verdicts so far that are not conforming. */
uint64_t campaign_failures(const struct campaign *c);

#endif
