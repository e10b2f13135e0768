/* Rows of benchmarks in the results database: tables bench_results, bench_times, bench_metrics. */
#ifndef HARNESS_BENCH_ROWS_H
#define HARNESS_BENCH_ROWS_H

#include "harness/store/results.h"

struct bench_row {
    uint32_t target; /* index */
    uint64_t ordinal;
    const char *model, *verdict, *why;
    uint64_t sequences, inferences, cache_bytes, memory_bytes;
    double first_compile_ns, first_ns; /* 0: none */
};
struct bench_time_row {
    const char *what, *clock; /* "synchronous", "wall" */
    uint64_t n;
    double mean, median, p90, p99, deviation, least, most, step; /* ns */
    const uint32_t *bucket;
    uint32_t n_buckets;
};
struct bench_metric_row {
    const char *key;
    bool more_is_better;
    double value, reference, expected, limit; /* NaN: none */
    const char *worse;                        /* why it is worse than it may be; "": it is not */
};

/* Writes the result of a model on a target of the current run, in one transaction. */
int results_write_bench(struct results *r, const struct bench_row *row,
                        const struct bench_time_row *time, uint32_t n_times,
                        const struct bench_metric_row *metric, uint32_t n_metrics, struct why *w);

#endif
