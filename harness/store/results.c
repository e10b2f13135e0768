#include "harness/store/results.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "harness/store/results_internal.h"
#include "reports/database.h"

extern const char schema_sql[];

enum { APPLICATION_ID = 0x48414c59, SCHEMA_VERSION = 1, BUSY_MS = 20000 };

/* Statements executed for every case, prepared once. */
static const char *const statement_sql[] = {
    [STATEMENT_CASE] = "INSERT INTO cases (run, ordinal, name, file, seed, idx, level, "
                       "n_operations) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [STATEMENT_OPERATION] = "INSERT OR IGNORE INTO case_operations VALUES (?1, ?2, ?3)",
    [STATEMENT_VERDICT] =
        "INSERT INTO verdicts (case_id, target, verdict, was, why, judge, stage, status, ms, "
        "device_ns, checked, wrong, output, element, place, operation, type, expected, actual, "
        "bound, ratio, replay) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, "
        "?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22)",
    [STATEMENT_SPEC] = "UPDATE cases SET spec = ?2, dot = ?3 WHERE case_id = ?1",
};

int results_failed(struct results *r, struct why *w)
{
    int code = sqlite3_errcode(r->db);
    bool bad_file = code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_READONLY ||
                    code == SQLITE_CANTOPEN;
    enum why_code kind = bad_file ? WHY_INVALID : WHY_SYSTEM;
    return why_fail(w, kind, "%s: %s", r->path, sqlite3_errmsg(r->db));
}

int results_exec(struct results *r, const char *sql, struct why *w)
{
    return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : results_failed(r, w);
}

int results_prepare(struct results *r, const char *sql, sqlite3_stmt **ret, struct why *w)
{
    if (sqlite3_prepare_v2(r->db, sql, -1, ret, NULL) != SQLITE_OK)
        return results_failed(r, w);
    return 0;
}

/* ---- opening */

static int pragma_number(struct results *r, const char *sql, int64_t *ret, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, sql, &s, w));
    int step = sqlite3_step(s);
    int64_t value = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_finalize(s);
    if (step != SQLITE_ROW)
        return results_failed(r, w);
    *ret = value;
    return 0;
}

static int check_schema(struct results *r, bool *ret_empty, struct why *w)
{
    int64_t id = 0, version = 0, tables = 0;
    TRY(pragma_number(r, "PRAGMA application_id", &id, w));
    TRY(pragma_number(r, "PRAGMA user_version", &version, w));
    TRY(pragma_number(r, "SELECT count(*) FROM sqlite_schema", &tables, w));
    *ret_empty = !tables && !id && !version;
    if (*ret_empty)
        return 0;
    REQUIRE(w, id == APPLICATION_ID, "%s: not a results database of halcyon", r->path);
    REQUIRE(w, version == SCHEMA_VERSION, "%s: has schema version %lld, expected %d", r->path,
            (long long) version, SCHEMA_VERSION);
    return 0;
}

char *results_schema(void)
{
    static const char before[] = "verdict IN (", conforming[] = ":conforming";
    sqlite3_str *sql = sqlite3_str_new(NULL);
    const char *from = schema_sql;

    for (const char *at; (at = strstr(from, before)); from = strchr(at, ')')) {
        at += strlen(before);
        sqlite3_str_append(sql, from, (int) (at - from));
        bool all = strncmp(at, conforming, strlen(conforming)) != 0;
        const char *separator = "";
        for (int v = 0; v < VERDICT_COUNT; v++)
            if (all || verdict_conforming((enum verdict) v)) {
                sqlite3_str_appendf(sql, "%s'%s'", separator, verdict_name[v]);
                separator = ", ";
            }
    }
    sqlite3_str_appendall(sql, from);
    return sqlite3_str_finish(sql);
}

/* Creates the schema unless another process has done so meanwhile. */
static int create_schema(struct results *r, struct why *w)
{
    if (results_exec(r, "PRAGMA journal_mode = WAL; BEGIN IMMEDIATE", w) < 0)
        return -1;
    bool empty = false;
    int failed = check_schema(r, &empty, w);
    if (!failed && empty) {
        char *schema = results_schema();
        failed = schema ? results_exec(r, schema, w) : why_no_memory(w);
        sqlite3_free(schema);
    }
    if (failed < 0) {
        sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
        return -1;
    }
    return results_exec(r, "COMMIT", w);
}

static int open_database(struct results *r, enum results_mode mode, struct why *w)
{
    bool empty = false;
    if (mode == RESULTS_READ) {
        TRY(database_read(r->path, &r->db, w));
        TRY(check_schema(r, &empty, w));
        return empty ? why_fail(w, WHY_INVALID, "%s: the database is empty", r->path) : 0;
    }
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (sqlite3_open_v2(r->path, &r->db, flags, NULL) != SQLITE_OK)
        return why_fail(w, WHY_INVALID, "%s: %s", r->path,
                        r->db ? sqlite3_errmsg(r->db) : "out of memory");
    sqlite3_busy_timeout(r->db, BUSY_MS);
    TRY(check_schema(r, &empty, w));
    if (empty)
        TRY(create_schema(r, w));
    return results_exec(r,
                        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; "
                        "PRAGMA foreign_keys = ON",
                        w);
}

int results_open(const char *path, enum results_mode mode, struct results **ret_results,
                 struct why *w)
{
    struct results *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return why_no_memory(w);
    }
    int failed = open_database(r, mode, w);
    for (int i = 0; !failed && mode == RESULTS_WRITE && i < STATEMENT_COUNT; i++)
        failed = results_prepare(r, statement_sql[i], &r->statement[i], w);
    if (failed) {
        results_close(r);
        return -1;
    }
    *ret_results = r;
    return 0;
}

void results_close(struct results *r)
{
    if (!r)
        return;
    if (r->open)
        sqlite3_exec(r->db, "COMMIT", NULL, NULL, NULL);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(r->statement[i]);
    sqlite3_close(r->db);
    free(r->path);
    free(r);
}

int results_commit(struct results *r, struct why *w)
{
    if (!r->open)
        return 0;
    TRY(results_exec(r, "COMMIT", w));
    r->open = false;
    return 0;
}

int results_begin(struct results *r, struct why *w)
{
    if (r->open)
        return 0;
    TRY(results_exec(r, "BEGIN IMMEDIATE", w));
    r->open = true;
    return 0;
}

int64_t results_run(const struct results *r)
{
    return r->run;
}

/* ---- cases */

static void bind_text(sqlite3_stmt *s, int i, const char *text)
{
    if (text)
        sqlite3_bind_text(s, i, text, -1, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(s, i);
}

/* Runs a bound statement, then resets it for the next use. */
static int finish(struct results *r, sqlite3_stmt *s, struct why *w)
{
    int step = sqlite3_step(s);
    int failed = step == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return failed;
}

int results_add_case(struct results *r, const struct case_row *c, int64_t *ret_case, struct why *w)
{
    TRY(results_begin(r, w));
    sqlite3_stmt *s = r->statement[STATEMENT_CASE];
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, (int64_t) c->ordinal);
    bind_text(s, 3, c->name);
    bind_text(s, 4, c->file);
    if (!c->file) {
        sqlite3_bind_int64(s, 5, (int64_t) c->seed);
        sqlite3_bind_int64(s, 6, (int64_t) c->index);
    }
    if (c->level >= 0)
        sqlite3_bind_int(s, 7, c->level);
    sqlite3_bind_int64(s, 8, c->n_operations);
    TRY(finish(r, s, w));
    *ret_case = sqlite3_last_insert_rowid(r->db);
    return 0;
}

int results_add_operation(struct results *r, int64_t case_id, const char *operation,
                          const char *type, struct why *w)
{
    TRY(results_begin(r, w));
    sqlite3_stmt *s = r->statement[STATEMENT_OPERATION];
    sqlite3_bind_int64(s, 1, case_id);
    bind_text(s, 2, operation);
    bind_text(s, 3, type);
    return finish(r, s, w);
}

int results_add_verdict(struct results *r, int64_t case_id, uint32_t target,
                        const struct check_result *v, const char *replay, struct why *w)
{
    TRY(results_begin(r, w));
    sqlite3_stmt *s = r->statement[STATEMENT_VERDICT];
    sqlite3_bind_int64(s, 1, case_id);
    sqlite3_bind_int64(s, 2, r->target[target]);
    bind_text(s, 3, verdict_name[v->verdict]);
    bind_text(s, 4, v->verdict == VERDICT_WAIVED ? verdict_name[v->was] : NULL);
    bind_text(s, 5, v->why);
    bind_text(s, 6, judge_name[v->judge]);
    bind_text(s, 7, v->stage);
    bind_text(s, 8, v->status);
    sqlite3_bind_double(s, 9, v->ms);
    if (v->device_ns != HAL_NO_TIME)
        sqlite3_bind_int64(s, 10, (int64_t) v->device_ns);
    sqlite3_bind_int64(s, 11, (int64_t) v->checked);
    sqlite3_bind_int64(s, 12, (int64_t) v->wrong);
    if (v->output >= 0) {
        sqlite3_bind_int(s, 13, v->output);
        sqlite3_bind_int64(s, 14, (int64_t) v->element);
        bind_text(s, 15, v->place);
        bind_text(s, 16, v->operation[0] ? v->operation : NULL);
        bind_text(s, 17, v->type);
        sqlite3_bind_double(s, 18, v->expected);
        sqlite3_bind_double(s, 19, v->actual);
        sqlite3_bind_double(s, 20, v->bound);
        sqlite3_bind_double(s, 21, v->ratio);
    }
    bind_text(s, 22, replay);
    return finish(r, s, w);
}

int results_add_spec(struct results *r, int64_t case_id, const char *spec, size_t spec_length,
                     const char *dot, struct why *w)
{
    TRY(results_begin(r, w));
    sqlite3_stmt *s = r->statement[STATEMENT_SPEC];
    sqlite3_bind_int64(s, 1, case_id);
    if (spec_length)
        sqlite3_bind_text64(s, 2, spec, spec_length, SQLITE_TRANSIENT, SQLITE_UTF8);
    bind_text(s, 3, dot);
    return finish(r, s, w);
}
