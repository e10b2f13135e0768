/* What a campaign has so far: counts of its shards' databases, and the line that shows them. */
#ifndef HARNESS_SHARDED_STATE_H
#define HARNESS_SHARDED_STATE_H

#include "harness/campaigns/sharded_folder.h"

struct sharded_state {
    const struct sharded_plan *plan;
    struct shard_set set;
    uint64_t n_begun;             /* shards that were done at the start */
    uint64_t n_cases, n_failures; /* of the shards that are counted; failures: verdicts */
    json_t *buckets;              /* an object with their names */
    /* With stop.coverage: what was executed, how many items that are, and how many shards in a row
     * executed nothing new. */
    struct randgraph_coverage *coverage;
    uint64_t n_items, n_same;
    uint64_t n_counted, next; /* shards; where to look for more */
    bool *counted;
    bool quiet, terminal, shown;
    double begun, drawn; /* monotonic seconds */
};

int sharded_state_begin(const struct sharded_plan *p, bool quiet, struct sharded_state *ret_state,
                        struct why *w);
void sharded_state_done(struct sharded_state *s);

/* Looks which shards are done and counts new ones, for at most `seconds`. */
int sharded_state_update(struct sharded_state *s, double seconds, struct why *w);
/* Shows the state: on a terminal at most ten times a second, else once a minute. */
void sharded_state_show(struct sharded_state *s);
/* Erases the line, so that other text can be printed. */
void sharded_state_clear(struct sharded_state *s);

#endif
