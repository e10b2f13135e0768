#include "harness/store/bench_rows.h"

#include <math.h>

#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"

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
    for (uint32_t i = 0; i < n_times; i++)
        TRY(write_time(r, row, &time[i], w));
    for (uint32_t i = 0; i < n_metrics; i++)
        TRY(write_metric(r, row, &metric[i], w));
    return results_commit(r, w);
}
