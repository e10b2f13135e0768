/* The loop of a campaign: shards that are missing, an engine that runs them, again. */
#ifndef HARNESS_SHARDED_RUN_H
#define HARNESS_SHARDED_RUN_H

#include <signal.h>

#include "harness/campaigns/sharded_state.h"

enum sharded_end {
    SHARDED_COMPLETE,
    SHARDED_MISSING, /* some shards failed in all their attempts */
    SHARDED_TIME,
    SHARDED_BUCKETS,
    SHARDED_COVERAGE,
    SHARDED_INTERRUPTED
};

/* Runs the engine until every shard is done, a stop rule holds, no attempt is left, or *stop is
 * set. The engine has ended then. */
int sharded_run(struct sharded_state *s, const volatile sig_atomic_t *stop,
                enum sharded_end *ret_end, struct why *w);

/* Prints the shards that are missing to stderr, with how their last attempts ended. */
void sharded_print_missing(struct sharded_state *s);
/* EXIT_USAGE if all of them ended so, which no further attempt changes; else EXIT_OURS. */
int sharded_missing_status(const struct sharded_state *s);

#endif
