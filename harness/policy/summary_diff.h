/* The difference between two summaries of runs (--summary): what their cases add up to. */
#ifndef HARNESS_SUMMARY_DIFF_H
#define HARNESS_SUMMARY_DIFF_H

#include <jansson.h>

#include "harness/policy/run_diff.h"

/* The comparison of two targets, as 'halcyon diff --json' prints it (docs/baselines.md):
 *
 *     {"a": URI, "b": URI, "same_cases": true,
 *      "verdicts": {"pass": {"a": 10, "b": 9}, ...},
 *      "buckets": [{"bucket": "fail ADD TENSOR_FLOAT32", "change": "new", "a": null,
 *                   "b": {"failures": 1, "ratio": 2.5, "case": "random/v2/s1/i7"}}, ...],
 *      "operations": [{"operation": "ADD TENSOR_FLOAT16", "change": "lost",
 *                      "a": {"passed": 5, "unsupported": 0}, "b": {...}}, ...]}
 *
 * Changes of buckets are "new", "gone", "more", "fewer" and "same"; only operations that are
 * "lost", passed in A and only unsupported in B, or "gained", the reverse, are listed. */
struct summary_diff {
    json_t *json;  /* owned */
    bool is_worse; /* a new bucket, a lost operation; of the same cases also more failures in one */
};

int summary_diff(struct diff_side *a, const char *uri_a, struct diff_side *b, const char *uri_b,
                 struct summary_diff *ret, struct why *w);
/* Prints it as text, at most `most` lines of each change, 0: all. */
void summary_diff_print(const struct summary_diff *d, uint64_t most);

#endif
