#include "harness/bench/bench_record.h"

#include "harness/store/bench_rows.h"

static uint32_t time_rows(const struct bench_result *r, struct bench_time_row *to)
{
    uint32_t n = 0;

    for (int what = 0; what < BENCH_WHATS; what++)
        for (int c = 0; c < BENCH_CLOCKS; c++) {
            const struct bench_times *t = &r->times[what][c];
            if (t->n)
                to[n++] = (struct bench_time_row){ .what = bench_what_name[what],
                                                   .clock = bench_clock_name[c],
                                                   .n = t->n,
                                                   .mean = t->mean,
                                                   .median = t->median,
                                                   .p90 = t->p90,
                                                   .p99 = t->p99,
                                                   .deviation = t->deviation,
                                                   .least = t->least,
                                                   .most = t->most,
                                                   .step = t->step,
                                                   .bucket = t->bucket,
                                                   .n_buckets = BENCH_BUCKETS };
        }
    return n;
}

int bench_record(struct results *r, uint32_t target, uint64_t ordinal, const char *model,
                 const struct bench_result *result, struct why *w)
{
    struct bench_time_row time[BENCH_WHATS * BENCH_CLOCKS];
    struct bench_metric_row metric[BENCH_METRICS];
    const uint32_t n_times = time_rows(result, time);
    const struct bench_row row = { .target = target,
                                   .ordinal = ordinal,
                                   .model = model,
                                   .verdict = verdict_name[result->verdict],
                                   .why = result->why,
                                   .sequences = result->n_sequences,
                                   .inferences = result->n_inferences,
                                   .cache_bytes = result->cache_bytes,
                                   .memory_bytes = result->memory_bytes,
                                   .first_compile_ns = result->first_compile_ns,
                                   .first_ns = result->first_ns };

    for (uint32_t i = 0; i < result->n_metrics; i++) {
        const struct bench_metric *m = &result->metric[i];
        metric[i] =
            (struct bench_metric_row){ m->key,      m->more_is_better, m->value, m->reference,
                                       m->expected, m->limit,          m->why };
    }
    return results_write_bench(r, &row, time, n_times, metric, result->n_metrics, w);
}
