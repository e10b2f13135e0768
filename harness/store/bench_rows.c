#include "harness/store/bench_rows.h"

#include <math.h>

#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"
#include "reports/database.h"

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
    sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
}

/* NaN and numbers of nothing become NULL. */
static void bind_number(sqlite3_stmt *s, int i, double x)
{
    if (isnan(x))
        sqlite3_bind_null(s, i);
    else
        sqlite3_bind_double(s, i, x);
}

static void bind_amount(sqlite3_stmt *s, int i, double x)
{
    bind_number(s, i, x > 0 ? x : NAN);
}

/* The columns that each row begins with. */
static void bind_place(struct results *r, sqlite3_stmt *s, const struct bench_row *row)
{
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->target[row->target]);
    bind_text(s, 3, row->model);
}

static int finish(struct results *r, sqlite3_stmt *s, struct why *w)
{
    const int step = sqlite3_step(s);

    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

static int write_result(struct results *r, const struct bench_row *row, struct why *w)
{
    sqlite3_stmt *s;

    TRY(results_prepare(r,
                        "INSERT OR REPLACE INTO bench_results VALUES "
                        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
                        &s, w));
    bind_place(r, s, row);
    sqlite3_bind_int64(s, 4, (int64_t) row->ordinal);
    bind_text(s, 5, row->verdict);
    bind_text(s, 6, row->why);
    sqlite3_bind_int64(s, 7, (int64_t) row->sequences);
    sqlite3_bind_int64(s, 8, (int64_t) row->inferences);
    bind_amount(s, 9, row->first_compile_ns);
    bind_amount(s, 10, row->first_ns);
    bind_amount(s, 11, (double) row->cache_bytes);
    bind_amount(s, 12, (double) row->memory_bytes);
    return finish(r, s, w);
}

static int write_time(struct results *r, const struct bench_row *row,
                      const struct bench_time_row *t, struct why *w)
{
    struct buffer buckets = { 0 };
    sqlite3_stmt *s;

    TRY(results_prepare(r,
                        "INSERT OR REPLACE INTO bench_times VALUES "
                        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
                        &s, w));
    bind_place(r, s, row);
    bind_text(s, 4, t->what);
    bind_text(s, 5, t->clock);
    sqlite3_bind_int64(s, 6, (int64_t) t->n);
    const double number[] = { t->mean,      t->median, t->p90,  t->p99,
                              t->deviation, t->least,  t->most, t->step };
    for (int i = 0; i < COUNT(number); i++)
        bind_number(s, 7 + i, number[i]);
    for (uint32_t i = 0; i < t->n_buckets; i++)
        buffer_printf(&buckets, "%s%u", i ? "," : "[", t->bucket[i]);
    buffer_puts(&buckets, "]");
    bind_text(s, 15, buffer_text(&buckets));
    const bool lacks_memory = buckets.failed;
    buffer_done(&buckets);
    const int failed = finish(r, s, w);
    return lacks_memory ? why_no_memory(w) : failed;
}

static int write_noise(struct results *r, const struct bench_row *row,
                       const struct bench_time_row *t, struct why *w)
{
    sqlite3_stmt *s;

    TRY(results_prepare(r,
                        "INSERT OR REPLACE INTO bench_noise VALUES "
                        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                        &s, w));
    bind_place(r, s, row);
    bind_text(s, 4, t->what);
    bind_text(s, 5, t->clock);
    sqlite3_bind_int64(s, 6, t->parts);
    bind_number(s, 7, t->low);
    bind_number(s, 8, t->high);
    return finish(r, s, w);
}

static int write_metric(struct results *r, const struct bench_row *row,
                        const struct bench_metric_row *m, struct why *w)
{
    sqlite3_stmt *s;

    TRY(results_prepare(r,
                        "INSERT OR REPLACE INTO bench_metrics VALUES "
                        "(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
                        &s, w));
    bind_place(r, s, row);
    bind_text(s, 4, m->key);
    sqlite3_bind_int(s, 5, m->more_is_better);
    bind_number(s, 6, m->value);
    bind_number(s, 7, m->reference);
    bind_number(s, 8, m->expected);
    bind_number(s, 9, m->limit);
    bind_text(s, 10, m->worse);
    return finish(r, s, w);
}

int results_write_bench(struct results *r, const struct bench_row *row,
                        const struct bench_time_row *time, uint32_t n_times,
                        const struct bench_metric_row *metric, uint32_t n_metrics, struct why *w)
{
    TRY(results_begin(r, w));
    TRY(write_result(r, row, w));
    for (uint32_t i = 0; i < n_times; i++) {
        TRY(write_time(r, row, &time[i], w));
        TRY(write_noise(r, row, &time[i], w));
    }
    for (uint32_t i = 0; i < n_metrics; i++)
        TRY(write_metric(r, row, &metric[i], w));
    return results_commit(r, w);
}

/* ---- reading */

/* The newest runs with benchmarks, "3, 2, 1"; "": none. */
static int list_benches(struct results *r, struct buffer *to, struct why *w)
{
    sqlite3_stmt *s;
    int step;

    TRY(results_prepare(r, "SELECT DISTINCT run FROM bench_results ORDER BY run DESC LIMIT 10", &s,
                        w));
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        buffer_printf(to, "%s%lld", to->length ? ", " : "", (long long) sqlite3_column_int64(s, 0));
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

static int no_bench(struct results *r, int64_t run, struct why *w)
{
    struct buffer runs = { 0 };
    int failed = results_has_table(r, "bench_results") ? list_benches(r, &runs, w) : 0;

    if (!failed && !runs.length)
        failed = why_fail(w, WHY_INVALID, "%s: has no run of halcyon bench", r->path);
    else if (!failed)
        failed = why_fail(w, WHY_INVALID,
                          "%s: run %lld is no benchmark; expected a run of halcyon bench: %s",
                          r->path, (long long) run, buffer_text(&runs));
    buffer_done(&runs);
    return failed;
}

int results_find_bench(struct results *r, int64_t *run, char ret_started[32], struct why *w)
{
    sqlite3_stmt *s;

    if (*run)
        TRY(database_check_run(r->db, r->path, *run, w));
    if (!results_has_table(r, "bench_results"))
        return no_bench(r, *run, w);
    TRY(results_prepare(r,
                        "SELECT run, started FROM runs WHERE run IN (SELECT run FROM "
                        "bench_results) AND ?1 IN (0, run) ORDER BY run DESC LIMIT 1",
                        &s, w));
    sqlite3_bind_int64(s, 1, *run);
    const int step = sqlite3_step(s);
    if (step == SQLITE_ROW) {
        *run = sqlite3_column_int64(s, 0);
        snprintf(ret_started, 32, "%s", (const char *) sqlite3_column_text(s, 1));
    }
    sqlite3_finalize(s);
    return step == SQLITE_ROW    ? 0
           : step == SQLITE_DONE ? no_bench(r, *run, w)
                                 : results_failed(r, w);
}

int results_bench_median(struct results *r, int64_t run, const char *uri, const char *model,
                         const char *what, const char *clock, struct bench_median *ret,
                         struct why *w)
{
    static const char with_noise[] =
        "SELECT x.median_ns, coalesce(n.parts, 0), n.low_ns, n.high_ns FROM bench_times x "
        "JOIN targets t USING (target) LEFT JOIN bench_noise n USING (run, target, model, what, "
        "clock) WHERE x.run = ?1 AND t.uri = ?2 AND x.model = ?3 AND x.what = ?4 AND x.clock = ?5";
    static const char without[] =
        "SELECT x.median_ns, 0, 0, 0 FROM bench_times x JOIN targets t USING (target) WHERE "
        "x.run = ?1 AND t.uri = ?2 AND x.model = ?3 AND x.what = ?4 AND x.clock = ?5";
    const char *const text[] = { uri, model, what, clock };
    sqlite3_stmt *s;

    TRY(results_prepare(r, results_has_table(r, "bench_noise") ? with_noise : without, &s, w));
    sqlite3_bind_int64(s, 1, run);
    for (int i = 0; i < COUNT(text); i++)
        bind_text(s, i + 2, text[i]);
    const int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        *ret = (struct bench_median){ .median = sqlite3_column_double(s, 0),
                                      .parts = sqlite3_column_int64(s, 1),
                                      .low = sqlite3_column_double(s, 2),
                                      .high = sqlite3_column_double(s, 3) };
    sqlite3_finalize(s);
    return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : results_failed(r, w);
}

/* ---- of the current run */

static const char *text_at(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return text ? text : "";
}

static double number_at(sqlite3_stmt *s, int i)
{
    return sqlite3_column_type(s, i) == SQLITE_NULL ? NAN : sqlite3_column_double(s, i);
}

int results_each_bench(struct results *r,
                       int (*each)(const struct bench_row *row, void *user, struct why *w),
                       void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;

    TRY(results_prepare(
        r,
        "SELECT t.ordinal, b.ordinal, model, verdict, why, sequences, inferences, "
        "cache_bytes, memory_bytes, first_compile_ns, first_ns FROM bench_results b "
        "JOIN targets t USING (target) WHERE b.run = ?1",
        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct bench_row row = { .target = (uint32_t) sqlite3_column_int64(s, 0),
                                       .ordinal = (uint64_t) sqlite3_column_int64(s, 1),
                                       .model = text_at(s, 2),
                                       .verdict = text_at(s, 3),
                                       .why = text_at(s, 4),
                                       .sequences = (uint64_t) sqlite3_column_int64(s, 5),
                                       .inferences = (uint64_t) sqlite3_column_int64(s, 6),
                                       .cache_bytes = (uint64_t) sqlite3_column_int64(s, 7),
                                       .memory_bytes = (uint64_t) sqlite3_column_int64(s, 8),
                                       .first_compile_ns = sqlite3_column_double(s, 9),
                                       .first_ns = sqlite3_column_double(s, 10) };
        failed = each(&row, user, w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

static int prepare_of(struct results *r, const char *sql, uint32_t target, const char *model,
                      sqlite3_stmt **ret, struct why *w)
{
    const struct bench_row place = { .target = target, .model = model };

    TRY(results_prepare(r, sql, ret, w));
    bind_place(r, *ret, &place);
    return 0;
}

static int read_times(struct results *r, uint32_t target, const char *model,
                      int (*each)(const struct bench_time_row *row, const char *buckets, void *user,
                                  struct why *w),
                      void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;

    TRY(prepare_of(r,
                   "SELECT what, clock, n, mean_ns, median_ns, p90_ns, p99_ns, deviation_ns, "
                   "least_ns, most_ns, step_ns, buckets, low_ns, high_ns, parts FROM bench_times "
                   "JOIN bench_noise USING (run, target, model, what, clock) "
                   "WHERE run = ?1 AND target = ?2 AND model = ?3",
                   target, model, &s, w));
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct bench_time_row row = { .what = text_at(s, 0),
                                            .clock = text_at(s, 1),
                                            .n = (uint64_t) sqlite3_column_int64(s, 2),
                                            .mean = number_at(s, 3),
                                            .median = number_at(s, 4),
                                            .p90 = number_at(s, 5),
                                            .p99 = number_at(s, 6),
                                            .deviation = number_at(s, 7),
                                            .least = number_at(s, 8),
                                            .most = number_at(s, 9),
                                            .step = number_at(s, 10),
                                            .low = number_at(s, 12),
                                            .high = number_at(s, 13),
                                            .parts = sqlite3_column_int64(s, 14) };
        failed = each(&row, text_at(s, 11), user, w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

int results_read_bench(struct results *r, uint32_t target, const char *model,
                       int (*each_time)(const struct bench_time_row *row, const char *buckets,
                                        void *user, struct why *w),
                       int (*each_metric)(const struct bench_metric_row *row, void *user,
                                          struct why *w),
                       void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;

    TRY(read_times(r, target, model, each_time, user, w));
    TRY(prepare_of(r,
                   "SELECT key, more_is_better, value, reference, expected, allowed, worse FROM "
                   "bench_metrics WHERE run = ?1 AND target = ?2 AND model = ?3 "
                   "ORDER BY key LIKE 'reference%', key",
                   target, model, &s, w));
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        const struct bench_metric_row row = { .key = text_at(s, 0),
                                              .more_is_better = sqlite3_column_int(s, 1),
                                              .value = number_at(s, 2),
                                              .reference = number_at(s, 3),
                                              .expected = number_at(s, 4),
                                              .limit = number_at(s, 5),
                                              .worse = text_at(s, 6) };
        failed = each_metric(&row, user, w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}
