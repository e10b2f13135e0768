/* Rows are copied from a connection to each source to one to the new database, table by table, with
 * the columns that both have.  A run's targets and cases keep their order and get new identifiers.
 */
#include "harness/store/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"
#include "reports/database.h"

struct source {
    const char *path;
    sqlite3 *db;
};

/* A run of a source. */
struct source_run {
    const struct source *source;
    int64_t run, n_cases; /* cases that are recorded */
    char *identity, *started, *finished;
    bool is_repeated; /* another copy is written instead */
};

struct merge {
    struct source *source;
    size_t n_sources;
    struct source_run *run;
    size_t n_runs, capacity;
    struct results *out;
};

/* ---- statements */

static int prepare(const struct source *s, const char *sql, sqlite3_stmt **ret, struct why *w)
{
    return sqlite3_prepare_v2(s->db, sql, -1, ret, NULL) == SQLITE_OK
               ? 0
               : database_failed(s->db, s->path, w);
}

/* The first column of the first row, 0 for none. */
static int query(const struct source *s, const char *sql, int64_t run, int64_t *ret, struct why *w)
{
    sqlite3_stmt *row;
    TRY(prepare(s, sql, &row, w));
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
    TRY(prepare(s, "PRAGMA quick_check(1)", &row, w));
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

static int keep_run(struct merge *m, const struct source *s, sqlite3_stmt *row, struct why *w)
{
    if (m->n_runs == m->capacity) {
        size_t capacity = m->capacity ? 2 * m->capacity : 16;
        struct source_run *run = realloc(m->run, capacity * sizeof *run);
        if (!run)
            return why_no_memory(w);
        m->run = run;
        m->capacity = capacity;
    }
    struct source_run r = { .source = s,
                            .run = sqlite3_column_int64(row, 0),
                            .identity = column_copy(row, 1),
                            .started = column_copy(row, 2),
                            .finished = column_copy(row, 3),
                            .n_cases = sqlite3_column_int64(row, 4) };
    m->run[m->n_runs++] = r;
    return r.identity && r.started && r.finished ? 0 : why_no_memory(w);
}

/* Opens a source and reads its runs; a transaction keeps its content until it is copied. */
static int read_source(struct merge *m, struct source *s, struct why *w)
{
    sqlite3_stmt *row;
    int step = SQLITE_DONE, failed = 0;
    TRY(database_read(s->path, &s->db, w));
    if (sqlite3_exec(s->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(s->db, s->path, w);
    TRY(check_source(s, w));
    TRY(prepare(s,
                "SELECT run, " RUN_IDENTITY ", started, finished, (SELECT count(*) FROM cases c "
                "WHERE c.run = r.run) FROM runs r ORDER BY run",
                &row, w));
    while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW)
        failed = keep_run(m, s, row, w);
    sqlite3_finalize(row);
    return failed || step == SQLITE_DONE ? failed : database_failed(s->db, s->path, w);
}

/* Copies of a run that was copied before it was finished are the same run. */
static bool is_same(const struct source_run *a, const struct source_run *b)
{
    return !strcmp(a->identity, b->identity) &&
           (!*a->finished || !*b->finished || !strcmp(a->finished, b->finished));
}

static bool is_better(const struct source_run *a, const struct source_run *b)
{
    return *a->finished && *b->finished   ? false
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
    const struct source_run *x = a, *y = b;
    int order = strcmp(x->started, y->started);
    if (order)
        return order;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->run < y->run ? -1 : x->run > y->run;
}

/* ---- copying */

/* A run on its way: what is added to its identifiers. */
struct copy {
    struct merge *m;
    const struct source_run *from;
    int64_t run, more_targets, more_cases;
};

static bool has_column(const struct source *s, const char *table, const char *column)
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
    else if (results_may_be_packed(name)) /* a source may be older than compression */
        buffer_printf(sql, "iif(typeof(%s) = 'text', packed(%s), %s)", name, name, name);
    else
        buffer_printf(sql, "\"%s\"", name);
}

/* SELECT for the source and INSERT for the new database; 0 columns: the source lacks the table. */
static int make_statements(const struct copy *c, const char *table, struct buffer *select,
                           struct buffer *insert, int *ret_columns, struct why *w)
{
    const struct source *s = c->from->source;
    struct buffer values = { 0 };
    sqlite3_stmt *row;
    int n = 0;
    TRY(results_prepare(c->m->out, "SELECT name FROM pragma_table_info(?1)", &row, w));
    sqlite3_bind_text(row, 1, table, -1, SQLITE_TRANSIENT);
    buffer_puts(select, "SELECT ");
    buffer_printf(insert, "INSERT INTO %s (", table);
    while (sqlite3_step(row) == SQLITE_ROW) {
        const char *name = (const char *) sqlite3_column_text(row, 0);
        if (!has_column(s, table, name))
            continue;
        buffer_puts(select, n ? ", " : "");
        put_column(c, name, select);
        buffer_printf(insert, "%s\"%s\"", n ? ", " : "", name);
        buffer_printf(&values, "%s?%d", n ? ", " : "", n + 1);
        n++;
    }
    sqlite3_finalize(row);
    buffer_printf(insert, ") VALUES (%s)", buffer_text(&values));
    buffer_printf(select,
                  has_column(s, table, "run")
                      ? " FROM %s WHERE run = ?1"
                      : " FROM %s WHERE case_id IN (SELECT case_id FROM cases WHERE run = ?1)",
                  table);
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
    return why_fail(w, WHY_INVALID, "%s: run %lld, table %s: %s", c->from->source->path,
                    (long long) c->from->run, table, sqlite3_errmsg(c->m->out->db));
}

static int copy_rows(const struct copy *c, const char *table, sqlite3_stmt *from, sqlite3_stmt *to,
                     int columns, struct why *w)
{
    int step;
    sqlite3_bind_int64(from, 1, c->from->run);
    while ((step = sqlite3_step(from)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++)
            sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
        if (sqlite3_step(to) != SQLITE_DONE)
            return insert_failed(c, table, w);
        sqlite3_reset(to);
    }
    const struct source *s = c->from->source;
    return step == SQLITE_DONE ? 0 : database_failed(s->db, s->path, w);
}

static int copy_table(const struct copy *c, const char *table, struct why *w)
{
    struct buffer select = { 0 }, insert = { 0 };
    sqlite3_stmt *from = NULL, *to = NULL;
    int columns = 0;
    int failed = make_statements(c, table, &select, &insert, &columns, w);
    if (!failed && columns)
        failed = prepare(c->from->source, buffer_text(&select), &from, w);
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
                        "'campaigns') ORDER BY rowid",
                        &table, w));
    while (!failed && (step = sqlite3_step(table)) == SQLITE_ROW)
        failed = copy_table(c, (const char *) sqlite3_column_text(table, 0), w);
    sqlite3_finalize(table);
    return failed || step == SQLITE_DONE ? failed : results_failed(c->m->out, w);
}

static int copy_run(struct merge *m, const struct source_run *from, int64_t run, struct why *w)
{
    const struct source out = { m->out->path, m->out->db };
    struct copy c = { .m = m, .from = from, .run = run };
    int64_t targets = 0, cases = 0, first_target = 0, first_case = 0;
    TRY(query(&out, "SELECT max(target) + ?1 - ?1 FROM targets", 0, &targets, w));
    TRY(query(&out, "SELECT max(case_id) + ?1 - ?1 FROM cases", 0, &cases, w));
    TRY(query(from->source, "SELECT min(target) FROM targets WHERE run = ?1", from->run,
              &first_target, w));
    TRY(query(from->source, "SELECT min(case_id) FROM cases WHERE run = ?1", from->run, &first_case,
              w));
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
    if (!has_column(s, table, "digest"))
        return 0;
    snprintf(sql, sizeof sql, "SELECT digest, text FROM %s", table);
    TRY(prepare(s, sql, &row, w));
    while (!failed && (step = sqlite3_step(row)) == SQLITE_ROW)
        failed = results_keep_set(out, kind, (const char *) sqlite3_column_text(row, 0),
                                  (const char *) sqlite3_column_text(row, 1), w);
    sqlite3_finalize(row);
    return failed || step == SQLITE_DONE ? failed : database_failed(s->db, s->path, w);
}

/* ---- the new database */

static int write_runs(struct merge *m, const char *part, struct why *w)
{
    int64_t n = 0;
    TRY(results_open(part, RESULTS_PART, &m->out, w));
    TRY(results_begin(m->out, w));
    for (size_t i = 0; i < m->n_sources; i++)
        for (int kind = 0; kind < DRAWING_SETS; kind++)
            TRY(copy_sets(m->out, &m->source[i], (enum drawing_set) kind, w));
    for (size_t i = 0; i < m->n_runs; i++)
        if (!m->run[i].is_repeated)
            TRY(copy_run(m, &m->run[i], ++n, w));
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
        find_repeated(&m, &counts.n_repeated);
        if (m.n_runs)
            qsort(m.run, m.n_runs, sizeof *m.run, by_start);
        failed = write_new(&m, out, w);
        counts.n_runs = m.n_runs - counts.n_repeated;
    }
    for (size_t i = 0; m.source && i < n; i++)
        sqlite3_close(m.source[i].db);
    for (size_t i = 0; i < m.n_runs; i++) {
        free(m.run[i].identity);
        free(m.run[i].started);
        free(m.run[i].finished);
    }
    free(m.run);
    free(m.source);
    if (!failed)
        *ret_counts = counts;
    return failed;
}
