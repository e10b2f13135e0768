/* What a campaign will cost, from a second of its first cases. */
#ifndef HARNESS_SHARDED_ESTIMATE_H
#define HARNESS_SHARDED_ESTIMATE_H

#include <stdio.h>

#include "harness/campaigns/sharded_plan.h"

/* Prints the processor time, the time with the plan's jobs and the size of the databases of n
 * shards, or why they are not known.  Takes less than two seconds. */
void sharded_estimate_print(const struct sharded_plan *p, uint64_t n, FILE *to);

#endif
