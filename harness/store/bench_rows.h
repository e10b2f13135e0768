/* Rows of benchmarks in the results database: tables bench_results, bench_times, bench_metrics. */
#ifndef HARNESS_BENCH_ROWS_H
#define HARNESS_BENCH_ROWS_H

#include "harness/store/results.h"
#include "reports/bench_change.h"

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
    double low, high;                                            /* of the medians of its parts */
    int64_t parts;
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

/* Calls each() for every result of the current run that has been written, in no order. */
int results_each_bench(struct results *r,
                       int (*each)(const struct bench_row *row, void *user, struct why *w),
                       void *user, struct why *w);
/* Calls each of them for the times and metrics of one; texts are valid during the call.  buckets:
 * JSON. */
int results_read_bench(struct results *r, uint32_t target, const char *model,
                       int (*each_time)(const struct bench_time_row *row, const char *buckets,
                                        void *user, struct why *w),
                       int (*each_metric)(const struct bench_metric_row *row, void *user,
                                          struct why *w),
                       void *user, struct why *w);
/* The benchmark *run, 0: the newest one, and when it was started.  WHY_INVALID: there is no such
 * run, or it has no benchmarks; the message names runs that have. */
int results_find_bench(struct results *r, int64_t *run, char ret_started[32], struct why *w);
/* A median with its noise; 0: the run has none. */
int results_bench_median(struct results *r, int64_t run, const char *uri, const char *model,
                         const char *what, const char *clock, struct bench_median *ret,
                         struct why *w);

#endif
