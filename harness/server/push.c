/* Rows are read from SQLite and sent by COPY, table by table, straight to the tables: numbers of
 * targets and cases are added to, so that they lie in a range that was reserved for this run.  Only
 * the rows of shared tables go through a temporary table, as some may be there. */
#include "harness/server/push.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/server/copy_format.h"
#include "harness/store/merge.h"
#include "harness/store/results_internal.h"
#include "reports/database.h"

enum { SEND = 1 << 16 };
/* Numbers of cases lie this far apart at most: far more than a database can hold. */
static const int64_t widest = INT64_C(1) << 40;

/* A run of the database. */
struct local_run {
    int64_t run, n_cases;
    char *identity, *finished; /* finished: NULL while it is not */
};

struct push {
    struct results *from;
    struct server *to;
    struct server_schema *schema;
    bool has_shared; /* the rows of shared tables are there */
    /* Of the current run: its number on the server, and what is added to other numbers. */
    int64_t run, more_targets, more_cases;
};

/* ---- the database */

static int query_range(struct results *r, const char *sql, int64_t run, int64_t *ret_least,
                       int64_t *ret_most, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_int64(s, 1, run);
    int step = sqlite3_step(s);
    *ret_least = sqlite3_column_int64(s, 0);
    *ret_most = sqlite3_column_int64(s, 1);
    sqlite3_finalize(s);
    return step == SQLITE_ROW ? 0 : results_failed(r, w);
}

static int open_source(const char *path, struct results **ret_from, struct why *w)
{
    int version = 0;
    TRY(results_open(path, RESULTS_READ, ret_from, w));
    TRY(database_version((*ret_from)->db, path, &version, w));
    REQUIRE(w, version == DATABASE_VERSION,
            "%s: has schema version %d, expected %d; 'halcyon db compact' upgrades it", path,
            version, DATABASE_VERSION);
    return results_exec(*ret_from, "BEGIN", w); /* what is copied does not change meanwhile */
}

/* ---- sending rows */

static int flush(struct push *p, struct buffer *b, size_t least, struct why *w)
{
    if (b->length < least || !b->length)
        return 0;
    int sent = p->to->pq->PQputCopyData(p->to->connection, b->data, (int) b->length);
    b->length = 0;
    return sent == 1 ? 0 : server_failed(p->to, NULL, w);
}

/* The rows of the run, or all of a shared table.  The owner of a run is a process of this machine.
 */
static void put_select(struct buffer *sql, const struct server_table *t)
{
    static const char *const condition[] = {
        [TABLE_OF_RUNS] = " WHERE run = ?1",
        [TABLE_OF_CASES] = " WHERE case_id IN (SELECT case_id FROM cases WHERE run = ?1)",
        [TABLE_SHARED] = "",
    };
    buffer_puts(sql, "SELECT ");
    for (int i = 0; i < t->n; i++) {
        const char *name = t->column[i].name;
        bool of_owner = !strncmp(name, "owner_", 6) || !strcmp(name, "heartbeat");
        buffer_printf(sql, of_owner ? "%sNULL" : "%s\"%s\"", i ? ", " : "", name);
    }
    buffer_printf(sql, " FROM \"%s\"%s", t->name, condition[t->kind]);
}

static int send_rows(struct push *p, const struct server_table *t, sqlite3_stmt *row,
                     const int64_t *more, struct why *w)
{
    struct buffer b = { 0 };
    int step = SQLITE_DONE, failed = 0;
    copy_put_header(&b);
    while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW) {
        failed = copy_put_row(&b, row, t, more, w);
        if (failed)
            why_prefix(w, "%s", p->from->path);
        failed = failed ? failed : flush(p, &b, SEND, w);
    }
    if (!failed && step != SQLITE_DONE)
        failed = results_failed(p->from, w);
    copy_put_end(&b);
    failed = failed ? failed : flush(p, &b, 0, w);
    buffer_done(&b);
    return failed;
}

/* Copies the rows of a table to another one of the same columns. */
static int send_table(struct push *p, const struct server_table *t, const char *to, int64_t run,
                      struct why *w)
{
    struct buffer select = { 0 }, copy = { 0 };
    int64_t more[SERVER_COLUMNS] = { 0 };
    sqlite3_stmt *row = NULL;
    for (int i = 0; i < t->n; i++)
        more[i] = !strcmp(t->column[i].name, "run")       ? p->run - run
                  : !strcmp(t->column[i].name, "target")  ? p->more_targets
                  : !strcmp(t->column[i].name, "case_id") ? p->more_cases
                                                          : 0;
    put_select(&select, t);
    buffer_printf(&copy, "COPY %s (", to);
    server_put_columns(&copy, t);
    buffer_puts(&copy, ") FROM STDIN (FORMAT binary)");
    int failed = select.failed || copy.failed
                     ? why_no_memory(w)
                     : results_prepare(p->from, buffer_text(&select), &row, w);
    if (!failed) {
        sqlite3_bind_int64(row, 1, run);
        failed = server_copy(p->to, buffer_text(&copy), PGRES_COPY_IN, w);
    }
    if (!failed) {
        failed = send_rows(p, t, row, more, w);
        /* After a failure here the copy is ended with an error, so that the server drops the rows.
         */
        int ended = p->to->pq->PQputCopyEnd(p->to->connection, failed ? "stopped" : NULL);
        if (ended != 1 && !failed)
            failed = server_failed(p->to, NULL, w);
        if (server_copy_end(p->to, failed ? NULL : w) < 0 && !failed)
            failed =
                why_prefix(w, "%s, run %lld, table %s", p->from->path, (long long) run, t->name);
    }
    sqlite3_finalize(row);
    buffer_done(&select);
    buffer_done(&copy);
    return failed;
}

static int send_shared(struct push *p, const struct server_table *t, struct why *w)
{
    char sql[4 * SERVER_NAME + 96];
    snprintf(sql, sizeof sql, "CREATE TEMP TABLE staged (LIKE %%S.\"%s\") ON COMMIT DROP", t->name);
    TRY(server_exec(p->to, sql, w));
    TRY(send_table(p, t, "pg_temp.staged", 0, w));
    snprintf(sql, sizeof sql,
             "INSERT INTO %%S.\"%s\" SELECT * FROM pg_temp.staged ON CONFLICT DO NOTHING; "
             "DROP TABLE pg_temp.staged",
             t->name);
    return server_exec(p->to, sql, w);
}

/* ---- numbers on the server */

/* Reserves n numbers of a table; *ret_first is the first. */
static int reserve(struct push *p, const char *table, const char *column, int64_t n,
                   int64_t *ret_first, struct why *w)
{
    char count[24], name[160];
    int64_t last = 0;
    snprintf(count, sizeof count, "%lld", (long long) n);
    snprintf(name, sizeof name, "%s.%s", p->to->space, table);
    const char *const parameter[] = { name, column, count };
    TRY(server_exec(p->to, "SELECT pg_advisory_lock(hashtext('halcyon numbers'))", w));
    int failed = server_query_int(p->to,
                                  "SELECT setval(q, nextval(q) + $3::bigint - 1) FROM (SELECT "
                                  "pg_get_serial_sequence($1, $2)::regclass AS q) s",
                                  3, parameter, &last, w);
    if (failed) /* the transaction has failed, the lock is released with the connection */
        return failed;
    *ret_first = last - n + 1;
    return server_exec(p->to, "SELECT pg_advisory_unlock(hashtext('halcyon numbers'))", w);
}

static int reserve_for(struct push *p, const char *table, const char *column, int64_t run,
                       int64_t *ret_more, struct why *w)
{
    char sql[160];
    int64_t least, most, first;
    snprintf(sql, sizeof sql, "SELECT min(%s), max(%s) FROM %s WHERE run = ?1", column, column,
             table);
    TRY(query_range(p->from, sql, run, &least, &most, w));
    REQUIRE(w, least >= 0 && most - least < widest,
            "%s: run %lld, table %s: numbers from %lld to %lld; the database is damaged",
            p->from->path, (long long) run, table, (long long) least, (long long) most);
    TRY(reserve(p, table, column, most - least + 1, &first, w));
    *ret_more = first - least;
    return 0;
}

/* ---- a run */

/* Removes the rows of a run that is there, in an earlier state. */
static int remove_run(struct push *p, struct why *w)
{
    char number[24];
    const char *const parameter[] = { number };
    PGresult *rows;
    snprintf(number, sizeof number, "%lld", (long long) p->run);
    TRY(server_query(p->to, "SELECT %S.remove_run($1)", 1, parameter, &rows, w));
    p->to->pq->PQclear(rows);
    return 0;
}

/* What is there of the run: p->run is its number, 0: nothing.  1: it need not be copied. */
static int find_there(struct push *p, const struct local_run *run, struct why *w)
{
    const char *const parameter[] = { run->identity, run->finished };
    const struct libpq *pq = p->to->pq;
    PGresult *rows;
    /* Another push of this run ends first. */
    TRY(server_query(p->to, "SELECT pg_advisory_xact_lock(hashtextextended($1, 17))", 1, parameter,
                     &rows, w));
    pq->PQclear(rows);
    TRY(server_query(p->to,
                     "SELECT run, finished IS NOT NULL, n_cases FROM %S.pushes WHERE identity = "
                     "sha256(convert_to($1, 'UTF8')) AND (finished IS NULL OR $2::timestamptz IS "
                     "NULL OR finished = $2::timestamptz) ORDER BY finished IS NULL LIMIT 1",
                     2, parameter, &rows, w));
    int kept = 0;
    p->run = 0;
    if (pq->PQntuples(rows)) {
        bool finished_there = *pq->PQgetvalue(rows, 0, 1) == 't';
        int64_t n_cases = strtoll(pq->PQgetvalue(rows, 0, 2), NULL, 10);
        p->run = strtoll(pq->PQgetvalue(rows, 0, 0), NULL, 10);
        kept = finished_there || (!run->finished && run->n_cases <= n_cases);
    }
    pq->PQclear(rows);
    return kept;
}

static int record_push(struct push *p, const struct local_run *run, struct why *w)
{
    char number[24], n_cases[24];
    PGresult *rows;
    snprintf(number, sizeof number, "%lld", (long long) p->run);
    snprintf(n_cases, sizeof n_cases, "%lld", (long long) run->n_cases);
    const char *const parameter[] = { number, run->identity, run->finished, n_cases };
    TRY(server_query(p->to,
                     "INSERT INTO %S.pushes (run, identity, finished, n_cases) VALUES ($1, "
                     "sha256(convert_to($2, 'UTF8')), $3, $4) RETURNING run",
                     4, parameter, &rows, w));
    p->to->pq->PQclear(rows);
    return 0;
}

static int copy_run(struct push *p, const struct local_run *run, struct why *w)
{
    if (p->run)
        TRY(remove_run(p, w));
    else
        TRY(reserve(p, "runs", "run", 1, &p->run, w));
    TRY(record_push(p, run, w));
    TRY(reserve_for(p, "targets", "target", run->run, &p->more_targets, w));
    TRY(reserve_for(p, "cases", "case_id", run->run, &p->more_cases, w));
    for (int i = 0; i < p->schema->n; i++) {
        const struct server_table *t = &p->schema->table[i];
        char to[4 * SERVER_NAME];
        if (!results_has_table(p->from, t->name))
            continue;
        if (t->kind == TABLE_SHARED && !p->has_shared)
            TRY(send_shared(p, t, w));
        snprintf(to, sizeof to, "%%S.\"%s\"", t->name);
        if (t->kind != TABLE_SHARED)
            TRY(send_table(p, t, to, run->run, w));
    }
    p->has_shared = true;
    return 0;
}

/* 1: the server has the run. */
static int push_run(struct push *p, const struct local_run *run, struct why *w)
{
    TRY(server_exec(p->to, "BEGIN", w));
    int kept = server_schema_make(p->to, p->schema, w);
    kept = kept ? kept : find_there(p, run, w);
    TRY(kept);
    if (!kept)
        TRY(copy_run(p, run, w));
    TRY(server_exec(p->to, "COMMIT", w));
    return kept;
}

/* ---- the runs */

static char *column_copy(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return text ? text_escaped(TEXT_JSON, text) : NULL;
}

static int each_run(struct push *p, int64_t only,
                    void (*pushed)(int64_t run, int64_t there, uint64_t n_cases, void *user),
                    void *user, struct push_counts *counts, struct why *w)
{
    sqlite3_stmt *row;
    int step = SQLITE_DONE, failed = 0;
    bool any = false;
    TRY(results_prepare(
        p->from,
        "SELECT run, " RUN_IDENTITY ", finished, (SELECT count(*) FROM cases c "
        "WHERE c.run = r.run) FROM runs r WHERE ?1 IN (0, run) ORDER BY started, run",
        &row, w));
    sqlite3_bind_int64(row, 1, only);
    while (failed >= 0 && (step = sqlite3_step(row)) == SQLITE_ROW) {
        struct local_run run = { .run = sqlite3_column_int64(row, 0),
                                 .identity = column_copy(row, 1),
                                 .finished = column_copy(row, 2),
                                 .n_cases = sqlite3_column_int64(row, 3) };
        any = true;
        failed = run.identity ? push_run(p, &run, w) : why_no_memory(w);
        if (failed == 0) {
            counts->n_runs++;
            counts->n_cases += (uint64_t) run.n_cases;
            if (pushed)
                pushed(run.run, p->run, (uint64_t) run.n_cases, user);
        }
        counts->n_repeated += failed == 1;
        free(run.identity);
        free(run.finished);
    }
    sqlite3_finalize(row);
    TRY(failed);
    if (step != SQLITE_DONE)
        return results_failed(p->from, w);
    return any || !only ? 0 : results_check_run(p->from, only, w);
}

int server_push(const char *database, const char *url, int64_t run,
                void (*pushed)(int64_t run, int64_t there, uint64_t n_cases, void *user),
                void *user, struct push_counts *ret_counts, struct why *w)
{
    struct push p = { 0 };
    struct push_counts counts = { 0 };
    int failed = open_source(database, &p.from, w);
    failed = failed ? failed : server_connect(url, &p.to, w);
    failed = failed ? failed : server_schema_new(&p.schema, w);
    failed = failed ? failed : each_run(&p, run, pushed, user, &counts, w);
    server_schema_free(p.schema);
    server_close(p.to);
    results_close(p.from);
    if (!failed)
        *ret_counts = counts;
    return failed;
}
