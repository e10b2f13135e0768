/* Known failures of earlier campaigns: a folder of specifications, corpus/BUCKET/NAME.mod.py. */
#ifndef HARNESS_SHARDED_CORPUS_H
#define HARNESS_SHARDED_CORPUS_H

#include "harness/campaigns/sharded_plan.h"

struct corpus_counts {
    uint64_t n;       /* verdicts: of each specification on each target */
    uint64_t failing; /* that do not conform */
    uint64_t anew;    /* of those: conformed when they were replayed last */
    uint64_t mended;  /* conform, and did not */
    json_t *failures; /* an array, which gets those that do not conform; NULL: they are printed */
};

/* Runs the specifications of the plan's corpus on its targets, once for each campaign, and counts
 * them into *n, which is zeroed but for `failures`; what fails anew comes first.  CORPUS/replays.db
 * keeps the verdicts of all campaigns.  A corpus that does not exist yet is empty. */
int sharded_corpus_replay(const struct sharded_plan *p, struct corpus_counts *n, struct why *w);
/* Adds the failures of the merged database. */
int sharded_corpus_add(const struct sharded_plan *p, const char *merged, struct why *w);

#endif
