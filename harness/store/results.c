#include "harness/store/results.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/store/results_internal.h"
#include "reports/database.h"
#include "reports/packed_spec.h"
#include "reports/packed_text.h"

extern const char schema_sql[], views_sql[];

enum { BUSY_TRIES = 20000, TRY_US = 1000 };

/* Statements executed for every case, prepared once. */
static const char *const statement_sql[] = {
    [STATEMENT_FORGET] = "DELETE FROM cases WHERE run = ?1 AND ordinal = ?2",
    [STATEMENT_CASE] =
        "INSERT INTO cases (run, ordinal, name, file, seed, idx, level, "
        "n_operations, spec, suite) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, packed(?9), ?10)",
    [STATEMENT_OPERATION] = "INSERT OR IGNORE INTO case_operations VALUES (?1, ?2, ?3)",
    [STATEMENT_VERDICT] =
        "INSERT OR REPLACE INTO verdicts (case_id, target, verdict, was, why, judge, stage, "
        "status, ms, device_ns, checked, wrong, output, element, place, operation, type, expected, "
        "actual, bound, ratio, replay, confirmed, printed, backtrace, attempts, failed_attempts, "
        "blamed_operation, blamed_index, blamed_count, blamed_graph, blamed_type, blamed_output, "
        "blamed_place, blamed_expected, blamed_actual, blamed_bound, blamed_ratio, blamed_why) "
        "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, "
        "?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, "
        "?33, ?34, ?35, ?36, "
        "?37, ?38, ?39)",
    [STATEMENT_FIND] = "SELECT case_id FROM cases WHERE run = ?1 AND ordinal = ?2",
    [STATEMENT_SPEC] = "UPDATE cases SET spec = packed(?2) WHERE case_id = ?1 AND spec IS NULL",
    [STATEMENT_NOTE] = "INSERT OR IGNORE INTO run_notes VALUES (?1, ?2, ?3)",
    [STATEMENT_COVERAGE] = "INSERT INTO coverage_parts VALUES (?1, ?2, ?3, ?4)",
    [STATEMENT_NO_COVERAGE] = "DELETE FROM coverage_parts WHERE run = ?1",
};

int results_failed(struct results *r, struct why *w)
{
    r->broken = r->broken || r->open;
    database_failed(r->db, r->path, w);
    if (r->run && w)
        w->code = WHY_SYSTEM;
    return -1;
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

bool results_may_be_packed(const char *column)
{
    static const char *const columns[] = { "spec", "shrunk", "part", "items" };
    for (int i = 0; i < COUNT(columns); i++)
        if (!strcmp(column, columns[i]))
            return true;
    return false;
}

/* ---- opening */

/* Adds the names of the verdicts, of which a database of an older program may lack some. */
static void put_verdict_names(sqlite3_str *sql)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        sqlite3_str_appendf(sql, "INSERT OR IGNORE INTO verdict_names VALUES ('%s', %d);\n",
                            verdict_name[v], verdict_conforming((enum verdict) v));
}

char *results_schema(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    sqlite3_str_appendall(sql, schema_sql);
    sqlite3_str_appendall(sql, views_sql);
    put_verdict_names(sql);
    return sqlite3_str_finish(sql);
}

static char *verdict_names(void)
{
    sqlite3_str *sql = sqlite3_str_new(NULL);
    put_verdict_names(sql);
    return sqlite3_str_finish(sql);
}

static int exec_and_free(struct results *r, char *sql, struct why *w)
{
    int failed = sql ? results_exec(r, sql, w) : why_no_memory(w);
    sqlite3_free(sql);
    return failed;
}

/* Creates or upgrades the schema, unless another process has done so meanwhile. */
static int make_schema(struct results *r, struct why *w)
{
    int version = 0;
    TRY(database_version(r->db, r->path, &version, w));
    if (version == 0)
        return exec_and_free(r, results_schema(), w);
    if (version < DATABASE_VERSION)
        TRY(exec_and_free(r, results_upgrade_sql(version), w));
    TRY(results_add_tables(r, w));
    return exec_and_free(r, verdict_names(), w);
}

/* SQLite's busy handler.  Retries at short intervals: a campaign releases the database only briefly
 * between two transactions. */
static int wait_for_others(void *user, int tries)
{
    (void) user;
    usleep(TRY_US);
    return tries < BUSY_TRIES;
}

/* Whether the database can be used without changing its schema first. */
static bool is_current(struct results *r, int version)
{
    sqlite3_stmt *s;
    if (version != DATABASE_VERSION || !results_has_tables(r) ||
        results_prepare(r, "SELECT count(*) FROM verdict_names", &s, NULL) < 0)
        return false;
    bool current = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) == VERDICT_COUNT;
    sqlite3_finalize(s);
    return current;
}

static int open_to_write(struct results *r, enum results_mode mode, struct why *w)
{
    int version = 0, flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    if (access(r->path, F_OK) == 0 && access(r->path, W_OK) != 0)
        return why_file(w, r->path, errno);
    if (access(r->path, F_OK) == 0)
        TRY(database_unpack(r->path, w));
    int code = sqlite3_open_v2(r->path, &r->db, flags, NULL);
    if (!r->db)
        return why_no_memory(w);
    if (code != SQLITE_OK)
        return results_failed(r, w);
    sqlite3_busy_handler(r->db, wait_for_others, NULL);
    if (packed_text_functions(r->db) != SQLITE_OK)
        return results_failed(r, w);
    TRY(database_version(r->db, r->path, &version, w)); /* before anything is changed */
    TRY(results_exec(r,
                     mode == RESULTS_PART
                         ? "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF"
                         : "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL",
                     w));
    if (!is_current(r, version)) {
        TRY(results_exec(r, "BEGIN IMMEDIATE", w));
        if (make_schema(r, w) < 0) {
            sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
            return -1;
        }
        TRY(results_exec(r, "COMMIT", w));
    }
    return results_exec(r, "PRAGMA foreign_keys = ON", w);
}

static int open_to_read(struct results *r, struct why *w)
{
    int version = 0;
    TRY(database_read(r->path, &r->db, w));
    TRY(database_check_version(r->db, r->path, &version, w));
    return 0;
}

int results_check_run(struct results *r, int64_t run, struct why *w)
{
    return database_check_run(r->db, r->path, run, w);
}

int results_look_for(const char *path, struct why *w)
{
    return access(path, F_OK) == 0
               ? 0
               : why_file_or(
                     w, path, errno,
                     " ('halcyon run', 'random' and 'conform' write it; --db names another)");
}

int results_open(const char *path, enum results_mode mode, struct results **ret_results,
                 struct why *w)
{
    REQUIRE(w, *path && strcmp(path, ":memory:") != 0 && strncmp(path, "file:", 5) != 0,
            "--db '%s': expected the path of a file; what SQLite opens by this name is none that "
            "--resume, replay and report could read",
            path);
    TRY(database_check_path(path, w));
    struct results *r = calloc(1, sizeof *r);
    if (!r || !(r->path = strdup(path))) {
        free(r);
        return why_no_memory(w);
    }
    int failed = mode == RESULTS_READ ? open_to_read(r, w) : open_to_write(r, mode, w);
    for (int i = 0; !failed && mode != RESULTS_READ && i < STATEMENT_COUNT; i++)
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
    results_commit(r, NULL);
    if (r->owner.pid && !r->broken)
        results_set_owner(r, (struct run_owner){ 0 }, NULL);
    for (int i = 0; i < STATEMENT_COUNT; i++)
        sqlite3_finalize(r->statement[i]);
    sqlite3_close(r->db);
    counted_rows_done(&r->counted);
    free(r->path);
    free(r);
}

int results_commit(struct results *r, struct why *w)
{
    if (!r->open)
        return 0;
    if (!r->broken && results_write_counted(r, false, w) == 0 &&
        results_exec(r, "COMMIT", w) == 0) {
        r->open = false;
        return 0;
    }
    sqlite3_exec(r->db, "ROLLBACK", NULL, NULL, NULL);
    r->open = false;
    return -1;
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

int results_finish(struct results *r, sqlite3_stmt *s, struct why *w)
{
    int step = sqlite3_step(s);
    int failed = step == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_reset(s);
    sqlite3_clear_bindings(s);
    return failed;
}

static int write_operations(struct results *r, int64_t case_id, const char *lines, struct why *w)
{
    sqlite3_stmt *s = r->statement[STATEMENT_OPERATION];
    for (const char *at = lines ? lines : "", *end; *at; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        const char *tab = memchr(at, '\t', (size_t) (end - at));
        if (!tab)
            continue;
        sqlite3_bind_int64(s, 1, case_id);
        sqlite3_bind_text(s, 2, at, (int) (tab - at), SQLITE_TRANSIENT);
        sqlite3_bind_text(s, 3, tab + 1, (int) (end - tab - 1), SQLITE_TRANSIENT);
        TRY(results_finish(r, s, w));
    }
    return 0;
}

static void bind_blamed(sqlite3_stmt *s, const struct blamed *b)
{
    bind_text(s, 39, b->why[0] ? b->why : NULL);
    if (!b->count)
        return;
    bind_text(s, 28, b->name);
    sqlite3_bind_int64(s, 29, b->operation);
    sqlite3_bind_int64(s, 30, b->count);
    sqlite3_bind_int64(s, 31, b->graph);
    bind_text(s, 32, b->type);
    if (b->output < 0)
        return;
    sqlite3_bind_int(s, 33, b->output);
    bind_text(s, 34, b->place);
    sqlite3_bind_double(s, 35, b->expected);
    sqlite3_bind_double(s, 36, b->actual);
    sqlite3_bind_double(s, 37, b->bound);
    sqlite3_bind_double(s, 38, b->ratio);
}

static int write_verdict(struct results *r, int64_t case_id, uint32_t target,
                         const struct verdict_row *row, struct why *w)
{
    const struct check_result *v = row->result;
    sqlite3_stmt *s = r->statement[STATEMENT_VERDICT];
    sqlite3_bind_int64(s, 1, case_id);
    sqlite3_bind_int64(s, 2, r->target[target]);
    bind_text(s, 3, verdict_name[v->verdict]);
    bool replaced =
        v->verdict == VERDICT_FLAKY || (v->verdict == VERDICT_WAIVED && v->was != VERDICT_WAIVED);
    bind_text(s, 4, replaced ? verdict_name[v->was] : NULL);
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
    bind_text(s, 22, row->replay);
    bind_text(s, 23, v->confirmed[0] ? v->confirmed : NULL);
    bind_text(s, 24, row->printed);
    bind_text(s, 25, row->backtrace);
    if (v->attempts) {
        sqlite3_bind_int64(s, 26, v->attempts);
        sqlite3_bind_int64(s, 27, v->failed_attempts);
    }
    bind_blamed(s, &v->blamed);
    return results_finish(r, s, w);
}

static void bind_spec(sqlite3_stmt *s, int i, const struct spec_row *spec)
{
    if (is_packed_spec(spec->spec, spec->length))
        sqlite3_bind_blob64(s, i, spec->spec, spec->length, SQLITE_TRANSIENT);
    else if (spec->length)
        sqlite3_bind_text64(s, i, spec->spec, spec->length, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static int write_row(struct results *r, const struct case_row *c, struct why *w)
{
    sqlite3_stmt *s = r->statement[STATEMENT_CASE];
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, (int64_t) c->ordinal);
    bind_text(s, 3, c->name);
    bind_text(s, 4, c->file);
    if (!c->file && !c->suite) {
        sqlite3_bind_int64(s, 5, (int64_t) c->seed);
        sqlite3_bind_int64(s, 6, (int64_t) c->index);
    }
    if (c->level >= 0)
        sqlite3_bind_int(s, 7, c->level);
    sqlite3_bind_int64(s, 8, c->n_operations);
    bind_spec(s, 9, &c->spec);
    bind_text(s, 10, c->suite);
    return results_finish(r, s, w);
}

int results_write_case(struct results *r, const struct case_row *c, struct why *w)
{
    TRY(results_begin(r, w));
    TRY(results_count_calls(r, c, w));
    sqlite3_stmt *s = r->statement[STATEMENT_FORGET];
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, (int64_t) c->ordinal);
    TRY(results_finish(r, s, w));
    TRY(write_row(r, c, w));
    int64_t case_id = sqlite3_last_insert_rowid(r->db);
    TRY(write_operations(r, case_id, c->operations, w));
    for (uint32_t t = 0; t < r->n_targets; t++)
        if (c->verdict[t].result)
            TRY(write_verdict(r, case_id, t, &c->verdict[t], w));
    return 0;
}

/* 0: no such case. */
static int find_case(struct results *r, uint64_t ordinal, int64_t *ret_case, struct why *w)
{
    sqlite3_stmt *s = r->statement[STATEMENT_FIND];
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, (int64_t) ordinal);
    int step = sqlite3_step(s);
    int failed = step == SQLITE_ROW || step == SQLITE_DONE ? 0 : results_failed(r, w);
    if (!failed)
        *ret_case = step == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
    sqlite3_reset(s);
    return failed;
}

int results_amend_case(struct results *r, uint64_t ordinal, uint32_t target,
                       const struct verdict_row *v, const struct spec_row *spec, struct why *w)
{
    int64_t case_id = 0;
    TRY(results_begin(r, w));
    TRY(find_case(r, ordinal, &case_id, w));
    REQUIRE(w, case_id, "%s: run %lld has no case %llu", r->path, (long long) r->run,
            (unsigned long long) ordinal);
    TRY(write_verdict(r, case_id, target, v, w));
    if (!spec->length)
        return 0;
    sqlite3_stmt *s = r->statement[STATEMENT_SPEC];
    sqlite3_bind_int64(s, 1, case_id);
    bind_spec(s, 2, spec);
    return results_finish(r, s, w);
}

int results_add_note(struct results *r, uint32_t target, const char *text, struct why *w)
{
    TRY(results_begin(r, w));
    sqlite3_stmt *s = r->statement[STATEMENT_NOTE];
    sqlite3_bind_int64(s, 1, r->run);
    sqlite3_bind_int64(s, 2, r->target[target]);
    bind_text(s, 3, text);
    return results_finish(r, s, w);
}
