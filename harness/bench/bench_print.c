#include "harness/bench/bench_print.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <time.h>

#include "golden/base/text_escape.h"
#include "harness/check/json_value.h"

/* ---- text */

const char *bench_duration(double ns, char text[BENCH_DURATION])
{
    if (ns < 1e3)
        snprintf(text, BENCH_DURATION, "%.0f ns", ns);
    else if (ns < 1e6)
        snprintf(text, BENCH_DURATION, "%.2f us", ns / 1e3);
    else if (ns < 1e9)
        snprintf(text, BENCH_DURATION, "%.3f ms", ns / 1e6);
    else
        snprintf(text, BENCH_DURATION, "%.3f s", ns / 1e9);
    return text;
}

static void print_times(const struct bench_result *r, FILE *to)
{
    char mean[BENCH_DURATION], median[BENCH_DURATION], p90[BENCH_DURATION], p99[BENCH_DURATION],
        deviation[BENCH_DURATION];
    bool has_any = false;

    for (int what = 0; what < BENCH_WHATS; what++)
        for (int c = 0; c < BENCH_CLOCKS; c++) {
            const struct bench_times *t = &r->times[what][c];
            if (!t->n)
                continue;
            if (!has_any)
                fprintf(to, "    %-26s %12s %12s %12s %12s %12s %8s\n", "time", "mean", "median",
                        "90 %", "99 %", "deviation", "n");
            has_any = true;
            fprintf(to, "    %-18s %-7s %12s %12s %12s %12s %12s %8" PRIu64 "\n",
                    bench_what_name[what], bench_clock_name[c], bench_duration(t->mean, mean),
                    bench_duration(t->median, median), bench_duration(t->p90, p90),
                    bench_duration(t->p99, p99), bench_duration(t->deviation, deviation), t->n);
        }
}

static void print_metric(const struct bench_metric *m, FILE *to)
{
    fprintf(to, "    %-28s %10.6g", m->key, m->value);
    if (!isnan(m->reference))
        fprintf(to, "   reference %.6g", m->reference);
    if (!isnan(m->expected))
        fprintf(to, "   published %.6g", m->expected);
    if (!isnan(m->limit))
        fprintf(to, "   at %s %.6g", m->more_is_better ? "least" : "most", m->limit);
    fputs(m->why[0] ? "   WORSE\n" : "\n", to);
}

void bench_print(const char *model, const char *target, const struct bench_result *r, FILE *to)
{
    char first[BENCH_DURATION], compile[BENCH_DURATION];

    fprintf(to, "%-11s ", verdict_name[r->verdict]);
    text_put(to, TEXT_TERMINAL, model, 0);
    fputs("  ", to);
    text_put(to, TEXT_TERMINAL, target, 0);
    fputc('\n', to);
    if (r->why[0]) {
        fputs("    ", to);
        text_put(to, TEXT_TERMINAL, r->why, 0);
        fputc('\n', to);
    }
    print_times(r, to);
    if (r->first_ns > 0)
        fprintf(to, "    first compilation %s, first execution %s\n",
                bench_duration(r->first_compile_ns, compile), bench_duration(r->first_ns, first));
    if (r->cache_bytes || r->memory_bytes) {
        fputs("    ", to);
        if (r->cache_bytes)
            fprintf(to, "cache %.3f MB%s", (double) r->cache_bytes / 1e6,
                    r->memory_bytes ? ", " : "\n");
        if (r->memory_bytes)
            fprintf(to, "peak memory of the driver %.1f MB\n", (double) r->memory_bytes / 1e6);
    }
    if (r->n_sequences)
        fprintf(to, "    %u sequence%s, %" PRIu64 " inference%s\n", r->n_sequences,
                r->n_sequences == 1 ? "" : "s", r->n_inferences, r->n_inferences == 1 ? "" : "s");
    for (uint32_t i = 0; i < r->n_metrics; i++)
        print_metric(&r->metric[i], to);
}

/* ---- JSON */

static json_t *times_json(const struct bench_times *t)
{
    json_t *buckets = json_array();

    for (int i = 0; i < BENCH_BUCKETS; i++)
        json_array_append_new(buckets, json_integer((json_int_t) t->bucket[i]));
    return json_pack("{s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:o}", "n",
                     (json_int_t) t->n, "mean_ns", t->mean, "median_ns", t->median, "p90_ns",
                     t->p90, "p99_ns", t->p99, "deviation_ns", t->deviation, "least_ns", t->least,
                     "most_ns", t->most, "total_ns", t->total, "step_ns", t->step, "buckets",
                     buckets);
}

static json_t *all_times_json(const struct bench_result *r)
{
    json_t *all = json_object();

    for (int what = 0; what < BENCH_WHATS; what++) {
        json_t *clocks = json_object();
        for (int c = 0; c < BENCH_CLOCKS; c++)
            if (r->times[what][c].n)
                json_object_set_new(clocks, bench_clock_name[c], times_json(&r->times[what][c]));
        if (json_object_size(clocks))
            json_object_set(all, bench_what_name[what], clocks);
        json_decref(clocks);
    }
    return all;
}

static json_t *metrics_json(const struct bench_result *r)
{
    json_t *all = json_object();

    for (uint32_t i = 0; i < r->n_metrics; i++) {
        const struct bench_metric *m = &r->metric[i];
        json_t *o = json_pack("{s:o}", "value", json_value_number(m->value));
        if (!isnan(m->reference))
            json_object_set_new(o, "reference", json_value_number(m->reference));
        if (!isnan(m->expected))
            json_object_set_new(o, "expected", json_real(m->expected));
        if (!isnan(m->limit))
            json_object_set_new(o, "limit", json_real(m->limit));
        if (m->why[0])
            json_object_set_new(o, "worse", json_value_text(m->why));
        json_object_set_new(all, m->key, o);
    }
    return all;
}

json_t *bench_json(const char *model, const char *target, const struct bench_result *r)
{
    json_t *o = json_pack("{s:o, s:o, s:s, s:o}", "model", json_value_text(model), "target",
                          json_value_text(target), "verdict", verdict_name[r->verdict], "why",
                          json_value_text(r->why));

    json_object_set_new(o, "times", all_times_json(r));
    if (r->first_ns > 0) {
        json_object_set_new(o, "first_compile_ns", json_real(r->first_compile_ns));
        json_object_set_new(o, "first_ns", json_real(r->first_ns));
    }
    if (r->cache_bytes)
        json_object_set_new(o, "cache_bytes", json_integer((json_int_t) r->cache_bytes));
    if (r->memory_bytes)
        json_object_set_new(o, "memory_bytes", json_integer((json_int_t) r->memory_bytes));
    json_object_set_new(o, "sequences", json_integer(r->n_sequences));
    json_object_set_new(o, "inferences", json_integer((json_int_t) r->n_inferences));
    json_object_set_new(o, "metrics", metrics_json(r));
    return o;
}

/* ---- CSV, with the columns of the public benchmark */

static void csv_text(const char *text, FILE *to)
{
    for (; *text; text++)
        fputc(*text == ',' || (unsigned char) *text < ' ' ? ' ' : *text, to);
}

/* iterations, totalTimeSec, freqStartSec, freqStepSec, bucketCount, buckets */
static void csv_times(const struct bench_times *t, FILE *to)
{
    fprintf(to, ",%" PRIu64 ",%.9g,%.9g,%.9g,%d", t->n, t->total * 1e-9, t->start * 1e-9,
            t->step * 1e-9, BENCH_BUCKETS);
    for (int i = 0; i < BENCH_BUCKETS; i++)
        fprintf(to, ",%u", t->bucket[i]);
}

static const struct bench_metric *metric_of(const struct bench_result *r, const char *key)
{
    for (uint32_t i = 0; i < r->n_metrics; i++)
        if (strcmp(r->metric[i].key, key) == 0)
            return &r->metric[i];
    return NULL;
}

/* Whether it is of an evaluator, not a difference of outputs. */
static bool is_evaluated(const struct bench_metric *m)
{
    return !strstr(m->key, "_error") || strcmp(m->key, "max_log_f0_error") == 0 ||
           strcmp(m->key, "max_phone_error_rate") == 0;
}

void bench_csv_head(const char *version, FILE *to)
{
    char stamp[32];
    const time_t now = time(NULL);
    struct tm t;

    localtime_r(&now, &t);
    strftime(stamp, sizeof stamp, "%Y%m%d_%H%M%S", &t);
    fprintf(to, "%s,%s\n", stamp, version);
    fputs("#testInfo,backendType,iterations,totalTimeSec,freqStartSec,freqStepSec,bucketCount,"
          "latencies...,maxSingleError,testSetSize,evaluatorsCount,validationErrorsCount,"
          "evaluatorKeys...,evaluatorResults...,validationErrors...,compileWithoutCache...,"
          "saveToCache...,prepareFromCache...,compilationCacheSizeBytes\n",
          to);
}

void bench_csv_line(const char *model, const char *target, const struct bench_result *r, FILE *to)
{
    const struct bench_metric *golden = metric_of(r, "max_single_error");
    uint32_t n = 0, n_worse = 0;

    if (!r->times[BENCH_SYNCHRONOUS][BENCH_WALL].n)
        return;
    csv_text(model, to);
    fputc(',', to);
    csv_text(strcmp(target, "golden") == 0 ? "TFLite_CPU" : target, to);
    csv_times(&r->times[BENCH_SYNCHRONOUS][BENCH_WALL], to);
    for (uint32_t i = 0; i < r->n_metrics; i++) {
        n += is_evaluated(&r->metric[i]);
        n_worse += r->metric[i].why[0] != 0;
    }
    fprintf(to, ",%.9g,%u,%u,%u", golden ? golden->value : 0, r->n_sequences, n, n_worse);
    for (uint32_t i = 0; i < r->n_metrics; i++)
        if (is_evaluated(&r->metric[i]))
            fprintf(to, ",%s", r->metric[i].key);
    for (uint32_t i = 0; i < r->n_metrics; i++)
        if (is_evaluated(&r->metric[i]))
            fprintf(to, ",%.9g", r->metric[i].value);
    for (uint32_t i = 0; i < r->n_metrics; i++)
        if (r->metric[i].why[0]) {
            fputc(',', to);
            csv_text(r->metric[i].why, to);
        }
    for (int what = BENCH_COMPILE; what < BENCH_WHATS; what++) {
        const struct bench_times *t = &r->times[what][BENCH_WALL];
        fputs(t->n ? ",true" : ",false", to);
        if (t->n)
            csv_times(t, to);
    }
    fprintf(to, ",%" PRIu64 "\n", r->cache_bytes);
}
