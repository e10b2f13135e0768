/* What halcyon db does with a database: listing and removing runs, compacting, checking. */
#include "harness/store/upkeep.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"
#include "reports/database.h"

enum { MOST_PROBLEMS = 100 };

static bool has_column(struct results *r, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(r->db, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

static const char *text_at(sqlite3_stmt *s, int column)
{
    const char *text = (const char *) sqlite3_column_text(s, column);
    return text ? text : "";
}

/* Finalizes a statement that ended with this step. */
static int done(struct results *r, sqlite3_stmt *s, int step, int failed, struct why *w)
{
    if (!failed && step != SQLITE_DONE && step != SQLITE_ROW)
        failed = results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}

/* ---- the runs */

/* Chooses the runs of a rule into the temporary table `chosen`; NULL: all. */
static int choose_runs(struct results *r, const struct prune_rule *rule, struct why *w)
{
    static const char sql[] =
        "INSERT INTO temp.chosen SELECT run FROM main.runs WHERE (?1 < 0 OR run NOT IN "
        "(SELECT run FROM main.runs ORDER BY run DESC LIMIT ?1)) AND (?2 = 0 OR "
        "(julianday('now') - julianday(started)) * 86400 >= ?2)";
    sqlite3_stmt *s;
    TRY(results_exec(r,
                     "CREATE TEMP TABLE IF NOT EXISTS chosen (run INTEGER PRIMARY KEY); "
                     "DELETE FROM temp.chosen",
                     w));
    for (size_t i = 0; rule && i < rule->n_runs; i++) {
        TRY(results_prepare(r,
                            "INSERT OR REPLACE INTO temp.chosen SELECT run FROM main.runs WHERE "
                            "run = ?1",
                            &s, w));
        sqlite3_bind_int64(s, 1, rule->run[i]);
        TRY(done(r, s, sqlite3_step(s), 0, w));
        if (!sqlite3_changes(r->db))
            return database_check_run(r->db, r->path, rule->run[i], w);
    }
    if (rule && rule->n_runs)
        return 0;
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_int64(s, 1, rule && rule->keeps_last ? (int64_t) rule->keep_last : -1);
    sqlite3_bind_int64(s, 2, rule ? (int64_t) rule->older_than : 0);
    return done(r, s, sqlite3_step(s), 0, w);
}

/* Fails if a process writes one of the chosen runs. */
static int check_owners(struct results *r, struct why *w)
{
    sqlite3_stmt *s;
    int step = SQLITE_DONE, failed = 0;
    if (!has_column(r, "runs", "owner_pid")) /* version 1 */
        return 0;
    TRY(results_prepare(r, "SELECT run FROM temp.chosen ORDER BY run", &s, w));
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW)
        failed = results_check_owner(r, sqlite3_column_int64(s, 0), w);
    return done(r, s, step, failed, w);
}

static void put_lengths(struct results *r, struct buffer *sql, const char *table, const char *alias,
                        const char *const *column)
{
    buffer_puts(sql, "0");
    for (; *column; column++)
        if (has_column(r, table, *column))
            buffer_printf(sql, " + ifnull(length(%s.%s), 0)", alias, *column);
}

/* Sums of the verdicts of a run, by verdict. */
static int count_verdicts(struct results *r, const char *sql, struct run_facts *f, struct why *w)
{
    sqlite3_stmt *s;
    int step;
    TRY(results_prepare(r, sql, &s, w));
    sqlite3_bind_int64(s, 1, f->run);
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        int verdict = verdict_by_name(text_at(s, 0));
        uint64_t n = (uint64_t) sqlite3_column_int64(s, 1);
        f->n_verdicts += n;
        f->n_failing += verdict < 0 || !verdict_conforming((enum verdict) verdict) ? n : 0;
        f->text_bytes += (uint64_t) sqlite3_column_int64(s, 2);
    }
    return done(r, s, step, 0, w);
}

/* Calls each() for the chosen runs. */
static int each_chosen(struct results *r, run_facts_each *each, void *user, struct why *w)
{
    static const char *const of_cases[] = { "spec", NULL };
    static const char *const of_verdicts[] = { "shrunk", "printed", "backtrace", NULL };
    const char *recorded = "(SELECT count(*) FROM main.cases c WHERE c.run = r.run)";
    struct buffer runs = { 0 }, verdicts = { 0 };
    sqlite3_stmt *s = NULL;
    int step = SQLITE_DONE;
    buffer_puts(&verdicts, "SELECT v.verdict, count(*), sum(");
    put_lengths(r, &verdicts, "verdicts", "v", of_verdicts);
    buffer_puts(&verdicts, ") FROM main.verdicts v JOIN main.targets t USING (target) WHERE "
                           "t.run = ?1 GROUP BY 1");
    if (results_has_table(r, "summary_parts")) {
        /* the failures that a summary keeps are among its counts */
        buffer_puts(&verdicts, " HAVING NOT EXISTS (SELECT 1 FROM main.summary_parts WHERE run = "
                               "?1) UNION ALL SELECT verdict, sum(n), 0 FROM "
                               "main.summary_verdicts WHERE run = ?1 GROUP BY 1");
        recorded = "coalesce((SELECT sum(n_cases) FROM main.summary_parts p WHERE p.run = r.run), "
                   "(SELECT count(*) FROM main.cases c WHERE c.run = r.run))";
    }
    buffer_printf(&runs,
                  "SELECT r.run, r.kind, r.command, r.started, r.finished, (SELECT "
                  "group_concat(uri, char(10)) || char(10) FROM (SELECT uri FROM main.targets t "
                  "WHERE t.run = r.run ORDER BY t.ordinal)), r.n_cases, %s, (SELECT sum(",
                  recorded);
    put_lengths(r, &runs, "cases", "c", of_cases);
    buffer_puts(&runs, ") FROM main.cases c WHERE c.run = r.run) FROM main.runs r WHERE r.run IN "
                       "(SELECT run FROM temp.chosen) ORDER BY r.run");
    int failed = runs.failed || verdicts.failed ? why_no_memory(w)
                                                : results_prepare(r, buffer_text(&runs), &s, w);
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        struct run_facts f = { .run = sqlite3_column_int64(s, 0),
                               .kind = text_at(s, 1),
                               .command = text_at(s, 2),
                               .started = text_at(s, 3),
                               .finished = text_at(s, 4),
                               .targets = text_at(s, 5),
                               .n_cases = (uint64_t) sqlite3_column_int64(s, 6),
                               .n_recorded = (uint64_t) sqlite3_column_int64(s, 7),
                               .text_bytes = (uint64_t) sqlite3_column_int64(s, 8) };
        failed = count_verdicts(r, buffer_text(&verdicts), &f, w);
        failed = failed ? failed : each(&f, user, w);
    }
    failed = done(r, s, step, failed, w);
    buffer_done(&runs);
    buffer_done(&verdicts);
    return failed;
}

int results_each_run(struct results *r, const struct prune_rule *rule, run_facts_each *each,
                     void *user, struct why *w)
{
    TRY(choose_runs(r, rule, w));
    if (rule)
        TRY(check_owners(r, w));
    return each_chosen(r, each, user, w);
}

/* Other rows of a run are removed by the foreign keys.  A set is used by a run whose cases have its
 * digest in their names, or whose options have it. */
#define UNUSED_SETS(table)                                                                         \
    "DELETE FROM " table " WHERE NOT EXISTS (SELECT 1 FROM runs WHERE instr(options, digest)) "    \
    "AND NOT EXISTS (SELECT 1 FROM cases WHERE instr(name, digest)); "
static const char remove_chosen[] =
    "DELETE FROM main.coverage_parts WHERE run IN (SELECT run FROM temp.chosen); "
    "DELETE FROM main.runs WHERE run IN (SELECT run FROM temp.chosen); " UNUSED_SETS("support_sets")
        UNUSED_SETS("steering_sets") "DELETE FROM campaigns WHERE digest NOT IN (SELECT campaign "
                                     "FROM shards); ";
#undef UNUSED_SETS

int results_prune(struct results *r, const struct prune_rule *rule, run_facts_each *each,
                  void *user, struct why *w)
{
    TRY(results_begin(r, w));
    int failed = results_each_run(r, rule, each, user, w);
    if (!failed)
        failed = results_exec(r, remove_chosen, w);
    r->broken |= failed < 0; /* the commit rolls back */
    return results_commit(r, failed ? NULL : w) < 0 ? -1 : failed;
}

/* ---- the file */

int results_file_size(struct results *r, struct file_size *ret_size, struct why *w)
{
    sqlite3_stmt *s;
    struct file_size size = { 0 };
    TRY(database_version(r->db, r->path, &size.version, w));
    TRY(results_prepare(r,
                        "SELECT page_count * page_size, freelist_count * page_size FROM "
                        "pragma_page_count, pragma_page_size, pragma_freelist_count",
                        &s, w));
    int step = sqlite3_step(s);
    struct stat file;
    size.bytes = database_is_packed(r->path) && stat(r->path, &file) == 0
                     ? (uint64_t) file.st_size
                     : (uint64_t) sqlite3_column_int64(s, 0);
    size.free_bytes = (uint64_t) sqlite3_column_int64(s, 1);
    TRY(done(r, s, step, 0, w));
    *ret_size = size;
    return 0;
}

int results_compact(struct results *r, struct why *w)
{
    TRY(choose_runs(r, NULL, w));
    TRY(check_owners(r, w));
    TRY(results_begin(r, w));
    char *views = results_views_sql();
    int failed = views ? results_exec(r, views, w) : why_no_memory(w);
    sqlite3_free(views);
    r->broken |= failed < 0; /* the commit rolls back */
    TRY(results_commit(r, failed ? NULL : w));
    TRY(failed);
    return results_exec(r, "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", w);
}

/* ---- checking */

struct file_check {
    struct results *results;
    void (*problem)(const char *text, void *user);
    void *user;
    int n;
};

__attribute__((format(printf, 2, 3))) static void found(struct file_check *c, const char *fmt, ...)
{
    struct buffer text = { 0 };
    va_list args;
    va_start(args, fmt);
    buffer_vprintf(&text, fmt, args);
    va_end(args);
    if (c->n++ < MOST_PROBLEMS)
        c->problem(buffer_text(&text), c->user);
    buffer_done(&text);
}

/* Calls each() for the rows of a query.  A query that the damage of the file ends is a problem of
 * the file. */
static int each_row(struct file_check *c, const char *sql,
                    void (*each)(struct file_check *, sqlite3_stmt *), struct why *w)
{
    sqlite3 *db = c->results->db;
    sqlite3_stmt *s = NULL;
    int step = sqlite3_prepare_v2(db, sql, -1, &s, NULL);
    if (step == SQLITE_OK)
        while ((step = sqlite3_step(s)) == SQLITE_ROW)
            each(c, s);
    sqlite3_finalize(s);
    if (step == SQLITE_DONE)
        return 0;
    if ((step & 0xff) != SQLITE_CORRUPT && (step & 0xff) != SQLITE_ERROR)
        return results_failed(c->results, w);
    found(c, "%s", sqlite3_errmsg(db));
    return 0;
}

static void each_page(struct file_check *c, sqlite3_stmt *s)
{
    if (strcmp(text_at(s, 0), "ok") != 0)
        found(c, "%s", text_at(s, 0));
}

static void each_key(struct file_check *c, sqlite3_stmt *s)
{
    found(c, "table %s: %lld rows refer to rows of %s that are missing", text_at(s, 0),
          (long long) sqlite3_column_int64(s, 2), text_at(s, 1));
}

static void each_view(struct file_check *c, sqlite3_stmt *s)
{
    found(c, "view %s: %s ('halcyon db compact' renews it)", text_at(s, 0), text_at(s, 1));
}

static void each_spec(struct file_check *c, sqlite3_stmt *s)
{
    sqlite3_stmt *text;
    if (sqlite3_prepare_v2(c->results->db, "SELECT text_of(?1)", -1, &text, NULL) != SQLITE_OK)
        return;
    sqlite3_bind_value(text, 1, sqlite3_column_value(s, 2));
    if (sqlite3_step(text) != SQLITE_ROW)
        found(c, "run %lld, case %s: the %sspecification cannot be unpacked",
              (long long) sqlite3_column_int64(s, 0), text_at(s, 1), text_at(s, 3));
    sqlite3_finalize(text);
}

/* Compares the views with those that this version of the schema creates, in an empty database. */
static int check_views(struct file_check *c, struct why *w)
{
    static const char compare[] =
        "SELECT e.name, CASE WHEN m.name IS NULL THEN 'is missing' ELSE "
        "'is that of another version of halcyon' END FROM temp.expected e LEFT JOIN "
        "main.sqlite_schema m ON m.name = e.name AND m.type = 'view' WHERE m.sql IS NOT e.sql";
    struct results *r = c->results;
    char *schema = results_schema();
    sqlite3 *empty = NULL;
    sqlite3_stmt *from = NULL, *to = NULL;
    bool ok = schema && sqlite3_open(":memory:", &empty) == SQLITE_OK &&
              sqlite3_exec(empty, schema, NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_prepare_v2(empty, "SELECT name, sql FROM sqlite_schema WHERE type = 'view'",
                                 -1, &from, NULL) == SQLITE_OK;
    sqlite3_free(schema);
    int failed = ok ? 0 : why_no_memory(w);
    if (!failed)
        failed = results_exec(r, "CREATE TEMP TABLE expected (name, sql)", w);
    if (!failed)
        failed = results_prepare(r, "INSERT INTO temp.expected VALUES (?1, ?2)", &to, w);
    while (!failed && sqlite3_step(from) == SQLITE_ROW) {
        sqlite3_bind_value(to, 1, sqlite3_column_value(from, 0));
        sqlite3_bind_value(to, 2, sqlite3_column_value(from, 1));
        failed = results_finish(r, to, w);
    }
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    sqlite3_close(empty);
    return failed ? failed : each_row(c, compare, each_view, w);
}

int results_check(struct results *r, void (*problem)(const char *text, void *user), void *user,
                  struct why *w)
{
    struct file_check c = { .results = r, .problem = problem, .user = user };
    int version = 0;
    TRY(database_version(r->db, r->path, &version, w));
    TRY(each_row(&c, "PRAGMA integrity_check(100)", each_page, w));
    TRY(each_row(&c,
                 "SELECT \"table\", parent, count(*) FROM pragma_foreign_key_check GROUP BY 1, 2",
                 each_key, w));
    if (version == DATABASE_VERSION)
        TRY(check_views(&c, w));
    TRY(each_row(&c, "SELECT run, name, spec, '' FROM cases WHERE typeof(spec) = 'blob'", each_spec,
                 w));
    if (version == DATABASE_VERSION)
        TRY(each_row(&c,
                     "SELECT run, name, shrunk, 'shrunk ' FROM cases JOIN verdicts USING (case_id) "
                     "WHERE typeof(shrunk) = 'blob'",
                     each_spec, w));
    return c.n < MOST_PROBLEMS ? c.n : MOST_PROBLEMS;
}
