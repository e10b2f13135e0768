/* Runs cases on targets: hands them to a crew of workers, keeps totals, tells the console and the
 * database.  What `run`, `random` and `replay` have in common. */
#ifndef HARNESS_CAMPAIGN_H
#define HARNESS_CAMPAIGN_H

#include <signal.h>

#include "harness/check/cases.h"
#include "harness/check/waivers.h"
#include "harness/cli/console.h"
#include "harness/cli/options.h"
#include "harness/store/results.h"

struct flight;

struct campaign {
    const struct options *options;
    const struct cases *cases;
    enum judge_kind judge;
    const char *const *target;
    uint32_t n_targets;
    struct waivers *waivers; /* may be NULL */
    struct results *results; /* NULL: keeps none */
    bool details;            /* a replay: explains every output, and prints no command to do so */

    /* Filled while it runs. */
    struct totals totals[MAX_TARGETS];
    struct console console;
    uint64_t n_items; /* cases of this shard that are still to run */
    uint64_t *item;   /* their indexes; NULL: every n_shards-th one from shard - 1 on */
    uint64_t done;
    struct flight *flight; /* cases that workers are at */
    uint32_t n_flights, flight_capacity;
};

/* How many cases of `n` are in the shard. */
uint64_t campaign_shard(const struct options *o, uint64_t n);

/* Resumed campaigns: cases of the current run of the database are counted, and not run again. */
int campaign_skip_done(struct campaign *c, struct why *w);

/* 0: complete; 1: interrupted; -1: a fault of ours.  stop: see struct crew_options. */
int campaign_run(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w);
void campaign_done(struct campaign *c);

/* Not conforming verdicts so far. */
uint64_t campaign_failures(const struct campaign *c);

#endif
