/* The report: one self-contained HTML page about the results database.
 *
 * It covers one run or all runs; of a case that was run on a target several times, only the newest
 * verdict.  report_head.c writes the head of the page, report_totals.c the tables of totals,
 * report_failures.c the failures; the queries that they share are here. */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "reports/database.h"
#include "reports/report_internal.h"
#include "reports/reports.h"

extern const char report_css[], report_js[];

const char *const report_verdict[N_VERDICTS] = { "pass", "undecided", "waived",  "unsupported",
                                                 "fail", "violation", "refused", "crash",
                                                 "hang", "flaky",     "error" };

/* Gives a database of a version before 5 the columns of version 5 that the page shows; %s: those of
 * version 2, which version 1 lacks. */
static const char as_version_5[] =
    "CREATE TEMP VIEW details AS SELECT *%s, NULL AS blamed_operation, NULL AS blamed_index, "
    "NULL AS blamed_place, NULL AS blamed_expected, NULL AS blamed_actual, NULL AS blamed_bound, "
    "NULL AS blamed_ratio, NULL AS blamed_count, NULL AS blamed_graph, NULL AS blamed_type, "
    "NULL AS blamed_output, NULL AS blamed_why, NULL AS bucket, NULL AS shrunk FROM main.details";
static const char as_version_2[] = ", NULL AS confirmed, NULL AS printed, NULL AS backtrace";

/* Gives a database of version 1 or 2 the table of version 3. */
static const char as_version_3[] =
    "CREATE TEMP VIEW unloaded_files AS SELECT 0 AS run, 0 AS ordinal, '' AS file, '' AS why "
    "WHERE 0";

/* Before version 4, names of random cases lack the options that the graphs were generated with. */
static const char graphs_before_4[] =
    ", (SELECT CASE WHEN json_valid(options) THEN options ->> '$.graphs' END FROM runs "
    "WHERE runs.run = d.run)";

/* Creates the table of verdicts that the page covers.  %s: what else distinguishes cases. */
static const char shown[] =
    "CREATE TEMP TABLE shown AS SELECT max(d.run) AS run, d.case_id, d.target_ordinal, d.uri, "
    "d.name, CASE WHEN " PASSED_UNDECIDED " THEN 'undecided' ELSE d.verdict END AS verdict, "
    "d.conforming, d.ms, d.checked FROM details d WHERE %lld IN (0, d.run) "
    "GROUP BY d.name, d.file, d.uri%s";

/* --- queries, and the formatting of their values */

static int fail_query(const struct report *r, struct why *w)
{
    return database_failed(r->db, r->path, w);
}

int report_each(const struct report *r, const char *sql, int64_t number, report_row *each,
                void *user, struct why *w)
{
    sqlite3_stmt *row;
    int step, failed = 0;
    if (sqlite3_prepare_v2(r->db, sql, -1, &row, NULL) != SQLITE_OK)
        return fail_query(r, w);
    if (sqlite3_bind_parameter_count(row))
        sqlite3_bind_int64(row, 1, number);
    while ((step = sqlite3_step(row)) == SQLITE_ROW && !failed)
        failed = each(r, row, user, w);
    if (!failed && step != SQLITE_DONE)
        failed = fail_query(r, w);
    sqlite3_finalize(row);
    return failed;
}

static int take_number(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) r, (void) w;
    *(int64_t *) user = sqlite3_column_int64(row, 0);
    return 0;
}

int report_number(const struct report *r, const char *sql, int64_t *ret_number, struct why *w)
{
    return report_each(r, sql, 0, take_number, ret_number, w);
}

void report_put_column(const struct report *r, sqlite3_stmt *row, int i)
{
    text_put(r->to, TEXT_HTML, (const char *) sqlite3_column_text(row, i), 0);
}

void report_put_count(const struct report *r, int64_t n)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRId64, n);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            fputc(',', r->to);
        fputc(digits[i], r->to);
    }
}

void report_put_ms(const struct report *r, double ms)
{
    if (ms < 1)
        fprintf(r->to, "%.0f \xc2\xb5s", ms * 1000);
    else if (ms < 1000)
        fprintf(r->to, "%.1f ms", ms);
    else if (ms < 120e3)
        fprintf(r->to, "%.1f s", ms / 1000);
    else
        fprintf(r->to, "%.1f min", ms / 60e3);
}

/* --- the page */

static int open_results(struct report *r, int64_t run, struct why *w)
{
    int64_t runs, newest;
    int version;
    TRY(database_read(r->path, &r->db, w));
    TRY(database_version(r->db, r->path, &version, w));
    REQUIRE(w, version, "%s: the database is empty", r->path);
    char view[sizeof(as_version_5) + sizeof(as_version_2)];
    snprintf(view, sizeof(view), as_version_5, version == 1 ? as_version_2 : "");
    if (version < 5 && sqlite3_exec(r->db, view, NULL, NULL, NULL) != SQLITE_OK)
        return fail_query(r, w);
    if (version < 3 && sqlite3_exec(r->db, as_version_3, NULL, NULL, NULL) != SQLITE_OK)
        return fail_query(r, w);
    char sql[sizeof(shown) + sizeof(graphs_before_4) + 24], count[96];
    snprintf(count, sizeof(count), "SELECT count(*) FROM runs WHERE %lld IN (0, run)",
             (long long) run);
    TRY(report_number(r, count, &runs, w));
    TRY(report_number(r, "SELECT coalesce(max(run), 0) FROM runs", &newest, w));
    REQUIRE(w, runs > 0 || !run, "%s: has no run %lld; the newest is %lld", r->path,
            (long long) run, (long long) newest);
    snprintf(sql, sizeof(sql), shown, (long long) run, version < 4 ? graphs_before_4 : "");
    return sqlite3_exec(r->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail_query(r, w);
}

static int count_verdict(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    struct report *counts = user;
    const char *verdict = (const char *) sqlite3_column_text(row, 0);
    int64_t n = sqlite3_column_int64(row, 1);
    bool conforming = sqlite3_column_int(row, 2);
    (void) r, (void) w;
    counts->n += n;
    counts->n_conforming += conforming ? n : 0;
    for (int i = 0; i < N_VERDICTS; i++)
        if (verdict && !strcmp(verdict, report_verdict[i])) {
            counts->count[i] = n;
            counts->conforming[i] = conforming;
        }
    return 0;
}

static int put_page(const struct report *r, int64_t run, struct why *w)
{
    fprintf(r->to,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<title>Halcyon report</title>\n<style>\n%s</style>\n</head>\n<body>\n<main>\n",
            report_css);
    TRY(report_put_head(r, run, w));
    TRY(report_put_totals(r, w));
    TRY(report_put_failures(r, w));
    fprintf(r->to, "</main>\n<script>\n%s</script>\n</body>\n</html>\n", report_js);
    return 0;
}

static int write_page(struct report *r, const char *dir, int64_t run, struct why *w)
{
    char path[4096];
    struct output_file f;
    int n = snprintf(path, sizeof(path), "%s/index.html", dir);
    REQUIRE(w, n > 0 && n < (int) sizeof(path), "%.80s...: path is too long", dir);
    bool made = mkdir(dir, 0777) == 0;
    if (!made && errno != EEXIST)
        return why_file(w, dir, errno);
    int failed = output_file_open(path, &f, w);
    if (!failed) {
        r->to = f.to;
        failed = put_page(r, run, w);
        if (output_file_close(&f, !failed, w) < 0)
            failed = -1;
    }
    if (failed && made)
        rmdir(dir);
    return failed;
}

int report_write(const char *db_path, const char *dir, int64_t run, struct why *w)
{
    struct report r = { .path = db_path };
    int failed = open_results(&r, run, w);
    if (!failed)
        failed = report_each(&r, "SELECT verdict, count(*), conforming FROM shown GROUP BY verdict",
                             0, count_verdict, &r, w);
    if (!failed)
        failed = write_page(&r, dir, run, w);
    sqlite3_close(r.db);
    return failed;
}
