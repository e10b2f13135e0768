/* The result of a campaign: what its merged database adds up to. */
#ifndef HARNESS_SHARDED_RESULT_H
#define HARNESS_SHARDED_RESULT_H

#include "harness/campaigns/sharded_corpus.h"
#include "harness/campaigns/sharded_run.h"
#include "harness/check/cases.h"

struct sharded_result {
    enum sharded_end end;
    struct corpus_counts known;
    struct cases files;        /* of `run`: those that could not be loaded; nothing else is set */
    json_t *targets;           /* verdicts of each */
    json_t *buckets;           /* failures that are alike on a target, the most frequent first */
    json_t *findings;          /* of baselines, as the shards of a summary have noted them: texts */
    uint64_t n[VERDICT_COUNT]; /* verdicts of all targets */
};

/* "complete", "stop.for" */
extern const char *const sharded_end_name[];

/* Reads the merged database into *r, which is zeroed but for `end` and `known`. */
int sharded_result_read(const struct sharded_plan *p, const char *merged, struct sharded_result *r,
                        struct why *w);
void sharded_result_done(struct sharded_result *r);

/* The object of --json: what there is of *r and of the shards.  baselines: expectations_json() or
 * NULL, which it takes. */
json_t *sharded_result_json(const struct sharded_state *s, const struct sharded_result *r,
                            json_t *baselines);

#endif
