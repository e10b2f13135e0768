/* Merging results databases, such as those of the shards of a campaign. */
#ifndef HARNESS_MERGE_H
#define HARNESS_MERGE_H

#include <stddef.h>

#include "golden/base/why.h"

/* SQL, where r is a row of runs: equal texts for copies of one run.  Copies that are both finished
 * are those of one run only if they were finished at the same time. */
#define RUN_IDENTITY                                                                               \
    "r.kind || char(31) || r.command || char(31) || r.options || char(31) || r.version || "        \
    "char(31) || r.judge || char(31) || r.n_cases || char(31) || r.started || char(31) || "        \
    "(SELECT ifnull(group_concat(uri, char(31)), '') FROM (SELECT uri FROM targets t WHERE "       \
    "t.run = r.run ORDER BY ordinal))"

struct merge_counts {
    size_t n_runs;     /* written */
    size_t n_parts;    /* shards of the summaries among them */
    size_t n_repeated; /* runs and shards found in another database, too, and left out */
    char *missing;     /* lines about shards that campaigns lack, "" for none; to be freed */
};

/* Writes all runs of the databases to a new one, numbered in the order in which they were started.
 * A run that is in several of them (same command, options, targets, version and start) is written
 * once: the copy that is finished, else the one with the most cases.  Columns that a database of an
 * older version lacks are NULL; a run in progress is copied as far as it is committed, without its
 * owner.
 * WHY_INVALID: a file is not a results database, is newer or damaged, or `out` exists. `out`
 * appears when it is complete, and not at all after a failure. */
int results_merge(const char *const *path, size_t n, const char *out,
                  struct merge_counts *ret_counts, struct why *w);

#endif
