#include "harness/campaigns/sharded_result.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/base/array.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"
#include "harness/policy/expectations.h"
#include "reports/database.h"

const char *const sharded_end_name[] = {
    [SHARDED_COMPLETE] = "complete",      [SHARDED_MISSING] = "incomplete",
    [SHARDED_TIME] = "stop.for",          [SHARDED_BUCKETS] = "stop.max_buckets",
    [SHARDED_COVERAGE] = "stop.coverage", [SHARDED_INTERRUPTED] = "interrupted",
};

/* ---- reading */

/* What is read, and into what. */
struct reading {
    sqlite3 *db;
    const char *path;
    struct sharded_result *result;
};

static int each_row(const struct reading *x, const char *sql,
                    int (*each)(sqlite3_stmt *row, struct sharded_result *r, struct why *w),
                    struct why *w)
{
    sqlite3_stmt *row;
    int step = sqlite3_prepare_v2(x->db, sql, -1, &row, NULL), failed = 0;
    while (!failed && (step == SQLITE_OK || step == SQLITE_ROW))
        if ((step = sqlite3_step(row)) == SQLITE_ROW)
            failed = each(row, x->result, w);
    sqlite3_finalize(row);
    return failed || step == SQLITE_DONE ? failed : database_failed(x->db, x->path, w);
}

static const char *text_of(sqlite3_stmt *row, int column)
{
    const char *text = (const char *) sqlite3_column_text(row, column);
    return text ? text : "";
}

static json_t *number_of(sqlite3_stmt *row, int column)
{
    return json_integer((json_int_t) sqlite3_column_int64(row, column));
}

/* uri, verdict, number; the rows of a target follow each other. */
static int take_total(sqlite3_stmt *row, struct sharded_result *r, struct why *w)
{
    const char *uri = text_of(row, 0), *verdict = text_of(row, 1);
    json_t *last = json_array_get(r->targets, json_array_size(r->targets) - 1);
    const char *before = json_string_value(json_object_get(last, "target"));
    const int v = verdict_by_name(verdict);
    (void) w;
    if (!before || strcmp(before, uri)) {
        last = json_object();
        json_object_set_new(last, "target", json_value_text(uri));
        json_array_append_new(r->targets, last);
    }
    json_object_set_new(last, verdict, number_of(row, 2));
    if (v >= 0)
        r->n[v] += (uint64_t) sqlite3_column_int64(row, 2);
    return 0;
}

/* uri, bucket, number, case. */
static int take_bucket(sqlite3_stmt *row, struct sharded_result *r, struct why *w)
{
    json_t *j = json_object();
    (void) w;
    json_object_set_new(j, "target", json_value_text(text_of(row, 0)));
    json_object_set_new(j, "bucket", json_value_text(text_of(row, 1)));
    json_object_set_new(j, "verdicts", number_of(row, 2));
    json_object_set_new(j, "case", json_value_text(text_of(row, 3)));
    json_array_append_new(r->buckets, j);
    return 0;
}

static int take_file(sqlite3_stmt *row, struct sharded_result *r, struct why *w)
{
    struct cases *c = &r->files;
    struct unloaded_file *list = array_room(c->unloaded, c->n_unloaded, sizeof *list);
    if (!list)
        return why_no_memory(w);
    c->unloaded = list;
    struct unloaded_file f = { arena_strdup(c->arena, text_of(row, 0)),
                               arena_strdup(c->arena, text_of(row, 1)) };
    list[c->n_unloaded++] = f;
    return f.file && f.why ? 0 : why_no_memory(w);
}

static int take_finding(sqlite3_stmt *row, struct sharded_result *r, struct why *w)
{
    (void) w;
    json_array_append_new(r->findings, json_value_text(text_of(row, 0)));
    return 0;
}

static const char totals_sql[] = "SELECT uri, verdict, sum(n) FROM totals_by_target "
                                 "GROUP BY target_ordinal, uri, verdict";
static const char buckets_sql[] =
    "SELECT uri, bug, count(*) AS n, min(c.name) FROM failing JOIN cases c USING (case_id) "
    "GROUP BY uri, bug ORDER BY n DESC, bug, uri";
static const char summary_buckets_sql[] =
    "SELECT uri, key, sum(n) AS all_n, min(b.name) FROM summary_buckets b JOIN targets USING "
    "(target) GROUP BY uri, key ORDER BY all_n DESC, key, uri";
static const char files_sql[] =
    "SELECT file, why FROM unloaded_files GROUP BY file, why ORDER BY min(ordinal)";
static const char findings_sql[] = "SELECT DISTINCT text FROM run_notes "
                                   "WHERE text GLOB '" FINDING_NOTE "*' ORDER BY text";

int sharded_result_read(const struct sharded_plan *p, const char *merged, struct sharded_result *r,
                        struct why *w)
{
    struct reading x = { .path = merged, .result = r };
    r->targets = json_array();
    r->buckets = json_array();
    r->findings = json_array();
    r->files.arena = arena_new(0);
    if (!r->targets || !r->buckets || !r->findings || !r->files.arena)
        return why_no_memory(w);
    TRY(database_read(merged, &x.db, w));
    int failed = each_row(&x, totals_sql, take_total, w);
    if (!failed)
        failed = each_row(&x, p->summary ? summary_buckets_sql : buckets_sql, take_bucket, w);
    if (!failed)
        failed = each_row(&x, files_sql, take_file, w);
    if (!failed)
        failed = each_row(&x, findings_sql, take_finding, w);
    sqlite3_close(x.db);
    return failed;
}

void sharded_result_done(struct sharded_result *r)
{
    json_decref(r->targets);
    json_decref(r->buckets);
    json_decref(r->findings);
    json_decref(r->known.failures);
    cases_done(&r->files);
}

/* ---- JSON */

static json_t *count_json(uint64_t n)
{
    return json_integer((json_int_t) n);
}

/* Shards that are missing though they began, and how their last attempts ended. */
static json_t *missing_json(const struct sharded_state *s, uint64_t *ret_not_begun)
{
    json_t *list = json_array();
    *ret_not_begun = 0;
    for (uint64_t i = 1; i <= s->plan->n_shards; i++) {
        if (s->set.done[i])
            continue;
        const struct attempt a = sharded_folder_attempt(s->plan, i);
        if (a.state == ATTEMPT_NONE) {
            ++*ret_not_begun;
            continue;
        }
        json_t *j = json_object();
        json_object_set_new(j, "shard", count_json(i));
        if (a.state == ATTEMPT_FAILED)
            json_object_set_new(j, "status", json_integer(a.status));
        json_object_set_new(j, "printed", json_value_text(a.last));
        json_array_append_new(list, j);
    }
    return list;
}

static json_t *known_json(const struct corpus_counts *known)
{
    json_t *j = json_object();
    json_object_set_new(j, "verdicts", count_json(known->n));
    json_object_set_new(j, "failing", count_json(known->failing));
    json_object_set_new(j, "anew", count_json(known->anew));
    json_object_set_new(j, "mended", count_json(known->mended));
    json_object_set(j, "failures", known->failures);
    return j;
}

static void put_path(json_t *j, const struct sharded_plan *p, const char *key, const char *name)
{
    char path[PATH_MAX];
    sharded_folder_path(p, name, path);
    json_object_set_new(j, key, json_value_text(path));
}

/* What only a merged database has. */
static void put_merged(json_t *j, const struct sharded_plan *p, const struct sharded_result *r)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(j, verdict_name[v], count_json(r->n[v]));
    json_object_set(j, "targets", r->targets);
    json_object_set(j, "buckets", r->buckets);
    if (!strcmp(p->command->name, "run"))
        json_object_set_new(j, "unloaded", console_unloaded_json(&r->files));
    if (json_array_size(r->findings))
        json_object_set(j, "findings", r->findings);
    put_path(j, p, "merged", "merged.db");
    put_path(j, p, "report", "report/index.html");
}

json_t *sharded_result_json(const struct sharded_state *s, const struct sharded_result *r,
                            json_t *baselines)
{
    const struct sharded_plan *p = s->plan;
    json_t *j = json_object(), *line = json_object();
    uint64_t not_begun;
    json_object_set_new(j, "ended", json_string(sharded_end_name[r->end]));
    json_object_set_new(j, "shards", count_json(p->n_shards));
    json_object_set_new(j, "done", count_json(s->set.n_done));
    json_object_set_new(j, "done_before", count_json(s->n_begun));
    json_object_set_new(j, "missing", missing_json(s, &not_begun));
    json_object_set_new(j, "not_begun", count_json(not_begun));
    json_object_set_new(j, "cases", count_json(s->n_cases));
    json_object_set_new(j, "not_conforming", count_json(s->n_failures));
    json_object_set_new(j, "seconds",
                        json_value_number(round((console_now() - s->begun) * 1e3) / 1e3));
    json_object_set_new(j, "output", json_value_text(p->output));
    if (r->targets)
        put_merged(j, p, r);
    if (p->corpus)
        json_object_set_new(j, "corpus", known_json(&r->known));
    if (baselines)
        json_object_set_new(j, "baselines", baselines);
    json_object_set_new(line, "summary", j);
    return line;
}
