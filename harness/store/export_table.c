/* Writes a table or view of the results database as CSV. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/store/results_internal.h"
#include "harness/store/upkeep.h"
#include "reports/database.h"

/* Fails unless there is a table or view of this name. */
static int check_name(struct results *r, const char *table, struct why *w)
{
    struct suggestion near = suggest_for(table);
    char text[SUGGEST_TEXT], name[64][64];
    sqlite3_stmt *s;
    int version = 0, n = 0, step;
    bool exists = false;
    TRY(database_version(r->db, r->path, &version, w));
    TRY(results_prepare(r,
                        "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND name "
                        "NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name",
                        &s, w));
    while ((step = sqlite3_step(s)) == SQLITE_ROW && n < COUNT(name)) {
        snprintf(name[n], sizeof name[n], "%s", (const char *) sqlite3_column_text(s, 0));
        exists |= !strcmp(name[n], table);
        suggest_candidate(&near, name[n++]);
    }
    sqlite3_finalize(s);
    if (step != SQLITE_DONE && step != SQLITE_ROW)
        return results_failed(r, w);
    REQUIRE(w, exists || version == DATABASE_VERSION,
            "%s: has schema version %d, and no table or view '%s'; 'halcyon db compact' upgrades "
            "it to version %d",
            r->path, version, table, DATABASE_VERSION);
    REQUIRE(w, exists, "%s: there is no table or view '%s'%s", r->path, table,
            near.name ? suggest_text(&near, "", text) : " (docs/database.md lists them)");
    return 0;
}

/* SELECT of all columns, compressed texts unpacked. */
static int put_select(struct results *r, const char *table, int64_t run, struct buffer *sql,
                      struct why *w)
{
    sqlite3_stmt *s;
    bool has_run = false;
    int step, n = 0;
    TRY(results_prepare(r, "SELECT name FROM pragma_table_info(?1)", &s, w));
    sqlite3_bind_text(s, 1, table, -1, SQLITE_TRANSIENT);
    buffer_puts(sql, "SELECT ");
    for (; (step = sqlite3_step(s)) == SQLITE_ROW; n++) {
        const char *name = (const char *) sqlite3_column_text(s, 0);
        has_run |= !strcmp(name, "run");
        bool packed = results_may_be_packed(name);
        buffer_printf(sql, packed ? "%stext_of(\"%s\")" : "%s\"%s\"", n ? ", " : "", name);
        buffer_printf(sql, packed ? " AS \"%s\"" : "%.0s", name);
    }
    sqlite3_finalize(s);
    if (step != SQLITE_DONE)
        return results_failed(r, w);
    REQUIRE(w, has_run || !run, "--run: %s has no column run", table);
    buffer_printf(sql, " FROM \"%s\"%s", table, run ? " WHERE run = ?1" : "");
    return sql->failed ? why_no_memory(w) : 0;
}

static void put_real(double value, FILE *to)
{
    if (isinf(value))
        fputs(value < 0 ? "-Infinity" : "Infinity", to);
    else
        fprintf(to, "%.17g", value);
}

static void put_field(sqlite3_stmt *s, int column, FILE *to)
{
    switch (sqlite3_column_type(s, column)) {
    case SQLITE_NULL: break;
    case SQLITE_INTEGER: fprintf(to, "%lld", (long long) sqlite3_column_int64(s, column)); break;
    case SQLITE_FLOAT: put_real(sqlite3_column_double(s, column), to); break;
    default:
        putc('"', to);
        text_put(to, TEXT_CSV, (const char *) sqlite3_column_text(s, column), 0);
        putc('"', to);
    }
}

int results_export(struct results *r, const char *table, int64_t run, FILE *to, struct why *w)
{
    struct buffer sql = { 0 };
    sqlite3_stmt *s = NULL;
    int step = SQLITE_ERROR;
    TRY(check_name(r, table, w));
    if (run)
        TRY(database_check_run(r->db, r->path, run, w));
    int failed = put_select(r, table, run, &sql, w);
    failed = failed ? failed : results_prepare(r, buffer_text(&sql), &s, w);
    buffer_done(&sql);
    TRY(failed);
    sqlite3_bind_int64(s, 1, run);
    const int n = sqlite3_column_count(s);
    for (int i = 0; i < n; i++)
        fprintf(to, "%s%s", i ? "," : "", sqlite3_column_name(s, i));
    putc('\n', to);
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        for (int i = 0; i < n; i++) {
            put_field(s, i, to);
            putc(i < n - 1 ? ',' : '\n', to);
        }
    failed = step == SQLITE_DONE ? 0 : results_failed(r, w);
    sqlite3_finalize(s);
    return failed;
}
