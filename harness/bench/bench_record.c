#include "harness/bench/bench_record.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/base/array.h"
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
                                                   .low = t->low,
                                                   .high = t->high,
                                                   .parts = t->parts,
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

/* ---- what an earlier process has recorded */

struct recalled {
    uint32_t target;
    uint64_t ordinal;
    const char *model;
    struct bench_result result;
};
struct recalling {
    struct arena *arena;
    struct recalled *all;
    size_t n;
    struct recalled *now;
};

static int recall_result(const struct bench_row *row, void *user, struct why *w)
{
    struct recalling *x = user;
    struct recalled *all = array_room(x->all, x->n, sizeof(*all));
    const int verdict = verdict_by_name(row->verdict);

    if (!all)
        return why_no_memory(w);
    x->all = all;
    struct recalled *c = &all[x->n++];
    *c = (struct recalled){ row->target, row->ordinal, arena_strdup(x->arena, row->model) };
    struct bench_result *r = &c->result;
    r->verdict = verdict < 0 ? VERDICT_ERROR : (enum verdict) verdict;
    snprintf(r->why, sizeof r->why, "%s", row->why);
    r->n_sequences = (uint32_t) row->sequences;
    r->n_inferences = row->inferences;
    r->cache_bytes = row->cache_bytes;
    r->memory_bytes = row->memory_bytes;
    r->first_compile_ns = row->first_compile_ns;
    r->first_ns = row->first_ns;
    return c->model ? 0 : why_no_memory(w);
}

static int index_of(const char *name, const char *const *names, int n)
{
    int i = 0;
    while (i < n && strcmp(name, names[i]) != 0)
        i++;
    return i;
}

static int recall_time(const struct bench_time_row *row, const char *buckets, void *user,
                       struct why *w)
{
    const struct recalling *x = user;
    const int what = index_of(row->what, bench_what_name, BENCH_WHATS),
              clock = index_of(row->clock, bench_clock_name, BENCH_CLOCKS);

    (void) w;
    if (what == BENCH_WHATS || clock == BENCH_CLOCKS)
        return 0; /* of a later version */
    struct bench_times *t = &x->now->result.times[what][clock];
    *t = (struct bench_times){ .n = row->n,
                               .mean = row->mean,
                               .median = row->median,
                               .p90 = row->p90,
                               .p99 = row->p99,
                               .deviation = row->deviation,
                               .least = row->least,
                               .most = row->most,
                               .total = row->mean * (double) row->n,
                               .low = row->low,
                               .high = row->high,
                               .parts = row->parts,
                               .start = row->least,
                               .step = row->step };
    for (int i = 0; i < BENCH_BUCKETS && (*buckets == '[' || *buckets == ','); i++) {
        char *end;
        t->bucket[i] = (uint32_t) strtoul(buckets + 1, &end, 10);
        buckets = end;
    }
    return 0;
}

static int recall_metric(const struct bench_metric_row *row, void *user, struct why *w)
{
    const struct recalling *x = user;
    struct bench_result *r = &x->now->result;

    if (r->n_metrics == BENCH_METRICS)
        return 0;
    struct bench_metric *m = &r->metric[r->n_metrics++];
    *m = (struct bench_metric){ .key = arena_strdup(x->arena, row->key),
                                .more_is_better = row->more_is_better,
                                .value = row->value,
                                .reference = row->reference,
                                .expected = row->expected,
                                .limit = row->limit };
    snprintf(m->why, sizeof m->why, "%s", row->worse);
    return m->key ? 0 : why_no_memory(w);
}

int bench_recall(struct results *r, struct arena *a,
                 int (*each)(uint32_t target, uint64_t ordinal, const char *model,
                             const struct bench_result *result, void *user, struct why *w),
                 void *user, struct why *w)
{
    struct recalling x = { .arena = a };
    int failed = results_each_bench(r, recall_result, &x, w);

    for (size_t i = 0; !failed && i < x.n; i++) {
        x.now = &x.all[i];
        failed =
            results_read_bench(r, x.now->target, x.now->model, recall_time, recall_metric, &x, w);
        if (!failed)
            failed = each(x.now->target, x.now->ordinal, x.now->model, &x.now->result, user, w);
    }
    free(x.all);
    return failed;
}
