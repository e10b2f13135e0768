#include "harness/store/junit.h"

#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/store/results_internal.h"

int junit_check(const char *path, struct why *w)
{
    char folder[4096];
    REQUIRE(w, strlen(path) < sizeof folder, "%.100s...: path is too long", path);
    strcpy(folder, path);
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return why_fail(w, WHY_INVALID, "%s: %s", path, strerror(EISDIR));
    const char *where = access(path, F_OK) == 0 ? path : dirname(folder);
    if (access(where, W_OK) < 0)
        return why_fail(w, WHY_INVALID, "%s: %s", path, strerror(errno));
    return 0;
}

static void put_escaped(FILE *to, const char *text)
{
    for (; text && *text; text++)
        switch (*text) {
        case '&': fputs("&amp;", to); break;
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '"': fputs("&quot;", to); break;
        case '\n': fputs("&#10;", to); break;
        default: putc(*text, to); break;
        }
}

static const char *column(sqlite3_stmt *s, int i)
{
    return (const char *) sqlite3_column_text(s, i);
}

/* What JUnit makes of a verdict: conforming ones without a result are skipped. */
enum junit_kind { PASSED, SKIPPED, FAILURE, ERROR, N_KINDS };

static enum junit_kind kind_of(const char *name)
{
    int verdict = verdict_by_name(name);

    if (verdict == VERDICT_PASS)
        return PASSED;
    if (verdict >= 0 && verdict_conforming((enum verdict) verdict))
        return SKIPPED;
    return verdict == VERDICT_FAIL || verdict == VERDICT_VIOLATION ? FAILURE : ERROR;
}

/* Columns: name, verdict, why, ms, replay. */
static void put_case(FILE *to, const char *target, sqlite3_stmt *s)
{
    static const char *const elements[N_KINDS] = {
        [SKIPPED] = "skipped",
        [FAILURE] = "failure",
        [ERROR] = "error",
    };
    enum junit_kind kind = kind_of(column(s, 1));
    const char *element = elements[kind];

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
    fprintf(to, "</%s>\n    </testcase>\n", element);
}

static int put_suite(struct results *r, FILE *to, int64_t target, const char *uri, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT c.name, v.verdict, v.why, v.ms, v.replay FROM verdicts v "
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

/* The numbers of a suite, one target. */
static int put_counts(struct results *r, FILE *to, int64_t target, struct why *w)
{
    sqlite3_stmt *s;
    TRY(results_prepare(r,
                        "SELECT verdict, count(*), sum(ms) / 1000 FROM verdicts WHERE target = ?1 "
                        "GROUP BY verdict",
                        &s, w));
    sqlite3_bind_int64(s, 1, target);
    int step, all = 0, n[N_KINDS] = { 0 };
    double seconds = 0;
    while ((step = sqlite3_step(s)) == SQLITE_ROW) {
        n[kind_of(column(s, 0))] += sqlite3_column_int(s, 1);
        all += sqlite3_column_int(s, 1);
        seconds += sqlite3_column_double(s, 2);
    }
    fprintf(to, " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" time=\"%.6f\"", all,
            n[FAILURE], n[ERROR], n[SKIPPED], seconds);
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
        fputs(">\n", to);
        if (!failed)
            failed = put_suite(r, to, target, column(s, 1), w);
        fputs("  </testsuite>\n", to);
    }
    sqlite3_finalize(s);
    return failed || step == SQLITE_DONE ? failed : results_failed(r, w);
}

int junit_write(struct results *r, const char *path, struct why *w)
{
    FILE *to = fopen(path, "we");
    if (!to)
        return why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halcyon\">\n", to);
    int failed = put_suites(r, to, w);
    fputs("</testsuites>\n", to);
    bool bad = ferror(to);
    if ((fclose(to) != 0 || bad) && !failed)
        return why_fail(w, WHY_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    return failed;
}
