/* The coverage of summaries (table summary_coverage): items in place of cells. */
#ifndef HARNESS_SUMMARY_COVERAGE_H
#define HARNESS_SUMMARY_COVERAGE_H

#include "harness/store/results.h"

struct sqlite3;

/* Keeps what the current run has counted, as that of its shard. */
int summary_keep_coverage(struct results *r, struct why *w);
/* Writes the coverage of a target as the sum of several shards, or as that of one. */
int summary_write_coverage(struct results *r, int64_t run, const char *key, int64_t target,
                           const struct randgraph_coverage *c, struct why *w);
/* Adds the coverage of a shard; "": of the sum. */
int summary_read_coverage(struct sqlite3 *db, const char *path, int64_t run, const char *key,
                          int64_t target, struct randgraph_coverage *c, struct why *w);

#endif
