/* Summaries: what the verdicts of a run add up to, in place of a row for each case.
 *
 * The parts of a campaign add up: all columns are sums, maxima with their case, or the first K of a
 * list by the position of the case in the plan.  So the sum of several shards does not depend on
 * their order, and as it remembers what each has added, a shard counts once. */
#ifndef HARNESS_SUMMARY_H
#define HARNESS_SUMMARY_H

#include "harness/check/buffer.h"
#include "harness/store/results.h"

struct sqlite3;
struct json_t;

enum { SUMMARY_LISTED = 1000 };

/* Replaces the cases of the current run, which is finished and has a row in shards, by their
 * summary.  Of each bucket and target the first `kept` failures stay, with their specifications;
 * the first `listed` ones, at least those, stay by name. */
int results_summarise(struct results *r, uint64_t kept, uint64_t listed, struct why *w);
/* Whether the current run is a summary; whether a run is. */
int results_is_summary(struct results *r, bool *ret_is, struct why *w);
int results_run_is_summary(struct results *r, int64_t run, bool *ret_is, struct why *w);

/* What a target of a summary has, as JSON: {"verdicts": {"pass": 10}, "buckets": {KEY: {"failures":
 * 2, "ratio": 3.5, "case": NAME}}, "operations": {"ADD TENSOR_FLOAT32": {"passed": 5,
 * "unsupported": 0}}}; ratio null: none, or infinite.  To be released with json_decref(). */
int results_summary_counts(struct results *r, int64_t run, const char *uri,
                           struct json_t **ret_counts, struct why *w);

/* A failure with a specification: the shrunk one, where there is one. */
struct known_failure {
    const char *key, *bucket; /* as in summary_buckets, also of a run with all rows */
    const char *name, *spec;
};
/* Calls each() for at most `most` failures of each bucket, of a run, 0: of all, the smallest ones
 * first. */
int results_each_known_failure(struct results *r, int64_t run, uint64_t most,
                               int (*each)(const struct known_failure *f, void *user,
                                           struct why *w),
                               void *user, struct why *w);

/* SQL functions of a connection:
 * gist() (reports/gist.h);
 * ratio_bin2(RATIO) is a key of summary_ratios.bins, sum_bins(A, B) adds two of these,
 * bucket_id(KEY) the digest of a bucket's key. */
int summary_functions(struct sqlite3 *db);

/* ---- for merging */

/* The sums of a run that is being written, whose targets are numbered from first_target on. */
enum { SUMMARY_LISTS = 7 };
struct sqlite3_stmt;
struct summary_sum {
    struct results *out;
    int64_t run, first_target;
    uint32_t n_targets;
    struct sqlite3_stmt *insert[SUMMARY_LISTS];
};
int summary_sum_begin(struct results *out, int64_t run, int64_t first_target, uint32_t n_targets,
                      struct summary_sum *ret_sum, struct why *w);
/* Adds a run that is one shard, and appends what it has to a text (summary_parts.part). */
int summary_sum_add_run(struct summary_sum *x, struct sqlite3 *db, const char *path, int64_t run,
                        struct buffer *text, struct why *w);
/* Adds such a text, which is changed.  WHY_INVALID: it is damaged. */
int summary_sum_add(struct summary_sum *x, char *text, struct why *w);
void summary_sum_done(struct summary_sum *x);

#endif
