#include "harness/campaigns/sharded_state.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/check/buffer.h"
#include "harness/check/verdict.h"
#include "harness/cli/console.h"
#include "harness/store/results.h"
#include "reports/database.h"

int sharded_state_begin(const struct sharded_plan *p, bool quiet, struct sharded_state *ret_state,
                        struct why *w)
{
    struct sharded_state s = { .plan = p,
                               .set = { .done = calloc(p->n_shards + 1, sizeof(bool)) },
                               .counted = calloc(p->n_shards + 1, sizeof(bool)),
                               .buckets = json_object(),
                               .coverage = randgraph_coverage_new(),
                               .quiet = quiet,
                               .terminal = isatty(STDERR_FILENO) == 1,
                               .begun = console_now() };
    if (!s.set.done || !s.counted || !s.buckets || !s.coverage) {
        sharded_state_done(&s);
        return why_no_memory(w);
    }
    s.drawn = s.begun;
    if (sharded_folder_scan(p, &s.set, NULL, NULL, w) < 0) {
        sharded_state_done(&s);
        return -1;
    }
    s.n_begun = s.set.n_done;
    *ret_state = s;
    return 0;
}

void sharded_state_done(struct sharded_state *s)
{
    free(s->set.done);
    free(s->counted);
    randgraph_coverage_free(s->coverage);
    json_decref(s->buckets);
}

/* ---- counting */

static int each_row(sqlite3 *db, const char *path, const char *sql,
                    void (*each)(struct sharded_state *s, sqlite3_stmt *row),
                    struct sharded_state *s, struct why *w)
{
    sqlite3_stmt *row;
    int step = sqlite3_prepare_v2(db, sql, -1, &row, NULL);
    while (step == SQLITE_OK || step == SQLITE_ROW)
        if ((step = sqlite3_step(row)) == SQLITE_ROW)
            each(s, row);
    sqlite3_finalize(row);
    return step == SQLITE_DONE ? 0 : database_failed(db, path, w);
}

static void take_cases(struct sharded_state *s, sqlite3_stmt *row)
{
    s->n_cases += (uint64_t) sqlite3_column_int64(row, 0);
}

static void take_verdicts(struct sharded_state *s, sqlite3_stmt *row)
{
    s->n_failures += (uint64_t) sqlite3_column_int64(row, 0);
}

static void take_bucket(struct sharded_state *s, sqlite3_stmt *row)
{
    json_object_set_new(s->buckets, (const char *) sqlite3_column_text(row, 0), json_null());
}

static void count_item(const struct randgraph_item *i, void *user)
{
    *(uint64_t *) user += i->n.ran > 0;
}

/* Pairs of neighbours are left out: new ones appear as long as a campaign runs. */
static int count_coverage(struct sharded_state *s, const char *path, struct why *w)
{
    const struct coverage_filter filter = { 0 };
    struct results *r;
    uint64_t n = 0;
    TRY(results_open(path, RESULTS_READ, &r, w));
    int failed = results_read_coverage(r, &filter, s->coverage, w);
    results_close(r);
    for (int f = 0; f < FACET_NEIGHBOURS; f++)
        randgraph_coverage_each(s->coverage, (enum randgraph_facet) f, count_item, &n);
    s->n_same = n > s->n_items ? 0 : s->n_same + 1;
    s->n_items = n;
    return failed;
}

static const char failures_sql[] = "SELECT count(*) FROM verdicts "
                                   "JOIN verdict_names ON name = verdict WHERE NOT conforming";
static const char buckets_sql[] = "SELECT DISTINCT bucket FROM verdicts WHERE bucket NOT NULL";
/* Of databases that may have summaries, in which verdicts are the first failures only. */
static const char counted_failures_sql[] = "SELECT sum(n) FROM counted_verdicts "
                                           "JOIN verdict_names ON name = verdict "
                                           "WHERE NOT conforming";
static const char counted_buckets_sql[] = "SELECT bucket FROM verdicts WHERE bucket NOT NULL "
                                          "UNION SELECT key FROM summary_buckets";

static bool has_summaries(sqlite3 *db)
{
    sqlite3_stmt *row;
    bool found = sqlite3_prepare_v2(db, "SELECT 1 FROM counted_verdicts, summary_buckets", -1, &row,
                                    NULL) == SQLITE_OK;
    sqlite3_finalize(row);
    return found;
}

static int count_shard(struct sharded_state *s, uint64_t shard, struct why *w)
{
    char path[PATH_MAX + 32];
    sqlite3 *db;
    snprintf(path, sizeof path, "%s/shards/%llu.db", s->plan->output, (unsigned long long) shard);
    TRY(database_read(path, &db, w));
    int failed = each_row(db, path, "SELECT n_cases FROM runs", take_cases, s, w);
    if (!failed)
        failed = each_row(db, path, has_summaries(db) ? counted_failures_sql : failures_sql,
                          take_verdicts, s, w);
    if (!failed)
        failed = each_row(db, path, has_summaries(db) ? counted_buckets_sql : buckets_sql,
                          take_bucket, s, w);
    sqlite3_close(db);
    return failed || !s->plan->stop_coverage ? failed : count_coverage(s, path, w);
}

int sharded_state_update(struct sharded_state *s, double seconds, struct why *w)
{
    const double until = console_now() + seconds;
    const uint64_t n = s->plan->n_shards;
    TRY(sharded_folder_scan(s->plan, &s->set, NULL, NULL, w));
    for (uint64_t k = 0; k < n && s->n_counted < s->set.n_done && console_now() < until; k++) {
        uint64_t i = s->next++ % n + 1;
        if (!s->set.done[i] || s->counted[i])
            continue;
        TRY(count_shard(s, i, w));
        s->counted[i] = true;
        s->n_counted++;
    }
    return 0;
}

/* ---- the line */

void sharded_state_clear(struct sharded_state *s)
{
    if (s->shown)
        fputs("\r\033[K", stderr);
    s->shown = false;
}

static void print_state(const struct sharded_state *s, double now)
{
    const struct shard_set *set = &s->set;
    const uint64_t n = s->plan->n_shards, fresh = set->n_done - s->n_begun;
    const double per_second = (double) fresh / (now - s->begun);
    char time[32];
    fprintf(stderr, "%llu of %llu shards", (unsigned long long) set->n_done,
            (unsigned long long) n);
    if (set->n_done < n)
        fprintf(stderr, ", %llu running", (unsigned long long) set->n_running);
    fprintf(stderr, ", %llu cases", (unsigned long long) s->n_cases);
    if (fresh) {
        if (s->n_counted)
            fprintf(stderr, ", %.0f/s", per_second * (double) s->n_cases / (double) s->n_counted);
        fprintf(stderr, ", %s left", text_duration((double) (n - set->n_done) / per_second, time));
    }
    if (s->n_failures)
        fprintf(stderr, ", %llu not conforming in %zu bucket%s", (unsigned long long) s->n_failures,
                json_object_size(s->buckets), json_object_size(s->buckets) == 1 ? "" : "s");
}

void sharded_state_show(struct sharded_state *s)
{
    const double now = console_now();
    if (s->quiet || now < s->drawn + (s->terminal ? 0.1 : 60))
        return;
    s->drawn = now;
    fputs(s->terminal ? "\r\033[K" : "progress: ", stderr);
    print_state(s, now);
    if (!s->terminal)
        putc('\n', stderr);
    fflush(stderr);
    s->shown = s->terminal;
}
