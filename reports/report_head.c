/* The head of the report: whether all verdicts conform, counts of verdicts, and the list of runs.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <time.h>

#include "reports/report_internal.h"

/* The rows of unloaded_files that the page shows: of runs of the same cases the newest one's. */
#define SHOWN_FILES                                                                                \
    "unloaded_files WHERE ?1 = run OR ?1 = 0 AND run IN (SELECT max(run) FROM runs GROUP BY "      \
    "kind, "                                                                                       \
    "options)"

static int take_count(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) r, (void) w;
    *(int64_t *) user = sqlite3_column_int64(row, 0);
    return 0;
}

static int count_unloaded(const struct report *r, int64_t run, int64_t *ret_n, struct why *w)
{
    return report_each(r, "SELECT count(*) FROM " SHOWN_FILES, run, take_count, ret_n, w);
}

static int put_state(const struct report *r, int64_t run, struct why *w)
{
    int64_t missing, undecided, unloaded, all = r->n, bad = all - r->n_conforming;
    time_t now = time(NULL);
    struct tm tm;
    char written[64];
    TRY(report_number(r,
                      "SELECT count(*) FROM runs WHERE finished IS NULL AND run IN "
                      "(SELECT run FROM shown)",
                      &missing, w));
    TRY(report_number(r, "SELECT count(*) FROM shown WHERE verdict = 'undecided'", &undecided, w));
    TRY(count_unloaded(r, run, &unloaded, w));
    fprintf(r->to, "<div class=\"state\"><span class=\"light %s\"></span><h1>",
            bad || !all || missing || unloaded ? "bad" : "good");
    if (!all) {
        fputs("Nothing was run", r->to);
    } else if (!bad) {
        fputs("All ", r->to);
        report_put_count(r, all);
        fputs(missing ? " verdicts so far conform" : " verdicts conform", r->to);
    } else {
        report_put_count(r, bad);
        fputs(" of ", r->to);
        report_put_count(r, all);
        fputs(" verdicts do not conform", r->to);
    }
    fputs("</h1></div>\n<p class=\"soft\">Halcyon report, written ", r->to);
    if (gmtime_r(&now, &tm) && strftime(written, sizeof(written), "%Y-%m-%d %H:%M UTC", &tm))
        fputs(written, r->to);
    fputs(all ? ". All verdicts are counted below, conforming ones included." : ".", r->to);
    if (missing)
        fputs(" <b>A run did not finish: cases are missing.</b>", r->to);
    if (unloaded) {
        fputs(" <b>", r->to);
        report_put_count(r, unloaded);
        fputs(unloaded == 1 ? " file" : " files", r->to);
        fputs(" could not be loaded.</b>", r->to);
    }
    fputs("</p>\n", r->to);
    if (undecided) {
        fputs("<p class=\"soft\"><b>", r->to);
        report_put_count(r, undecided);
        fputs(" undecided</b>: the driver followed the HAL contract, but no element could be "
              "compared.</p>\n",
              r->to);
    }
    return 0;
}

static void put_tile(const struct report *r, const char *name, bool verdict, int64_t n)
{
    fprintf(r->to, "<div class=\"tile%s\"><b>", n ? "" : " none");
    report_put_count(r, n);
    fprintf(r->to, "</b><i class=\"%s\"></i><span>%s</span></div>\n", verdict ? name : "", name);
}

static int put_tiles(const struct report *r, struct why *w)
{
    int64_t n;
    fputs("<div class=\"tiles\">\n", r->to);
    TRY(report_number(r, "SELECT count(DISTINCT case_id) FROM shown", &n, w));
    put_tile(r, "cases", false, n);
    TRY(report_number(r, "SELECT count(DISTINCT uri) FROM shown", &n, w));
    put_tile(r, "targets", false, n);
    TRY(report_number(r, "SELECT coalesce(sum(checked), 0) FROM shown", &n, w));
    put_tile(r, "elements compared", false, n);
    for (int i = 0; i < N_VERDICTS; i++)
        put_tile(r, report_verdict[i], true, r->count[i]);
    fputs("</div>\n", r->to);
    return 0;
}

/* run, started, command, judge, version, seconds, n_cases, done, targets, finished */
static int put_run(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    int64_t planned = sqlite3_column_int64(row, 6), done = sqlite3_column_int64(row, 7);
    fputs("<tr><td class=\"n\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td><td class=\"key\">", r->to);
    report_put_column(r, row, 1);
    fputs("</td><td class=\"break mono\">", r->to);
    report_put_column(r, row, 2);
    fputs("</td><td>", r->to);
    report_put_column(r, row, 3);
    fputs("</td><td>", r->to);
    report_put_column(r, row, 4);
    fputs("</td><td class=\"n\">", r->to);
    report_put_count(r, done);
    if (done < planned) {
        fputs(" of ", r->to);
        report_put_count(r, planned);
    }
    fputs("</td><td class=\"n\">", r->to);
    report_put_ms(r, sqlite3_column_double(row, 5) * 1000);
    fputs(sqlite3_column_type(row, 8) == SQLITE_NULL ? "<br>not finished" : "", r->to);
    fputs("</td></tr>\n", r->to);
    return 0;
}

static int put_runs(const struct report *r, int64_t run, struct why *w)
{
    fputs("<h2>Runs</h2>\n<div class=\"card scroll\"><table>\n<thead><tr><th class=\"n\">run</th>"
          "<th>started</th><th>command</th><th>judge</th><th>version</th><th class=\"n\">cases</th>"
          "<th class=\"n\">time</th></tr></thead>\n<tbody>\n",
          r->to);
    TRY(report_each(
        r,
        "SELECT run, replace(substr(started, 1, 19), 'T', ' '), command, judge, version, "
        "seconds, n_cases, (SELECT count(*) FROM cases c WHERE c.run = runs.run AND "
        "EXISTS (SELECT 1 FROM verdicts v WHERE v.case_id = c.case_id)), finished "
        "FROM runs WHERE ?1 IN (0, run) ORDER BY run",
        run, put_run, NULL, w));
    fputs("</tbody></table></div>\n", r->to);
    return 0;
}

/* run, why */
static int put_file(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr><td class=\"n\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td><td class=\"break mono\">", r->to);
    report_put_column(r, row, 1);
    fputs("</td></tr>\n", r->to);
    return 0;
}

static int put_unloaded(const struct report *r, int64_t run, struct why *w)
{
    enum { MOST_FILES = 1000 };
    char sql[300];
    int64_t n;
    TRY(count_unloaded(r, run, &n, w));
    if (!n)
        return 0;
    fputs("<h2>Files that could not be loaded</h2>\n<div class=\"card scroll\"><table>\n<thead>"
          "<tr><th class=\"n\">run</th><th>file, place and reason</th></tr></thead>\n<tbody>\n",
          r->to);
    snprintf(sql, sizeof(sql),
             "SELECT run, why FROM " SHOWN_FILES " ORDER BY run, ordinal LIMIT %d", MOST_FILES);
    TRY(report_each(r, sql, run, put_file, NULL, w));
    fputs("</tbody></table></div>\n", r->to);
    if (n > MOST_FILES)
        fprintf(r->to, "<p class=\"soft\">The first %d; the database has all of them.</p>\n",
                MOST_FILES);
    return 0;
}

/* uri, digest, text */
static int put_support(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<details class=\"spec\"><summary class=\"soft\">", r->to);
    report_put_column(r, row, 0);
    fputs(": support set ", r->to);
    report_put_column(r, row, 1);
    fputs("</summary><pre>", r->to);
    report_put_column(r, row, 2);
    fputs("</pre></details>\n", r->to);
    return 0;
}

/* The support sets of the page's runs. */
#define SHOWN_SETS                                                                                 \
    "runs r, json_each(CASE WHEN json_valid(r.options) THEN r.options ELSE '{}' END, '$.for') f "  \
    "JOIN targets t ON t.run = r.run AND t.ordinal = f.key "                                       \
    "JOIN support_sets s ON s.digest = f.value WHERE ?1 IN (0, r.run) "

/* What random graphs were drawn for: what the targets answered that they support. */
static int put_supports(const struct report *r, int64_t run, struct why *w)
{
    int64_t n;
    TRY(report_number(r, "SELECT count(*) FROM sqlite_master WHERE name = 'support_sets'", &n, w));
    if (n)
        TRY(report_each(r, "SELECT count(*) FROM " SHOWN_SETS, run, take_count, &n, w));
    if (!n)
        return 0;
    fputs(
        "<h2>Drawn for<small>what targets support; random graphs whose names have for=DIGEST were "
        "drawn for it</small></h2>\n<div class=\"card\">\n",
        r->to);
    TRY(report_each(
        r, "SELECT DISTINCT t.uri, s.digest, s.text FROM " SHOWN_SETS "ORDER BY t.uri, s.digest",
        run, put_support, NULL, w));
    fputs("</div>\n", r->to);
    return 0;
}

int report_put_head(const struct report *r, int64_t run, struct why *w)
{
    TRY(put_state(r, run, w));
    TRY(put_tiles(r, w));
    TRY(put_runs(r, run, w));
    TRY(put_supports(r, run, w));
    return put_unloaded(r, run, w);
}
