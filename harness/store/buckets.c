/* Verdicts of the current run that are alike: the buckets of failures, and what targets do not
 * support.
 */
#include <stdio.h>

#include "harness/store/results_internal.h"

static const char *text_or_empty(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return text ? text : "";
}

/* The index of a target by its row. */
static uint32_t index_of(const struct results *r, int64_t target)
{
    uint32_t t = 0;
    while (t < r->n_targets && r->target[t] != target)
        t++;
    return t;
}

int results_each_failure(struct results *r,
                         int (*each)(const struct failure_row *f, void *user, struct why *w),
                         void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step, failed = 0;
    TRY(results_prepare(r,
                        "SELECT c.ordinal, v.target, v.verdict, v.blamed_operation, v.blamed_type, "
                        "v.operation, v.type, c.name, v.blamed_why LIKE 'must fail: %' "
                        "FROM cases c "
                        "JOIN verdicts v USING (case_id) JOIN targets t USING (target) "
                        "WHERE c.run = ?1 AND c.suite IS NULL AND v.verdict IN "
                        "(SELECT name FROM verdict_names WHERE NOT conforming) "
                        "ORDER BY c.ordinal, t.ordinal",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        bool blamed = sqlite3_column_type(s, 3) != SQLITE_NULL;
        struct failure_row f = {
            .ordinal = (uint64_t) sqlite3_column_int64(s, 0),
            .target = index_of(r, sqlite3_column_int64(s, 1)),
            .verdict = verdict_by_name(text_or_empty(s, 2)),
            .operation = text_or_empty(s, blamed ? 3 : 5),
            .type = text_or_empty(s, blamed ? 4 : 6),
            .name = text_or_empty(s, 7),
            .must_fail = sqlite3_column_int(s, 8) != 0,
        };
        if (f.target < r->n_targets)
            failed = each(&f, user, w);
    }
    if (!failed && step != SQLITE_DONE)
        failed = results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}

int results_each_unsupported(struct results *r,
                             int (*each)(const struct unsupported_row *u, void *user,
                                         struct why *w),
                             void *user, struct why *w)
{
    sqlite3_stmt *s;
    int step, failed = 0;
    /* of columns beside min() SQLite takes the row that has the minimum */
    TRY(results_prepare(
        r,
        "SELECT v.target, coalesce(v.blamed_why, v.why) AS signature, count(*) AS n, "
        "c.name, min(c.ordinal) FROM cases c JOIN verdicts v USING (case_id) "
        "WHERE c.run = ?1 AND c.suite IS NULL AND v.verdict = 'unsupported' "
        "GROUP BY v.target, signature ORDER BY n DESC, v.target, signature",
        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct unsupported_row u = { .target = index_of(r, sqlite3_column_int64(s, 0)),
                                     .signature = text_or_empty(s, 1),
                                     .n = (uint64_t) sqlite3_column_int64(s, 2),
                                     .name = text_or_empty(s, 3) };
        if (u.target < r->n_targets)
            failed = each(&u, user, w);
    }
    if (!failed && step != SQLITE_DONE)
        failed = results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}

int results_set_bucket(struct results *r, uint64_t ordinal, uint32_t target, const char *bucket,
                       const char *shrunk, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_begin(r, w));
    TRY(results_prepare(r,
                        "UPDATE verdicts SET bucket = ?3, shrunk = coalesce(packed(?4), shrunk) "
                        "WHERE target = ?2 AND case_id = "
                        "(SELECT case_id FROM cases WHERE run = ?5 AND ordinal = ?1)",
                        &s, w));
    sqlite3_bind_int64(s, 1, (int64_t) ordinal);
    sqlite3_bind_int64(s, 2, r->target[target]);
    sqlite3_bind_text(s, 3, bucket, -1, SQLITE_STATIC);
    sqlite3_bind_text(s, 4, shrunk, -1, SQLITE_STATIC);
    sqlite3_bind_int64(s, 5, r->run);
    int failed = sqlite3_step(s) == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}
