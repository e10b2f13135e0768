#include "harness/store/junit.h"

#include <stdio.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/store/results_internal.h"

static void put_escaped(FILE *to, const char *text)
{
    text_put(to, TEXT_XML, text, 0);
}

static const char *column(sqlite3_stmt *s, int i)
{
    return (const char *) sqlite3_column_text(s, i);
}

/* What JUnit makes of a verdict: conforming ones without a comparison are skipped. */
enum junit_kind { PASSED, SKIPPED, FAILURE, ERROR, N_KINDS };

static enum junit_kind kind_of(const char *name)
{
    int verdict = verdict_by_name(name);

    if (verdict == VERDICT_PASS)
        return PASSED;
    if (verdict >= 0 && verdict_conforming((enum verdict) verdict))
        return SKIPPED;
    return verdict == VERDICT_FAIL || verdict == VERDICT_VIOLATION || verdict == VERDICT_FLAKY
               ? FAILURE
               : ERROR;
}

/* Appends a text below a title to the element's output, which it opens if necessary. */
static void put_output(FILE *to, const char *title, const char *text, bool *opened)
{
    if (!text)
        return;
    fputs(*opened ? "&#10;" : "      <system-out>", to);
    *opened = true;
    fprintf(to, "%s:&#10;", title);
    put_escaped(to, text);
}

/* Columns: name, verdict, why, ms, replay, confirmed, printed, backtrace. */
static void put_case(FILE *to, const char *target, sqlite3_stmt *s)
{
    static const char *const elements[N_KINDS] = {
        [SKIPPED] = "skipped",
        [FAILURE] = "failure",
        [ERROR] = "error",
    };
    enum junit_kind kind = kind_of(column(s, 1));
    const char *element = elements[kind];
    bool opened = false;

    fputs("    <testcase name=\"", to);
    put_escaped(to, column(s, 0));
    fputs("\" classname=\"", to);
    put_escaped(to, target);
    fprintf(to, "\" time=\"%.6f\"", sqlite3_column_double(s, 3) * 1e-3);
    if (kind == PASSED) {
        fputs("/>\n", to);
        return;
    }
    fprintf(to, ">\n      <%s message=\"%s: ", element, column(s, 1));
    put_escaped(to, column(s, 2));
    fputs("\">", to);
    put_escaped(to, column(s, 4));
    fprintf(to, "</%s>\n", element);
    put_output(to, "run again", column(s, 5), &opened);
    put_output(to, "printed", column(s, 6), &opened);
    put_output(to, "backtrace", column(s, 7), &opened);
    fputs(opened ? "</system-out>\n    </testcase>\n" : "    </testcase>\n", to);
}

static int put_suite(struct results *r, FILE *to, int64_t target, const char *uri, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT c.name, v.verdict, v.why, v.ms, v.replay, v.confirmed, "
                        "v.printed, v.backtrace FROM verdicts v "
                        "JOIN cases c USING (case_id) WHERE v.target = ?1 AND c.run = ?2 "
                        "ORDER BY c.ordinal",
                        &s, w));
    sqlite3_bind_int64(s, 1, target);
    sqlite3_bind_int64(s, 2, r->run);
    int step;
    while ((step = sqlite3_step(s)) == SQLITE_ROW)
        put_case(to, uri, s);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

/* The numbers of a suite, one target, and the end of its tag. */
static int put_counts(struct results *r, FILE *to, int64_t target, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT verdict, count(*), sum(ms) / 1000, sum(checked) FROM verdicts "
                        "WHERE target = ?1 GROUP BY verdict",
                        &s, w));
    sqlite3_bind_int64(s, 1, target);
    int step, all = 0, n[N_KINDS] = { 0 };
    int64_t compared = 0;
    double seconds = 0;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        n[kind_of(column(s, 0))] += sqlite3_column_int(s, 1);
        all += sqlite3_column_int(s, 1);
        seconds += sqlite3_column_double(s, 2);
        compared += sqlite3_column_int64(s, 3);
    }
    fprintf(to,
            " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.6f\">\n"
            "    <properties>\n      <property name=\"elements compared\" value=\"%lld\"/>\n"
            "    </properties>\n",
            all, n[FAILURE], n[ERROR], n[SKIPPED], seconds, (long long) compared);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

static int put_suites(struct results *r, FILE *to, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r, "SELECT target, uri FROM targets WHERE run = ?1 ORDER BY ordinal", &s,
                        w));
    sqlite3_bind_int64(s, 1, r->run);
    int step = SQLITE_DONE, failed = 0;
    while (!failed && (step = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t target = sqlite3_column_int64(s, 0);
        fputs("  <testsuite name=\"", to);
        put_escaped(to, column(s, 1));
        fputs("\"", to);
        failed = put_counts(r, to, target, w);
        if (!failed)
            failed = put_suite(r, to, target, column(s, 1), w);
        fputs("  </testsuite>\n", to);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

/* A suite of its own: one error for each file that could not be loaded. */
static int put_unloaded(struct results *r, FILE *to, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT file, why, count(*) OVER () FROM unloaded_files WHERE run = ?1 "
                        "ORDER BY ordinal",
                        &s, w));
    sqlite3_bind_int64(s, 1, r->run);
    int step, n = 0;
    for (; (step = sqlite3_step(s)) == SQLITE_ROW; n++) {
        if (n == 0)
            fprintf(to,
                    "  <testsuite name=\"files that could not be loaded\" tests=\"%d\" "
                    "failures=\"0\" errors=\"%d\" skipped=\"0\" time=\"0\">\n",
                    sqlite3_column_int(s, 2), sqlite3_column_int(s, 2));
        fputs("    <testcase name=\"", to);
        put_escaped(to, column(s, 0));
        fputs("\" classname=\"load\" time=\"0\">\n      <error message=\"", to);
        put_escaped(to, column(s, 1));
        fputs("\"/>\n    </testcase>\n", to);
    }
    fputs(n ? "  </testsuite>\n" : "", to);
    sqlite3_finalize(s);
    return step == SQLITE_DONE ? 0 : results_failed(r, w);
}

int junit_write(struct results *r, const char *path, struct why *w)
{
    struct output_file f;
    TRY(output_file_open(path, &f, w));
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halcyon\">\n", f.to);
    int failed = put_suites(r, f.to, w);
    if (!failed)
        failed = put_unloaded(r, f.to, w);
    fputs("</testsuites>\n", f.to);
    return output_file_close(&f, !failed, w) < 0 ? -1 : failed;
}
