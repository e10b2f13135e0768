/* Reading a recorded run: its options and targets, and the cases that failed in it. */
#include <stdlib.h>
#include <string.h>

#include "harness/store/results_internal.h"

static char *column_copy(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return strdup(text ? text : "");
}

static int read_targets(struct results *r, struct recorded_run *f, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;
    TRY(results_prepare(r, "SELECT uri FROM targets WHERE run = ?1 ORDER BY ordinal", &s, w));
    sqlite3_bind_int64(s, 1, f->run);
    while (!failed && f->n_targets < MAX_TARGETS && (step = sqlite3_step(s)) == SQLITE_ROW) {
        f->target[f->n_targets] = column_copy(s, 0);
        failed = f->target[f->n_targets++] ? 0 : why_no_memory(w);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE || step == SQLITE_ROW ? failed : results_failed(r, w);
}

static int read_run(struct results *r, int64_t run, const char *kind, struct recorded_run *f,
                    struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT run, kind, options, judge FROM runs "
                        "WHERE run = ?1 OR (?1 = 0 AND kind = ?2) ORDER BY run DESC LIMIT 1",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    sqlite3_bind_text(s, 2, kind, -1, SQLITE_TRANSIENT);
    int step = sqlite3_step(s);
    if (step == SQLITE_ROW)
        *f = (struct recorded_run){ .run = sqlite3_column_int64(s, 0),
                                    .kind = column_copy(s, 1),
                                    .options = column_copy(s, 2),
                                    .judge = column_copy(s, 3) };
    sqlite3_finalize(s);
    if (step != SQLITE_ROW)
        return step == SQLITE_DONE ? 0 : results_failed(r, w);
    return f->kind && f->options && f->judge ? 1 : why_no_memory(w);
}

int results_find_run(struct results *r, int64_t run, const char *kind, struct recorded_run *ret_run,
                     struct why *w)
{
    struct recorded_run f = { 0 };
    int found = read_run(r, run, kind, &f, w);
    if (found > 0 && read_targets(r, &f, w) < 0)
        found = -1;
    if (found > 0)
        *ret_run = f;
    else
        recorded_run_done(&f);
    return found;
}

int results_find_unfinished(struct results *r, const char *kind, const char *like,
                            struct recorded_run *ret_run, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT run FROM runs WHERE finished IS NULL AND kind = ?1 AND NOT EXISTS "
                        "(SELECT 1 FROM json_each(?2) e WHERE e.value IS NOT "
                        "json_extract(runs.options, e.fullkey)) ORDER BY run DESC LIMIT 1",
                        &s, w));
    sqlite3_bind_text(s, 1, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 2, like, -1, SQLITE_STATIC);
    int step = sqlite3_step(s);
    int64_t run = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    if (!run)
        return step == SQLITE_DONE ? 0 : results_failed(r, w);
    return results_find_run(r, run, kind, ret_run, w);
}

void recorded_run_done(struct recorded_run *f)
{
    free(f->kind);
    free(f->options);
    free(f->judge);
    for (uint32_t i = 0; i < f->n_targets; i++)
        free(f->target[i]);
    *f = (struct recorded_run){ 0 };
}

int results_each_failed_case(struct results *r, int64_t run,
                             int (*each)(const char *name, void *user, struct why *w), void *user,
                             struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT DISTINCT ordinal, name FROM failures WHERE run = ?1 ORDER BY 1",
                        &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = each((const char *) sqlite3_column_text(s, 1), user, w);
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}
