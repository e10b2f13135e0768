#include "harness/store/recorded.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/store/results_internal.h"
#include "reports/database.h"

enum { MOST_TARGETS = 32 };

/* The verdicts of a filter (?1: run, ?2: URI), with the columns of struct recorded_verdict.  First
 * come the columns that version 1 lacks, those that versions below 4 and 5 lack, then which of the
 * verdicts of its case and target a row is, the newest first, then the order. */
static const char select_rows[] =
    "SELECT run, case_id, name, file, uri, verdict, was, why, judge, stage, status, ms, device_ns, "
    "checked, wrong, output, element, place, operation, type, expected, actual, bound, ratio, "
    "replay, confirmed, printed, backtrace, attempts, failed_attempts, blamed_operation, "
    "blamed_index, blamed_count, blamed_graph, blamed_type, blamed_output, blamed_place, "
    "blamed_expected, blamed_actual, blamed_bound, blamed_ratio, blamed_why FROM ("
    "SELECT c.run, c.case_id, c.name, c.file, t.uri, v.verdict, v.was, v.why, v.judge, v.stage, "
    "v.status, v.ms, v.device_ns, v.checked, v.wrong, v.output, v.element, v.place, v.operation, "
    "v.type, v.expected, v.actual, v.bound, v.ratio, v.replay, %s, %s, %s, %s AS nth, "
    "c.ordinal AS case_place, t.ordinal AS target_place "
    "FROM verdicts v JOIN cases c USING (case_id) JOIN targets t USING (target) "
    "WHERE (?1 = 0 OR c.run = ?1) AND (?2 IS NULL OR t.uri = ?2)) WHERE nth = 1 ORDER BY %s";

static const char *text(sqlite3_stmt *s, int i)
{
    return (const char *) sqlite3_column_text(s, i);
}

static const char *text_or_empty(sqlite3_stmt *s, int i)
{
    const char *found = text(s, i);
    return found ? found : "";
}

/* NULL is NaN: SQLite stores it so. */
static double real(sqlite3_stmt *s, int i)
{
    return sqlite3_column_type(s, i) == SQLITE_NULL ? NAN : sqlite3_column_double(s, i);
}

static int verdict_of(struct results *r, const char *name, enum verdict *ret, struct why *w)
{
    int v = name ? verdict_by_name(name) : -1;
    REQUIRE(w, v >= 0, "%s: has the verdict '%s', which this version does not have", r->path,
            name ? name : "NULL");
    *ret = (enum verdict) v;
    return 0;
}

static const char blamed_columns[] =
    "v.blamed_operation, v.blamed_index, v.blamed_count, v.blamed_graph, v.blamed_type, "
    "v.blamed_output, v.blamed_place, v.blamed_expected, v.blamed_actual, v.blamed_bound, "
    "v.blamed_ratio, v.blamed_why";
static const char no_blamed_columns[] =
    "NULL AS blamed_operation, NULL AS blamed_index, NULL AS blamed_count, NULL AS blamed_graph, "
    "NULL AS blamed_type, NULL AS blamed_output, NULL AS blamed_place, NULL AS blamed_expected, "
    "NULL AS blamed_actual, NULL AS blamed_bound, NULL AS blamed_ratio, NULL AS blamed_why";

/* The columns of blamed_columns, from i on. */
static struct blamed read_blamed(sqlite3_stmt *s, int i)
{
    struct blamed b = { .count = (uint32_t) sqlite3_column_int64(s, i + 2), .output = -1 };
    snprintf(b.why, sizeof b.why, "%s", text_or_empty(s, i + 11));
    if (!b.count)
        return b;
    snprintf(b.name, sizeof b.name, "%s", text_or_empty(s, i));
    b.operation = (uint32_t) sqlite3_column_int64(s, i + 1);
    b.graph = (uint32_t) sqlite3_column_int64(s, i + 3);
    snprintf(b.type, sizeof b.type, "%s", text_or_empty(s, i + 4));
    if (sqlite3_column_type(s, i + 5) == SQLITE_NULL)
        return b;
    b.output = sqlite3_column_int(s, i + 5);
    snprintf(b.place, sizeof b.place, "%s", text_or_empty(s, i + 6));
    b.expected = real(s, i + 7);
    b.actual = real(s, i + 8);
    b.bound = real(s, i + 9);
    b.ratio = real(s, i + 10);
    return b;
}

static int read_row(struct results *r, sqlite3_stmt *s, struct recorded_verdict *v, struct why *w)
{
    bool has_output = sqlite3_column_type(s, 15) != SQLITE_NULL;
    *v = (struct recorded_verdict){
        .run = sqlite3_column_int64(s, 0),
        .case_id = sqlite3_column_int64(s, 1),
        .name = text_or_empty(s, 2),
        .file = text(s, 3),
        .target = text_or_empty(s, 4),
        .why = text_or_empty(s, 7),
        .judge = text_or_empty(s, 8),
        .stage = text_or_empty(s, 9),
        .status = text_or_empty(s, 10),
        .ms = sqlite3_column_double(s, 11),
        .device_ns = sqlite3_column_type(s, 12) == SQLITE_NULL ? -1 : sqlite3_column_int64(s, 12),
        .checked = (uint64_t) sqlite3_column_int64(s, 13),
        .wrong = (uint64_t) sqlite3_column_int64(s, 14),
        .output = has_output ? sqlite3_column_int(s, 15) : -1,
        .element = (uint64_t) sqlite3_column_int64(s, 16),
        .place = text_or_empty(s, 17),
        .operation = text(s, 18),
        .type = text_or_empty(s, 19),
        .expected = real(s, 20),
        .actual = real(s, 21),
        .bound = real(s, 22),
        .ratio = real(s, 23),
        .replay = text(s, 24),
        .confirmed = text(s, 25),
        .printed = text(s, 26),
        .backtrace = text(s, 27),
        .attempts = (uint32_t) sqlite3_column_int64(s, 28),
        .failed_attempts = (uint32_t) sqlite3_column_int64(s, 29),
        .blamed = read_blamed(s, 30),
    };
    TRY(verdict_of(r, text(s, 5), &v->verdict, w));
    v->was = v->first = v->verdict;
    if (text(s, 6))
        TRY(verdict_of(r, text(s, 6), &v->first, w));
    if (v->verdict == VERDICT_WAIVED)
        v->was = v->first;
    return 0;
}

void recorded_result(const struct recorded_verdict *v, struct check_result *ret)
{
    struct check_result r = check_without_outcome(v->verdict, JUDGE_AUTO);
    for (int i = JUDGE_CTS; i <= JUDGE_RULES; i++)
        if (!strcmp(v->judge, judge_name[i]))
            r.judge = (enum judge_kind) i;
    r.was = v->first;
    r.attempts = v->attempts;
    r.failed_attempts = v->failed_attempts;
    r.blamed = v->blamed;
    r.ms = v->ms;
    r.device_ns = v->device_ns < 0 ? HAL_NO_TIME : (uint64_t) v->device_ns;
    r.checked = v->checked;
    r.wrong = v->wrong;
    r.output = v->output;
    r.element = v->element;
    r.expected = v->expected;
    r.actual = v->actual;
    r.bound = v->bound;
    r.ratio = v->ratio;
    snprintf(r.stage, sizeof r.stage, "%s", v->stage);
    snprintf(r.status, sizeof r.status, "%s", v->status);
    snprintf(r.why, sizeof r.why, "%s", v->why);
    snprintf(r.confirmed, sizeof r.confirmed, "%s", v->confirmed ? v->confirmed : "");
    snprintf(r.place, sizeof r.place, "%s", v->place);
    snprintf(r.operation, sizeof r.operation, "%s", v->operation ? v->operation : "");
    snprintf(r.type, sizeof r.type, "%s", v->type);
    *ret = r;
}

static int prepare_rows(struct results *r, const struct recorded_filter *f, sqlite3_stmt **ret,
                        struct why *w)
{
    int version = 0;
    TRY(database_version(r->db, r->path, &version, w));
    char *sql = sqlite3_mprintf(
        select_rows,
        version < 2 ? "NULL AS confirmed, NULL AS printed, NULL AS backtrace"
                    : "v.confirmed, v.printed, v.backtrace",
        version < 4 ? "NULL AS attempts, NULL AS failed_attempts" : "v.attempts, v.failed_attempts",
        version < 5 ? no_blamed_columns : blamed_columns,
        f->run ? "1"
               : "row_number() OVER (PARTITION BY t.uri, c.name "
                 "ORDER BY c.run DESC, c.case_id DESC)",
        f->run ? "target_place, case_place" : "uri, name");
    int failed = sql ? results_prepare(r, sql, ret, w) : why_no_memory(w);
    sqlite3_free(sql);
    if (failed)
        return -1;
    sqlite3_bind_int64(*ret, 1, f->run);
    if (f->target)
        sqlite3_bind_text(*ret, 2, f->target, -1, SQLITE_TRANSIENT);
    return 0;
}

int results_check_rows(struct results *r, int64_t run, struct why *w)
{
    sqlite3_stmt *s;
    if (!results_has_table(r, "summary_parts"))
        return 0;
    TRY(results_prepare(r, "SELECT run FROM summary_parts WHERE ?1 IN (0, run) LIMIT 1", &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = sqlite3_step(s);
    int64_t found = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    REQUIRE(w, !found,
            "%s: run %lld is a summary (--summary), which does not have the verdict of each case; "
            "'halcyon report', 'coverage' and 'diff' read it",
            r->path, (long long) found);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int results_each_recorded(struct results *r, const struct recorded_filter *f,
                          int (*each)(const struct recorded_verdict *v, void *user, struct why *w),
                          void *user, struct why *w)
{
    sqlite3_stmt *s;
    struct recorded_verdict v;
    TRY(results_check_rows(r, f->run, w));
    TRY(prepare_rows(r, f, &s, w));
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        failed = read_row(r, s, &v, w);
        if (!failed)
            failed = each(&v, user, w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

/* ---- runs */

int results_count_runs(struct results *r, int64_t *ret_n, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT count(*) FROM runs", &s, w));
    int step = sqlite3_step(s);
    *ret_n = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    return step == SQLITE_ROW ? 0 : results_failed(r, w);
}

static char *copy(sqlite3_stmt *s, int i)
{
    return strdup(text_or_empty(s, i));
}

static int find_run(struct results *r, int64_t run, struct described_run *ret, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT run, kind, command, options, version, judge, started, finished, "
                        "seconds FROM runs WHERE ?1 = 0 OR run = ?1 ORDER BY run DESC LIMIT 1",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        *ret = (struct described_run){ .run = sqlite3_column_int64(s, 0),
                                       .kind = copy(s, 1),
                                       .command = copy(s, 2),
                                       .options = copy(s, 3),
                                       .version = copy(s, 4),
                                       .judge = copy(s, 5),
                                       .started = copy(s, 6),
                                       .finished = copy(s, 7),
                                       .seconds = sqlite3_column_double(s, 8) };
    sqlite3_finalize(s);
    if (step != SQLITE_ROW && step != SQLITE_DONE)
        return results_failed(r, w);
    if (run && step != SQLITE_ROW)
        return database_check_run(r->db, r->path, run, w);
    REQUIRE(w, step == SQLITE_ROW, "%s: has no run", r->path);
    return ret->kind && ret->command && ret->options && ret->version && ret->judge &&
                   ret->started && ret->finished
               ? 0
               : why_no_memory(w);
}

/* Of equal URIs in several runs the newest counts. */
static int find_targets(struct results *r, const struct recorded_filter *f,
                        struct described_run *run, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT uri, name, version, type, hal, max(run) FROM targets WHERE "
                        "(?1 = 0 OR run = ?1) AND (?2 IS NULL OR uri = ?2) GROUP BY uri "
                        "ORDER BY ordinal, uri",
                        &s, w));
    sqlite3_bind_int64(s, 1, f->run);
    if (f->target)
        sqlite3_bind_text(s, 2, f->target, -1, SQLITE_TRANSIENT);
    int step, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        if (run->n_targets == MOST_TARGETS) {
            failed =
                why_fail(w, WHY_INVALID, "%s: has more than %d targets; expected a run (--run)",
                         r->path, MOST_TARGETS);
            break;
        }
        struct described_target *t = &run->target[run->n_targets++];
        *t =
            (struct described_target){ copy(s, 0), copy(s, 1), copy(s, 2), copy(s, 3), copy(s, 4) };
        failed = t->uri && t->name && t->version && t->type && t->hal ? 0 : why_no_memory(w);
    }
    sqlite3_finalize(s);
    if (failed || step != SQLITE_DONE)
        return failed ? -1 : results_failed(r, w);
    if (run->n_targets || !f->target)
        return 0;
    if (f->run)
        return why_fail(w, WHY_INVALID, "%s: run %lld has no target %s", r->path,
                        (long long) f->run, f->target);
    return why_fail(w, WHY_INVALID, "%s: has no target %s", r->path, f->target);
}

int results_describe(struct results *r, const struct recorded_filter *f,
                     struct described_run *ret_run, struct why *w)
{
    struct described_run run = { 0 };
    if (find_run(r, f->run, &run, w) < 0 || find_targets(r, f, &run, w) < 0) {
        described_run_done(&run);
        return -1;
    }
    *ret_run = run;
    return 0;
}

void described_run_done(struct described_run *run)
{
    char *texts[] = { run->kind,  run->command, run->options, run->version,
                      run->judge, run->started, run->finished };
    for (int i = 0; i < COUNT(texts); i++)
        free(texts[i]);
    for (uint32_t t = 0; t < run->n_targets; t++) {
        struct described_target *x = &run->target[t];
        char *more[] = { x->uri, x->name, x->version, x->type, x->hal };
        for (int i = 0; i < COUNT(more); i++)
            free(more[i]);
    }
    *run = (struct described_run){ 0 };
}

int results_each_unloaded(struct results *r, int64_t run,
                          int (*each)(const char *file, const char *why, void *user, struct why *w),
                          void *user, struct why *w)
{
    sqlite3_stmt *s;
    int version = 0;
    TRY(database_version(r->db, r->path, &version, w));
    if (version < 3)
        return 0;
    TRY(results_prepare(r, "SELECT file, why FROM unloaded_files WHERE run = ?1 ORDER BY ordinal",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = each(text_or_empty(s, 0), text_or_empty(s, 1), user, w);
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

int results_each_operation(struct results *r, int64_t run,
                           int (*each)(int64_t case_id, const char *operation, void *user,
                                       struct why *w),
                           void *user, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(
        r,
        "SELECT DISTINCT o.case_id, o.operation FROM case_operations o JOIN cases c "
        "USING (case_id) WHERE ?1 = 0 OR c.run = ?1",
        &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = each(sqlite3_column_int64(s, 0), text_or_empty(s, 1), user, w);
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}
