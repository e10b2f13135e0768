/* Durations and their statistics. */
#ifndef HARNESS_BENCH_TIMES_H
#define HARNESS_BENCH_TIMES_H

#include "harness/bench/bench_types.h"

/* A growing list of durations in ns; all zero is an empty one. */
struct bench_durations {
    uint64_t *ns;
    size_t n;
};
int bench_durations_add(struct bench_durations *d, uint64_t ns, struct why *w);
void bench_durations_done(struct bench_durations *d);

/* Sorts the durations, which are in the order of the measurement.  The deviation is that of the
 * population; the p-th percentile is the ceil(p/100 * n)-th smallest (nearest rank), the median of
 * an even number the mean of both in the middle; the histogram has a step of (most - least) / 31,
 * so that bucket i is (x - least) / step.
 */
struct bench_times bench_times_of(struct bench_durations *d);

#endif
