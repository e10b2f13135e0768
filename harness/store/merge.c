/* Rows are copied from a connection to each source to one to the new database, table by table, with
 * the columns that both have.  A run's targets and cases keep their order and get new identifiers.
 */
#include "harness/store/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/array.h"
#include "golden/base/output_file.h"
#include "harness/check/buffer.h"
#include "harness/store/merge_internal.h"
#include "harness/store/summary.h"
#include "reports/database.h"

/* ---- statements */

int merge_prepare(const struct source *s, const char *sql, sqlite3_stmt **ret, struct why *w)
{
    return sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) == SQLITE_OK
               ? 0
               : database_failed(s->db, s->path, w);
}

/* The first column of the first row, 0 for none. */
int merge_query(const struct source *s, const char *sql, int64_t run, int64_t *ret, struct why *w)
{
    sqlite3_stmt *row;
    TRY(merge_prepare(s, sql, &row, w));
    sqlite3_bind_int64(row, 1, run);
    int step = sqlite3_step(row);
    *ret = step == SQLITE_ROW ? sqlite3_column_int64(row, 0) : 0;
    sqlite3_finalize(row);
    return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : database_failed(s->db, s->path, w);
}

static char *column_copy(sqlite3_stmt *s, int i)
{
    const char *text = (const char *) sqlite3_column_text(s, i);
    return strdup(text ? text : "");
}

/* ---- which runs */

static int check_source(const struct source *s, struct why *w)
{
    sqlite3_stmt *row;
    int version = 0;
    TRY(database_check_version(s->db, s->path, &version, w));
    TRY(merge_prepare(s, "PRAGMA quick_check(1)", &row, w));
    int step = sqlite3_step(row);
    const char *found = step == SQLITE_ROW ? (const char *) sqlite3_column_text(row, 0) : NULL;
    int failed = 0;
    if (step != SQLITE_ROW)
        failed = database_failed(s->db, s->path, w);
    else if (!found || strcmp(found, "ok") != 0)
        failed = why_fail(w, WHY_INVALID, "%s: the database is damaged: %.200s", s->path,
                          found ? found : "no result");
    sqlite3_finalize(row);
    return failed;
}

struct source_run *merge_add_run(struct merge *m, struct why *w)
{
    struct source_run *run = array_room(m->run, m->n_runs, sizeof *run);
    if (!run) {
        why_no_memory(w);
        return NULL;
    }
    m->run = run;
    return &m->run[m->n_runs++];
}

static int keep_run(struct merge *m, struct source *s, sqlite3_stmt *row, struct why *w)
{
    struct source_run *r = merge_add_run(m, w);
    if (!r)
        return -1;
    *r = (struct source_run){ .source = s,
                              .run = sqlite3_column_int64(row, 0),
                              .identity = column_copy(row, 1),
                              .started = column_copy(row, 2),
                              .finished = column_copy(row, 3),
                              .n_cases = sqlite3_column_int64(row, 4) };
    return r->identity && r->started && r->finished ? 0 : why_no_memory(w);
}

int merge_open(struct merge *m, struct source *s, struct why *w)
{
    if (s->db)
        return 0;
    if (m->open) {
        sqlite3_close(m->open->db);
        m->open->db = NULL;
    }
    m->open = s;
    TRY(database_read(s->path, &s->db, w));
    return summary_functions(s->db) == SQLITE_OK ? 0 : database_failed(s->db, s->path, w);
}

static int read_runs(struct merge *m, struct source *s, struct why *w)
{
    const char *rows_only = merge_has_column(s, "summary_parts", "key")
                                ? "WHERE run NOT IN (SELECT run FROM summary_parts)"
                                : "";
    char sql[1024];
    sqlite3_stmt *row;
    int step = SQLITE_DONE, failed = 0;
    snprintf(sql, sizeof sql,
             "SELECT run, " RUN_IDENTITY ", started, finished, (SELECT count(*) FROM cases c "
             "WHERE c.run = r.run) FROM runs r %s ORDER BY run",
             rows_only);
    TRY(merge_prepare(s, sql, &row, w));
    while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW)
        failed = keep_run(m, s, row, w);
    sqlite3_finalize(row);
    return failed || step == SQLITE_DONE ? failed : database_failed(s->db, s->path, w);
}

enum { MOST_OPEN = 256 };

/* Opens a source and reads its runs.  A transaction keeps its content until it is copied, unless it
 * consists of complete shards, which no process writes: of many, one at a time is open. */
static int read_source(struct merge *m, struct source *s, struct why *w)
{
    const size_t first_run = m->n_runs;
    TRY(merge_open(m, s, w));
    if (sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(s->db, s->path, w);
    TRY(check_source(s, w));
    TRY(read_runs(m, s, w));
    TRY(merge_read_shards(m, s, w));
    bool complete = true;
    for (size_t i = first_run; i < m->n_runs; i++)
        complete = complete && m->run[i].shard.atomic && *m->run[i].finished;
    if (!complete || m->n_sources <= MOST_OPEN) /* stays open */
        m->open = NULL;
    return 0;
}

/* Copies of a run that was copied before it was finished are the same run; so are copies of a whole
 * shard, whatever machine has made them. */
static bool is_same(const struct source_run *a, const struct source_run *b)
{
    if (a->shard.atomic && b->shard.atomic && !strcmp(a->shard.key, b->shard.key))
        return true;
    return !strcmp(a->identity, b->identity) &&
           (!*a->finished || !*b->finished || !strcmp(a->finished, b->finished));
}

/* The order of the runs in the new database, which does not depend on that of the sources. */
static int compare_runs(const struct source_run *a, const struct source_run *b)
{
    int order = strcmp(a->started, b->started);
    order = order ? order : strcmp(a->identity, b->identity);
    return order ? order : strcmp(a->finished, b->finished);
}

static bool is_better(const struct source_run *a, const struct source_run *b)
{
    return *a->finished && *b->finished   ? compare_runs(a, b) < 0
           : *a->finished || *b->finished ? *a->finished != 0
                                          : a->n_cases > b->n_cases;
}

static void find_repeated(struct merge *m, size_t *ret_n)
{
    *ret_n = 0;
    for (size_t i = 0; i < m->n_runs; i++)
        for (size_t k = 0; k < i && !m->run[i].is_repeated; k++) {
            if (m->run[k].is_repeated || !is_same(&m->run[i], &m->run[k]))
                continue;
            bool better = is_better(&m->run[i], &m->run[k]);
            m->run[better ? k : i].is_repeated = true;
            ++*ret_n;
        }
}

static int by_start(const void *a, const void *b)
{
    return compare_runs(a, b);
}

/* ---- copying */

bool merge_has_column(const struct source *s, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(s->db, NULL, table, column, NULL, NULL, NULL, NULL,
                                         NULL) == SQLITE_OK;
}

/* The expression that a column is read as. */
static void put_column(const struct copy *c, const char *name, struct buffer *sql)
{
    if (!strcmp(name, "run"))
        buffer_printf(sql, "%lld", (long long) c->run);
    else if (!strcmp(name, "target"))
        buffer_printf(sql, "target + %lld", (long long) c->more_targets);
    else if (!strcmp(name, "case_id"))
        buffer_printf(sql, "case_id + %lld", (long long) c->more_cases);
    else if (!strncmp(name, "owner_", 6))
        buffer_puts(sql, "NULL");
    else if (results_may_be_packed(name)) /* text: of before compression; a BLOB must be whole */
        buffer_printf(sql,
                      "CASE WHEN typeof(%s) = 'text' THEN packed(%s) WHEN text_of(%s) IS NOT NULL "
                      "THEN %s END",
                      name, name, name, name);
    else
        buffer_printf(sql, "\"%s\"", name);
}

/* SELECT for the source and INSERT for the new database; 0 columns: the source lacks the table. */
static int make_statements(const struct copy *c, const char *table, struct buffer *select,
                           struct buffer *insert, int *ret_columns, struct why *w)
{
    const struct source *s = c->source;
    struct buffer values = { 0 };
    sqlite3_stmt *row;
    int n = 0;
    TRY(results_prepare(c->m->out, "SELECT name FROM pragma_table_info(?1)", &row, w));
    sqlite3_bind_text(row, 1, table, -1, SQLITE_TRANSIENT);
    buffer_puts(select, "SELECT ");
    buffer_printf(insert, "INSERT OR %s INTO %s (",
                  c->source_is_one_of_several ? "IGNORE" : "ABORT", table);
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(row, 0);
        if (!merge_has_column(s, table, name))
            continue;
        buffer_puts(select, n ? ", " : "");
        put_column(c, name, select);
        buffer_printf(insert, "%s\"%s\"", n ? ", " : "", name);
        buffer_printf(&values, "%s?%d", n ? ", " : "", n + 1);
        n++;
    }
    sqlite3_finalize(row);
    buffer_printf(insert, ") VALUES (%s)", buffer_text(&values));
    if (merge_has_column(s, table, "run"))
        buffer_printf(select, " FROM %s WHERE run = ?1%s", table, c->where);
    else
        buffer_printf(select,
                      " FROM %s WHERE case_id IN (SELECT case_id FROM cases WHERE run = ?1%s)",
                      table, c->where);
    bool failed = select->failed || insert->failed || values.failed;
    buffer_done(&values);
    *ret_columns = n;
    return failed ? why_no_memory(w) : 0;
}

/* A row that breaks a rule of the schema is the source's fault. */
static int insert_failed(const struct copy *c, const char *table, struct why *w)
{
    int code = sqlite3_errcode(c->m->out->db);
    results_failed(c->m->out, w);
    if (code != SQLITE_CONSTRAINT && code != SQLITE_MISMATCH)
        return -1;
    return why_fail(w, WHY_INVALID, "%s: run %lld, table %s: %s", c->source->path,
                    (long long) c->from, table, sqlite3_errmsg(c->m->out->db));
}

static int copy_rows(const struct copy *c, const char *table, sqlite3_stmt *from, sqlite3_stmt *to,
                     int columns, struct why *w)
{
    int step;
    sqlite3_bind_int64(from, 1, c->from);
    while ((step = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
        if (sqlite3_step(to) != SQLITE_DONE)
            return insert_failed(c, table, w);
        sqlite3_reset(to);
    }
    const struct source *s = c->source;
    return step == SQLITE_DONE ? 0 : database_failed(s->db, s->path, w);
}

int merge_copy_table(const struct copy *c, const char *table, struct why *w)
{
    struct buffer select = { 0 }, insert = { 0 };
    sqlite3_stmt *from = NULL, *to = NULL;
    int columns = 0;
    int failed = make_statements(c, table, &select, &insert, &columns, w);
    if (!failed && columns)
        failed = merge_prepare(c->source, buffer_text(&select), &from, w);
    if (!failed && columns)
        failed = results_prepare(c->m->out, buffer_text(&insert), &to, w);
    if (!failed && columns)
        failed = copy_rows(c, table, from, to, columns, w);
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    buffer_done(&select);
    buffer_done(&insert);
    return failed;
}

/* All tables but the list of verdicts, in the order of the schema: what is referred to comes first.
 */
static int copy_tables(const struct copy *c, struct why *w)
{
    sqlite3_stmt *table;
    int step = SQLITE_DONE, failed = 0;
    TRY(results_prepare(c->m->out,
                        "SELECT name FROM sqlite_schema WHERE type = 'table' AND "
                        "name NOT IN ('verdict_names', 'support_sets', 'steering_sets', "
                        "'campaigns') AND name NOT GLOB 'summary_*' ORDER BY rowid",
                        &table, w));
    while (!failed && (step = sqlite3_step(table)) == SQLITE_ROW)
        failed = merge_copy_table(c, (const char *) sqlite3_column_text(table, 0), w);
    sqlite3_finalize(table);
    return failed || step == SQLITE_DONE ? failed : results_failed(c->m->out, w);
}

static int copy_run(struct merge *m, const struct source_run *from, int64_t run, struct why *w)
{
    const struct source out = { .path = m->out->path, .db = m->out->db };
    struct copy c = { .m = m, .source = from->source, .from = from->run, .run = run, .where = "" };
    int64_t targets = 0, cases = 0, first_target = 0, first_case = 0;
    TRY(merge_open(m, from->source, w));
    TRY(merge_query(&out, "SELECT max(target) + ?1 - ?1 FROM targets", 0, &targets, w));
    TRY(merge_query(&out, "SELECT max(case_id) + ?1 - ?1 FROM cases", 0, &cases, w));
    TRY(merge_query(from->source, "SELECT min(target) FROM targets WHERE run = ?1", from->run,
                    &first_target, w));
    TRY(merge_query(from->source, "SELECT min(case_id) FROM cases WHERE run = ?1", from->run,
                    &first_case, w));
    c.more_targets = targets + 1 - first_target;
    c.more_cases = cases + 1 - first_case;
    return copy_tables(&c, w);
}

/* The same set may be in several sources. */
static int copy_sets(struct results *out, const struct source *s, enum drawing_set kind,
                     struct why *w)
{
    const char *table = results_set_table(kind);
    char sql[80];
    sqlite3_stmt *row;
    int step = SQLITE_DONE, failed = 0;
    if (!merge_has_column(s, table, "digest"))
        return 0;
    snprintf(sql, sizeof sql, "SELECT digest, text FROM %s", table);
    TRY(merge_prepare(s, sql, &row, w));
    while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW)
        failed = results_keep_set(out, kind, (const char *) sqlite3_column_text(row, 0),
                                  (const char *) sqlite3_column_text(row, 1), w);
    sqlite3_finalize(row);
    return failed || step == SQLITE_DONE ? failed : database_failed(s->db, s->path, w);
}

/* ---- the new database */

static int copy_all_sets(struct merge *m, struct source *s, struct why *w)
{
    TRY(merge_open(m, s, w));
    for (int kind = 0; kind < DRAWING_SETS; kind++)
        TRY(copy_sets(m->out, s, (enum drawing_set) kind, w));
    return 0;
}

static int write_runs(struct merge *m, const char *part, struct why *w)
{
    int64_t n = 0;
    TRY(results_open(part, RESULTS_PART, &m->out, w));
    if (summary_functions(m->out->db) != SQLITE_OK)
        return results_failed(m->out, w);
    TRY(results_begin(m->out, w));
    for (size_t i = 0; i < m->n_sources; i++)
        TRY(copy_all_sets(m, &m->source[i], w));
    for (size_t i = 0; i < m->n_runs; i++) {
        const struct source_run *r = &m->run[i];
        if (!r->is_repeated)
            TRY(r->end ? merge_write_summary(m, r, ++n, w) : copy_run(m, r, ++n, w));
    }
    return results_commit(m->out, w);
}

/* Where a database is to be created: there must not be one, nor the log of one. */
static int check_new(const char *out, struct why *w)
{
    char *log = NULL;
    REQUIRE(w, access(out, F_OK) != 0,
            "%s: exists; expected the name of a new file (add to a database by merging it with "
            "the others into a new one)",
            out);
    if (asprintf(&log, "%s-wal", out) < 0)
        return why_no_memory(w);
    int failed =
        access(log, F_OK) == 0
            ? why_fail(w, WHY_INVALID,
                       "%s: exists without its database; remove it, or choose another name", log)
            : 0;
    free(log);
    return failed;
}

static int write_new(struct merge *m, const char *out, struct why *w)
{
    struct output_file f;
    TRY(check_new(out, w));
    TRY(output_file_open(out, &f, w));
    int failed = f.part ? write_runs(m, f.part, w)
                        : why_fail(w, WHY_INVALID, "%s: its folder cannot be written to", out);
    results_close(m->out);
    return output_file_close(&f, !failed, w) < 0 ? -1 : failed;
}

int results_merge(const char *const *path, size_t n, const char *out,
                  struct merge_counts *ret_counts, struct why *w)
{
    struct merge m = { .source = calloc(n, sizeof *m.source), .n_sources = n };
    struct merge_counts counts = { 0 };
    int failed = m.source ? 0 : why_no_memory(w);
    for (size_t i = 0; !failed && i < n; i++) {
        m.source[i].path = path[i];
        failed = read_source(&m, &m.source[i], w);
    }
    if (!failed) {
        size_t parts = 0;
        find_repeated(&m, &counts.n_repeated);
        failed = merge_choose_parts(&m, &parts, w);
        counts.n_repeated += parts;
    }
    if (!failed && !(counts.missing = merge_missing(&m)))
        failed = why_no_memory(w);
    if (!failed) {
        if (m.n_runs)
            qsort(m.run, m.n_runs, sizeof *m.run, by_start);
        failed = write_new(&m, out, w);
        for (size_t i = 0; i < m.n_runs; i++)
            counts.n_runs += !m.run[i].is_repeated;
        counts.n_parts = m.n_parts;
    }
    for (size_t i = 0; m.source && i < n; i++)
        sqlite3_close(m.source[i].db);
    for (size_t i = 0; i < m.n_runs; i++) {
        free(m.run[i].identity);
        free(m.run[i].started);
        free(m.run[i].finished);
    }
    free(m.run);
    free(m.part);
    free(m.source);
    if (failed)
        free(counts.missing);
    else
        *ret_counts = counts;
    return failed;
}
