/* The tables of totals: by target, operation and element type; and the slowest cases. */
#include <stdbool.h>

#include "reports/report_internal.h"

/* A table of totals: one row per key, one column per verdict. */
struct totals {
    const char *title, *remark;
    const char *key, *more; /* headings of the first two columns; more NULL: only one */
    const char *from;       /* query with columns key, more, verdict, checked, ms */
    const char *order;
};

enum { FIRST = 2, CHECKED = FIRST + N_VERDICTS, MS };

/* Verdicts that did not occur have no column; the tiles show their 0. */
static bool has_column(const struct report *r, int verdict)
{
    return r->count[verdict] > 0;
}

static int put_row(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    const struct totals *t = user;
    (void) w;
    fputs("<tr><td class=\"key\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td>", r->to);
    if (t->more) {
        fputs("<td class=\"soft self\">", r->to);
        report_put_column(r, row, 1);
        fputs("</td>", r->to);
    }

    fputs("<td class=\"bar\"><div class=\"stack\">", r->to);
    for (int i = 0; i < N_VERDICTS; i++) {
        long long n = sqlite3_column_int64(row, FIRST + i);
        if (n)
            fprintf(r->to, "<i class=\"%s\" style=\"flex-grow:%lld\" title=\"%lld %s\"></i>",
                    report_verdict[i], n, n, report_verdict[i]);
    }
    fputs("</div></td>", r->to);

    for (int i = 0; i < N_VERDICTS; i++) {
        int64_t n = sqlite3_column_int64(row, FIRST + i);
        if (!has_column(r, i))
            continue;
        fprintf(r->to, "<td class=\"n%s\">", !n ? " zero" : !r->conforming[i] ? " hot" : "");
        report_put_count(r, n);
        fputs("</td>", r->to);
    }
    fputs("<td class=\"n soft\">", r->to);
    report_put_count(r, sqlite3_column_int64(row, CHECKED));
    fputs("</td><td class=\"n soft\">", r->to);
    report_put_ms(r, sqlite3_column_double(row, MS));
    fputs("</td></tr>\n", r->to);
    return 0;
}

static int put_table(const struct report *r, const struct totals *t, struct why *w)
{
    sqlite3_str *sql = sqlite3_str_new(r->db);
    sqlite3_str_appendall(sql, "SELECT key, more");
    for (int i = 0; i < N_VERDICTS; i++)
        sqlite3_str_appendf(sql, ", sum(verdict = %Q)", report_verdict[i]);
    sqlite3_str_appendf(sql, ", sum(checked), sum(ms) FROM (%s) GROUP BY key ORDER BY %s", t->from,
                        t->order);
    char *text = sqlite3_str_finish(sql);
    if (!text)
        return why_no_memory_for(w, "a query");

    fprintf(r->to,
            "<h2>%s<small>%s</small></h2>\n<div class=\"card scroll\"><table>\n<thead><tr>"
            "<th>%s</th>",
            t->title, t->remark, t->key);
    if (t->more)
        fprintf(r->to, "<th>%s</th>", t->more);
    fputs("<th></th>", r->to);
    for (int i = 0; i < N_VERDICTS; i++)
        if (has_column(r, i))
            fprintf(r->to, "<th class=\"n\">%s</th>", report_verdict[i]);
    fputs("<th class=\"n\">elements compared</th><th class=\"n\">time</th></tr></thead>\n<tbody>\n",
          r->to);
    int failed = report_each(r, text, 0, put_row, (void *) t, w);
    sqlite3_free(text);
    fputs("</tbody></table></div>\n", r->to);
    return failed;
}

static const struct totals totals[] = {
    { "Targets", "", "target", "reported name, version, type",
      "SELECT s.uri AS key, t.name || ' ' || t.version || ', ' || t.type || ', HAL ' || t.hal AS "
      "more, "
      "s.verdict, s.checked, s.ms, s.run, s.target_ordinal FROM shown s JOIN targets t "
      "ON t.run = s.run AND t.ordinal = s.target_ordinal",
      "min(run), min(target_ordinal)" },
    { "Operations", "a case counts for each operation that it contains; least conforming first",
      "operation", NULL,
      "SELECT o.operation AS key, '' AS more, s.verdict, s.checked, s.ms, s.conforming FROM shown "
      "s JOIN "
      "(SELECT DISTINCT case_id, operation FROM case_operations) o USING (case_id)",
      "avg(conforming), key" },
    { "Element types", "of the first tensor of each operation", "type", NULL,
      "SELECT o.type AS key, '' AS more, s.verdict, s.checked, s.ms, s.conforming FROM shown s "
      "JOIN "
      "(SELECT DISTINCT case_id, type FROM case_operations) o USING (case_id)",
      "avg(conforming), key" },
    { "Conformance suites",
      "rules of halcyon conform, in all HAL versions that were checked; least conforming first; "
      "elements compared are checks here",
      "suite", NULL,
      /* conform/1.3/model/M9 */
      "SELECT substr(rule, 1, instr(rule, '/') - 1) AS key, '' AS more, verdict, checked, ms, "
      "conforming FROM (SELECT *, substr(name, 9 + instr(substr(name, 9), '/')) AS rule FROM shown "
      "WHERE name GLOB 'conform/*')",
      "avg(conforming), key" },
};

/* A table without rows is left out. */
static int put_table_if_any(const struct report *r, const struct totals *t, struct why *w)
{
    int64_t n = 0;
    char *count = sqlite3_mprintf("SELECT count(*) FROM (%s)", t->from);
    if (!count)
        return why_no_memory_for(w, "a query");
    int failed = report_number(r, count, &n, w);
    sqlite3_free(count);
    return failed || !n ? failed : put_table(r, t, w);
}

static int put_slow(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr><td class=\"key\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td><td class=\"key\">", r->to);
    report_put_column(r, row, 1);
    fputs("</td><td><span class=\"badge ", r->to);
    report_put_column(r, row, 2);
    fputs("\">", r->to);
    report_put_column(r, row, 2);
    fputs("</span></td><td class=\"n\">", r->to);
    report_put_ms(r, sqlite3_column_double(row, 3));
    fputs("</td><td class=\"n\">", r->to);
    if (sqlite3_column_type(row, 4) != SQLITE_NULL)
        report_put_ms(r, sqlite3_column_double(row, 4) / 1e6);
    fputs("</td><td class=\"n\">", r->to);
    report_put_column(r, row, 5);
    fputs("</td></tr>\n", r->to);
    return 0;
}

static int put_signature(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr><td class=\"key\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td><td class=\"break\">", r->to);
    report_put_column(r, row, 1);
    fputs("</td><td class=\"break\">", r->to);
    report_put_column(r, row, 2);
    fputs("</td><td class=\"n\">", r->to);
    report_put_count(r, sqlite3_column_int64(row, 3));
    fputs("</td></tr>\n", r->to);
    return 0;
}

/* What targets do not support, the most frequent first: signatures of the first operation that a
 * target does not support, or why a model was not shown to its driver. */
static int put_unsupported(const struct report *r, struct why *w)
{
    int64_t n = 0;
    TRY(report_number(r, "SELECT count(*) FROM shown WHERE verdict = 'unsupported'", &n, w));
    if (!n)
        return 0;
    fputs(
        "<h2>Not supported<small>the first operation that the target does not support; the 100 "
        "most frequent</small></h2>\n<div class=\"card scroll\"><table>\n<thead><tr>"
        "<th>target</th><th>signature</th><th>a case</th><th class=\"n\">cases</th></tr></thead>\n"
        "<tbody>\n",
        r->to);
    TRY(report_each(r,
                    "SELECT s.uri, coalesce(d.blamed_why, d.why) AS signature, s.name, count(*), "
                    "min(s.case_id) FROM shown s JOIN details d "
                    "ON d.case_id = s.case_id AND d.target_ordinal = s.target_ordinal "
                    "WHERE s.verdict = 'unsupported' GROUP BY s.uri, signature "
                    "ORDER BY count(*) DESC, s.uri, signature LIMIT 100",
                    0, put_signature, NULL, w));
    fputs("</tbody></table></div>\n", r->to);
    return 0;
}

int report_put_totals(const struct report *r, struct why *w)
{
    if (!r->n)
        return 0;
    for (size_t i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
        TRY(put_table_if_any(r, &totals[i], w));
    TRY(put_unsupported(r, w));

    fputs("<h2>Slowest</h2>\n<div class=\"card scroll\"><table>\n<thead><tr><th>case</th>"
          "<th>target</th><th>verdict</th><th class=\"n\">wall clock</th>"
          "<th class=\"n\">time on device</th><th class=\"n\">operations</th></tr></thead>\n"
          "<tbody>\n",
          r->to);
    TRY(report_each(
        r,
        "SELECT s.name, s.uri, s.verdict, s.ms, d.device_ns, d.n_operations FROM shown "
        "s "
        "JOIN details d ON d.case_id = s.case_id AND d.target_ordinal = s.target_ordinal "
        "ORDER BY s.ms DESC, s.name LIMIT 10",
        0, put_slow, NULL, w));
    fputs("</tbody></table></div>\n", r->to);
    return 0;
}
