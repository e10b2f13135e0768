/* Results of the benchmark in the results database. */
#ifndef HARNESS_BENCH_RECORD_H
#define HARNESS_BENCH_RECORD_H

#include "harness/bench/bench_types.h"
#include "harness/store/results.h"

/* Writes the result of the list's model `ordinal` on a target of the current run. */
int bench_record(struct results *r, uint32_t target, uint64_t ordinal, const char *model,
                 const struct bench_result *result, struct why *w);

/* Calls each() for every result of the current run that an earlier process has recorded.  *result
 * is as it was recorded; its texts are in `a`. */
int bench_recall(struct results *r, struct arena *a,
                 int (*each)(uint32_t target, uint64_t ordinal, const char *model,
                             const struct bench_result *result, void *user, struct why *w),
                 void *user, struct why *w);

#endif
