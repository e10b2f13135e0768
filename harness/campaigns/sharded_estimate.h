/* What a campaign will cost, from a second of its first cases. */
#ifndef HARNESS_SHARDED_ESTIMATE_H
#define HARNESS_SHARDED_ESTIMATE_H

#include <stdio.h>

#include "harness/campaigns/sharded_plan.h"

struct sharded_estimate {
    char why_not[120];            /* why the rest is not known; "": it is */
    double sample, per_second;    /* cases that were run here, in one process */
    double core_seconds, seconds; /* of the processor; with the plan's jobs */
    double jobs, bytes;           /* at a time; of the databases */
};
/* Of n shards.  Takes less than two seconds. */
struct sharded_estimate sharded_estimate_make(const struct sharded_plan *p, uint64_t n);

void sharded_estimate_print(const struct sharded_estimate *e, FILE *to);
json_t *sharded_estimate_json(const struct sharded_estimate *e);

#endif
