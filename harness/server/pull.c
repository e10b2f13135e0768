#include "harness/server/pull.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "harness/server/copy_format.h"
#include "harness/server/server_schema.h"
#include "harness/store/results_internal.h"

struct pull {
    struct server *from;
    struct server_schema *schema;
    struct results *to;
    const struct pull_filter *filter;
    struct buffer runs;  /* SQL: "1, 2", the runs that are copied; empty: all */
    struct buffer cases; /* SQL: the condition of cases, behind AND; empty: all */
};

/* ---- which rows */

static int add_runs(struct pull *p, struct why *w)
{
    for (size_t i = 0; i < p->filter->n_runs; i++) {
        char number[24];
        int64_t found = 0;
        const char *const parameter[] = { number };
        snprintf(number, sizeof number, "%lld", (long long) p->filter->run[i]);
        TRY(server_query_int(p->from, "SELECT run FROM %S.runs WHERE run = $1", 1, parameter,
                             &found, w));
        REQUIRE(w, found, "%s: has no run %s", p->from->shown, number);
        buffer_printf(&p->runs, "%s%s", i ? ", " : "", number);
    }
    return 0;
}

/* The cases of some names, and their runs. */
static int add_cases(struct pull *p, struct why *w)
{
    const struct libpq *pq = p->from->pq;
    struct buffer sql = { 0 };
    PGresult *rows;
    for (size_t i = 0; i < p->filter->n_cases; i++) {
        const char *name = p->filter->case_name[i];
        char *quoted = pq->PQescapeLiteral(p->from->connection, name, strlen(name));
        if (!quoted)
            return server_failed(p->from, NULL, w);
        buffer_printf(&p->cases, "%s%s", i ? ", " : "name IN (", quoted);
        pq->PQfreemem(quoted);
    }
    buffer_puts(&p->cases, ")");
    buffer_printf(&sql, "SELECT DISTINCT run FROM %%S.cases WHERE %s", buffer_text(&p->cases));
    int failed =
        sql.failed ? why_no_memory(w) : server_query(p->from, buffer_text(&sql), 0, NULL, &rows, w);
    buffer_done(&sql);
    TRY(failed);
    buffer_puts(&p->runs, "-1"); /* none */
    for (int i = 0; i < pq->PQntuples(rows); i++)
        buffer_printf(&p->runs, ", %lld", strtoll(pq->PQgetvalue(rows, i, 0), NULL, 10));
    pq->PQclear(rows);
    return 0;
}

static void put_condition(const struct pull *p, const struct server_table *t, struct buffer *sql)
{
    const bool some_runs = p->runs.length, some_cases = p->cases.length;
    const bool is_cases = !strcmp(t->name, "cases");
    if (t->kind == TABLE_SHARED || (!some_runs && !some_cases))
        return;
    if (t->kind == TABLE_OF_CASES)
        buffer_puts(sql, " WHERE case_id IN (SELECT case_id FROM %S.cases");
    if (some_runs)
        buffer_printf(sql, " WHERE run IN (%s)", buffer_text(&p->runs));
    if (some_cases && (is_cases || t->kind == TABLE_OF_CASES))
        buffer_printf(sql, " AND %s", buffer_text(&p->cases));
    if (t->kind == TABLE_OF_CASES)
        buffer_puts(sql, ")");
}

/* ---- copying */

/* A row that breaks a rule of the schema is the server's fault. */
static int insert_failed(struct pull *p, const struct server_table *t, struct why *w)
{
    int code = sqlite3_errcode(p->to->db);
    if (code != SQLITE_CONSTRAINT && code != SQLITE_MISMATCH)
        return results_failed(p->to, w);
    return why_fail(w, WHY_INVALID, "%s: table %s: %s", p->from->shown, t->name,
                    sqlite3_errmsg(p->to->db));
}

static int receive_rows(struct pull *p, const struct server_table *t, sqlite3_stmt *insert,
                        struct why *w)
{
    const struct libpq *pq = p->from->pq;
    struct copy_source source = { 0 };
    char *bytes = NULL;
    int length, failed = 0;
    while (failed >= 0 && (length = pq->PQgetCopyData(p->from->connection, &bytes, false)) > 0) {
        failed = copy_bind_row(&source, bytes, (size_t) length, t, insert, w);
        if (failed < 0)
            why_prefix(w, "%s", p->from->shown);
        else if (failed && sqlite3_step(insert) != SQLITE_DONE)
            failed = insert_failed(p, t, w);
        sqlite3_reset(insert);
        pq->PQfreemem(bytes);
    }
    TRY(failed);
    if (length == -2)
        return server_failed(p->from, NULL, w);
    TRY(server_copy_end(p->from, w));
    REQUIRE(w, source.has_ended, "%s: table %s: its end is missing", p->from->shown, t->name);
    return 0;
}

static int copy_table(struct pull *p, const struct server_table *t, struct why *w)
{
    struct buffer select = { 0 }, insert = { 0 };
    sqlite3_stmt *row = NULL;
    buffer_puts(&select, "COPY (SELECT ");
    server_put_columns(&select, t);
    buffer_printf(&select, " FROM %%S.\"%s\"", t->name);
    put_condition(p, t, &select);
    buffer_puts(&select, ") TO STDOUT (FORMAT binary)");
    /* The names of the verdicts are there. */
    buffer_printf(&insert, "INSERT %sINTO \"%s\" (", t->kind == TABLE_SHARED ? "OR REPLACE " : "",
                  t->name);
    server_put_columns(&insert, t);
    buffer_puts(&insert, ") VALUES (?");
    for (int i = 1; i < t->n; i++)
        buffer_puts(&insert, ", ?");
    buffer_puts(&insert, ")");
    int failed = select.failed || insert.failed
                     ? why_no_memory(w)
                     : results_prepare(p->to, buffer_text(&insert), &row, w);
    failed = failed ? failed : server_copy(p->from, buffer_text(&select), PGRES_COPY_OUT, w);
    failed = failed ? failed : receive_rows(p, t, row, w);
    sqlite3_finalize(row);
    buffer_done(&select);
    buffer_done(&insert);
    return failed;
}

/* Rows that refer to missing ones: a server has no foreign keys. */
static int check_references(struct pull *p, struct why *w)
{
    sqlite3_stmt *s;
    int failed = 0;
    if (p->filter->no_cases)
        return 0;
    TRY(results_prepare(p->to,
                        "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check "
                        "GROUP BY 1, 2 LIMIT 1",
                        &s, w));
    if (sqlite3_step(s) == SQLITE_ROW)
        failed = why_fail(
            w, WHY_INVALID, "%s: table %s: %lld rows refer to rows of %s that are missing",
            p->from->shown, (const char *) sqlite3_column_text(s, 0),
            (long long) sqlite3_column_int64(s, 2), (const char *) sqlite3_column_text(s, 1));
    sqlite3_finalize(s);
    return failed;
}

/* Behind the word of a shell command at `at`, which may be quoted: 'a b', $'\n', or in parts. */
static const char *word_end(const char *at)
{
    bool quoted = false, escapes = false;
    for (; *at && (quoted || *at != ' '); at++) {
        if (*at == '\\' && (!quoted || escapes) && at[1])
            at++;
        else if (*at == '\'') {
            escapes = !quoted && at[-1] == '$';
            quoted = !quoted;
        }
    }
    return at;
}

/* SQL: renamed(command), with another --db. */
static void renamed(sqlite3_context *context, int n, sqlite3_value **value)
{
    static const char option[] = " --db ";
    const char *text = (const char *) sqlite3_value_text(value[0]);
    const char *found = text ? strstr(text, option) : NULL;
    struct buffer b = { 0 };
    (void) n;
    if (!found) {
        sqlite3_result_value(context, value[0]);
        return;
    }
    found += strlen(option);
    buffer_put(&b, text, (size_t) (found - text));
    buffer_put_quoted(&b, sqlite3_user_data(context));
    buffer_puts(&b, word_end(found));
    if (b.failed)
        sqlite3_result_error_nomem(context);
    else
        sqlite3_result_text(context, buffer_text(&b), -1, SQLITE_TRANSIENT);
    buffer_done(&b);
}

static int rename_database(struct pull *p, struct why *w)
{
    void *name = (void *) p->filter->replayed_with;
    if (!name)
        return 0;
    if (sqlite3_create_function(p->to->db, "renamed", 1, SQLITE_UTF8, name, renamed, NULL, NULL))
        return results_failed(p->to, w);
    return results_exec(
        p->to, "UPDATE verdicts SET replay = renamed(replay) WHERE instr(replay, ' --db ')", w);
}

static int copy_tables(struct pull *p, struct why *w)
{
    TRY(results_exec(p->to, "PRAGMA foreign_keys = OFF", w)); /* checked at the end */
    TRY(results_begin(p->to, w));
    for (int i = 0; i < p->schema->n; i++) {
        const struct server_table *t = &p->schema->table[i];
        bool of_cases = t->kind == TABLE_OF_CASES || !strcmp(t->name, "cases");
        if (t->is_there && !(of_cases && p->filter->no_cases))
            TRY(copy_table(p, t, w));
    }
    TRY(check_references(p, w));
    TRY(rename_database(p, w));
    return results_commit(p->to, w);
}

/* The rows of one moment. */
static int connect_to_read(struct pull *p, const char *url, struct why *w)
{
    TRY(server_connect(url, &p->from, w));
    TRY(server_schema_new(&p->schema, w));
    TRY(server_exec(p->from, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", w));
    return server_schema_find(p->from, p->schema, w);
}

static int write_database(struct pull *p, const char *path, struct why *w)
{
    int failed = results_open(path, RESULTS_PART, &p->to, w);
    failed = failed ? failed : copy_tables(p, w);
    if (failed && p->to)
        p->to->broken = true;
    results_close(p->to);
    return failed;
}

/* Under its name when it is complete. */
static int write_new(struct pull *p, const char *to, struct why *w)
{
    struct output_file f;
    REQUIRE(w, access(to, F_OK) != 0, "%s: exists; expected the name of a new file", to);
    TRY(output_file_open(to, &f, w));
    int failed = f.part ? write_database(p, f.part, w)
                        : why_fail(w, WHY_INVALID, "%s: its folder cannot be written to", to);
    return output_file_close(&f, !failed, failed ? NULL : w) < 0 ? -1 : failed;
}

int server_pull(const char *url, const struct pull_filter *filter, const char *to, struct why *w)
{
    struct pull p = { .filter = filter };
    int failed = connect_to_read(&p, url, w);
    failed = failed ? failed : add_runs(&p, w);
    if (!failed && filter->n_cases)
        failed = add_cases(&p, w);
    failed = failed ? failed : write_new(&p, to, w);
    server_schema_free(p.schema);
    server_close(p.from);
    buffer_done(&p.runs);
    buffer_done(&p.cases);
    return failed;
}

/* ---- the list of runs */

static const char list_sql[] =
    "SELECT r.run, r.kind, r.command, to_char(r.started AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), to_char(r.finished AT TIME ZONE 'UTC', "
    "'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"'), (SELECT string_agg(uri || chr(10), '' ORDER BY ordinal) "
    "FROM %S.targets t WHERE t.run = r.run), r.n_cases, c.n, v.n, v.failing, "
    "coalesce(c.bytes, 0) + coalesce(v.bytes, 0) FROM %S.runs r LEFT JOIN (SELECT run, count(*) AS "
    "n, sum(length(spec)) AS bytes FROM %S.cases GROUP BY run) c ON c.run = r.run LEFT JOIN "
    "(SELECT "
    "t.run, count(*) AS n, count(*) FILTER (WHERE NOT v.verdict IN (SELECT name FROM "
    "%S.verdict_names WHERE conforming)) AS failing, sum(coalesce(length(v.shrunk), 0) + "
    "coalesce(length(v.printed), 0) + coalesce(length(v.backtrace), 0)) AS bytes FROM %S.verdicts "
    "v "
    "JOIN %S.targets t USING (target) GROUP BY t.run) v ON v.run = r.run ORDER BY r.run";

static int each_listed(struct server *s, run_facts_each *each, void *user, struct why *w)
{
    PGresult *rows;
    int failed = 0;
    TRY(server_query(s, list_sql, 0, NULL, &rows, w));
    for (int i = 0; !failed && i < s->pq->PQntuples(rows); i++) {
        const char *text[11];
        for (int k = 0; k < COUNT(text); k++)
            text[k] = s->pq->PQgetvalue(rows, i, k); /* "" for NULL */
        struct run_facts f = { .run = strtoll(text[0], NULL, 10),
                               .kind = text[1],
                               .command = text[2],
                               .started = text[3],
                               .finished = text[4],
                               .targets = text[5],
                               .n_cases = strtoull(text[6], NULL, 10),
                               .n_recorded = strtoull(text[7], NULL, 10),
                               .n_verdicts = strtoull(text[8], NULL, 10),
                               .n_failing = strtoull(text[9], NULL, 10),
                               .text_bytes = strtoull(text[10], NULL, 10) };
        failed = each(&f, user, w);
    }
    s->pq->PQclear(rows);
    return failed;
}

int server_each_run(const char *url, run_facts_each *each, void *user, struct why *w)
{
    struct pull_filter all = { 0 };
    struct pull p = { .filter = &all };
    int failed = connect_to_read(&p, url, w);
    failed = failed ? failed : each_listed(p.from, each, user, w);
    server_schema_free(p.schema);
    server_close(p.from);
    return failed;
}
