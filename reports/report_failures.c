/* The failures: verdicts that are not conforming, in groups of one target, verdict, operation, type
 * and reason; reasons that differ only in numbers count as the same.  The operation is the one that
 * is blamed, else the one that computes the worst output.  In each group the smallest
 * models come first.  SHOWN_WHOLE cases, drawn from all groups in turn, are shown in full, the
 * others as table rows. */
#include <ctype.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "reports/database.h"
#include "reports/graph/graph_layout.h"
#include "reports/report_internal.h"

enum {
    SHOWN_WHOLE = 200,
    SHOWN_ROWS = 2000,
    LARGEST_GRAPH = 400 * 1000, /* bytes of DOT; larger ones would fill the page */
    LARGEST_TEXT = 60 * 1000    /* bytes shown */
};

/* SQL function: a reason with each number replaced by "#". */
static void gist(sqlite3_context *context, int n, sqlite3_value **value)
{
    const unsigned char *from = n == 1 ? sqlite3_value_text(value[0]) : NULL;
    char text[512];
    size_t used = 0;
    if (!from)
        return;
    for (bool word = false; *from && used < sizeof(text) - 1;) {
        if (isdigit(*from) && !word) {
            text[used++] = '#';
            /* 12, 0.5, 1e-05, 0x1f */
            while (isxdigit(*from) || *from == '.' || *from == 'x' ||
                   (strchr("+-", *from) && *from && from[-1] == 'e'))
                from++;
            continue;
        }
        word = isalnum(*from) || *from == '_';
        text[used++] = (char) *from++;
    }
    sqlite3_result_text(context, text, (int) used, SQLITE_TRANSIENT);
}

static const char create_bad[] =
    "CREATE TEMP TABLE bad AS WITH "
    "  a AS (SELECT s.run, s.case_id, s.target_ordinal, s.uri, s.name, d.verdict, d.why, "
    "        CASE WHEN blamed_count > 1 THEN gist(blamed_operation) "
    "        ELSE coalesce(blamed_operation, d.operation, '') END AS operation, "
    "        coalesce(d.blamed_type, d.type, '') AS type, gist(d.why) AS gist, "
    "        d.n_operations, d.replay FROM shown s JOIN details d "
    "        ON d.case_id = s.case_id AND d.target_ordinal = s.target_ordinal WHERE NOT "
    "s.conforming), "
    "  b AS (SELECT *, "
    "        dense_rank() OVER (ORDER BY uri, verdict, operation, type, gist) AS family, "
    "        row_number() OVER (PARTITION BY uri, verdict, operation, type, gist "
    "                           ORDER BY n_operations, name) AS place FROM a) "
    "SELECT *, row_number() OVER (ORDER BY place, family) AS pick FROM b";

/* What the groups share. */
struct failures {
    bool begun;                 /* a group has been written */
    struct graph_budget graphs; /* left for the graphs that follow */
};

/* --- one case */

enum {
    NAME,
    VERDICT,
    WHY,
    STAGE,
    STATUS,
    JUDGE,
    WALL,
    DEVICE,
    LEVEL,
    OPERATIONS,
    CHECKED,
    WRONG,
    OUTPUT,
    ELEMENT,
    OPERATION,
    TYPE,
    EXPECTED,
    ACTUAL,
    BOUND,
    RATIO,
    REPLAY,
    SPEC,
    DOT,
    CONFIRMED,
    PRINTED,
    BACKTRACE,
    BLAMED_COUNT,
    BLAMED_GRAPH,
    BLAMED_INDEX,
    BLAMED_OPERATION,
    BLAMED_TYPE,
    BLAMED_WHY,
    BLAMED_OUTPUT,
    BLAMED_PLACE,
    BLAMED_EXPECTED,
    BLAMED_ACTUAL,
    BLAMED_BOUND,
    BLAMED_RATIO,
    BUCKET,
    SHRUNK
};

static const char select_case[] =
    "SELECT d.name, d.verdict, d.why, d.stage, d.status, d.judge, d.ms, d.device_ns, d.level, "
    "d.n_operations, d.checked, d.wrong, d.output, d.place, d.operation, d.type, d.expected, "
    "d.actual, "
    "d.bound, d.ratio, d.replay, text_of(d.spec), NULL, d.confirmed, d.printed, d.backtrace, "
    "d.blamed_count, d.blamed_graph, d.blamed_index, d.blamed_operation, d.blamed_type, "
    "d.blamed_why, d.blamed_output, d.blamed_place, d.blamed_expected, d.blamed_actual, "
    "d.blamed_bound, d.blamed_ratio, d.bucket, d.shrunk FROM bad b "
    "JOIN details d "
    "ON d.case_id = b.case_id AND d.target_ordinal = b.target_ordinal "
    "WHERE b.family = ?1 AND b.pick <= %d ORDER BY b.place";

static void put_fact(const struct report *r, sqlite3_stmt *row, const char *name, int c)
{
    if (sqlite3_column_type(row, c) == SQLITE_NULL)
        return;
    fprintf(r->to, "<dt>%s</dt><dd>", name);
    report_put_column(r, row, c);
    fputs("</dd>\n", r->to);
}

/* A number of the worst element; the database stores NaN as NULL. */
static void put_real(const struct report *r, sqlite3_stmt *row, const char *name, int c)
{
    fprintf(r->to, "<dt>%s</dt><dd>", name);
    if (sqlite3_column_type(row, c) == SQLITE_NULL)
        fputs("NaN", r->to);
    else
        fprintf(r->to, "%.9g", sqlite3_column_double(row, c));
    fputs("</dd>\n", r->to);
}

static void put_worst(const struct report *r, sqlite3_stmt *row)
{
    if (sqlite3_column_type(row, OUTPUT) == SQLITE_NULL)
        return;
    fprintf(r->to, "<dl>\n<dt>worst element</dt><dd>output %d ", sqlite3_column_int(row, OUTPUT));
    report_put_column(r, row, ELEMENT);
    fputs("</dd>\n", r->to);
    put_real(r, row, "expected", EXPECTED);
    put_real(r, row, "actual", ACTUAL);
    put_real(r, row, "bound", BOUND);
    put_real(r, row, "ratio", RATIO);
    fprintf(r->to, "<dt>elements</dt><dd>%" PRId64 " of %" PRId64 " outside their bound</dd>\n",
            (int64_t) sqlite3_column_int64(row, WRONG),
            (int64_t) sqlite3_column_int64(row, CHECKED));
    put_fact(r, row, "computed by", OPERATION);
    put_fact(r, row, "type", TYPE);
    fputs("</dl>\n", r->to);
}

/* The operations that the failure comes from, and their own worst element. */
static void put_blamed(const struct report *r, sqlite3_stmt *row)
{
    const int64_t count = sqlite3_column_int64(row, BLAMED_COUNT);
    if (sqlite3_column_type(row, BLAMED_WHY) == SQLITE_NULL && !count)
        return;
    fputs("<dl>\n<dt>blamed</dt><dd>", r->to);
    if (!count)
        fputs("no single operation", r->to);
    else if (count > 1)
        fprintf(r->to, "%" PRId64 " operations, only together: ", count);
    else if (sqlite3_column_int64(row, BLAMED_GRAPH))
        fprintf(r->to, "subgraph %" PRId64 ", operation %" PRId64 ", alone: ",
                (int64_t) sqlite3_column_int64(row, BLAMED_GRAPH),
                (int64_t) sqlite3_column_int64(row, BLAMED_INDEX));
    else
        fprintf(r->to, "operation %" PRId64 ", alone: ",
                (int64_t) sqlite3_column_int64(row, BLAMED_INDEX));
    report_put_column(r, row, BLAMED_OPERATION);
    fputs("</dd>\n", r->to);
    put_fact(r, row, "its type", BLAMED_TYPE);
    put_fact(r, row, "reason", BLAMED_WHY);
    if (sqlite3_column_type(row, BLAMED_OUTPUT) != SQLITE_NULL) {
        put_fact(r, row, "its worst element", BLAMED_PLACE);
        put_real(r, row, "expected", BLAMED_EXPECTED);
        put_real(r, row, "actual", BLAMED_ACTUAL);
        put_real(r, row, "bound", BLAMED_BOUND);
        put_real(r, row, "ratio", BLAMED_RATIO);
    }
    fputs("</dl>\n", r->to);
}

/* Draws expected value, allowed band and actual value on a line.  The drawing is 340 units wide
 * with the expected value in the middle; the band's end or the actual value, whichever is farther,
 * lies 110 units from it. */
static void put_line(const struct report *r, sqlite3_stmt *row)
{
    for (int c = EXPECTED; c <= RATIO; c++)
        if (sqlite3_column_type(row, c) == SQLITE_NULL)
            return;
    double expected = sqlite3_column_double(row, EXPECTED),
           actual = sqlite3_column_double(row, ACTUAL);
    double bound = sqlite3_column_double(row, BOUND), off = actual - expected;
    double away = off < 0 ? -off : off, far = away > bound ? away : bound;
    if (!(far > 0 && far < 1e300 && bound >= 0))
        return;
    double band = bound / far * 110, at = 170 + off / far * 110;
    band = band > 0.75 ? band : 0.75;
    fprintf(
        r->to,
        "<svg class=\"line\" viewBox=\"0 0 340 46\" role=\"img\" aria-label=\"expected and "
        "actual\">"
        "<path d=\"M10 23H330\" stroke=\"var(--line)\" stroke-width=\"2\"/>"
        "<rect x=\"%.2f\" y=\"16\" width=\"%.2f\" height=\"14\" rx=\"%.2f\" fill=\"var(--pass)\" "
        "opacity=\".45\"/><path d=\"M170 14V32\" stroke=\"var(--good)\" stroke-width=\"2\"/>"
        "<circle cx=\"%.2f\" cy=\"23\" r=\"5\" fill=\"var(--bad)\"/>"
        "<text x=\"170\" y=\"44\" text-anchor=\"middle\">expected</text>"
        "<text x=\"%.2f\" y=\"10\" text-anchor=\"middle\">actual</text></svg>\n",
        170 - band, 2 * band, band < 4 ? band : 4, at, at);
}

/* Writes a case's graph, with output mark_output highlighted (-1: none). */
static void put_graph(const struct report *r, const char *dot, int64_t mark_output,
                      struct graph_budget *budget)
{
    struct why why;
    char *svg = NULL;
    if (!dot)
        return;
    size_t length = strlen(dot);
    if (length > LARGEST_GRAPH) {
        fprintf(r->to,
                "<p class=\"soft\">The graph is too large for this page: %zu bytes as DOT, at most "
                "%d; halcyon dump --format svg draws it.</p>\n",
                length, LARGEST_GRAPH);
        return;
    }
    if (graph_layout_svg(dot, mark_output, budget, &svg, &why) < 0) {
        fputs("<p class=\"soft\">", r->to);
        text_put(r->to, TEXT_HTML, why.text, 0);
        fputs("</p>\n", r->to);
        return;
    }
    /* Without the XML prologue.  The style sheet scales the drawing from its natural width. */
    const char *start = strstr(svg, "<svg");
    int width = 0;
    if (start && sscanf(start, "<svg width=\"%dpt\"", &width) == 1)
        fprintf(r->to, "<figure class=\"graph\" style=\"--natural:%dpt\">%s</figure>\n", width,
                start);
    free(svg);
}

/* A text in a section that is folded at first; nothing for NULL. */
static void put_text(const struct report *r, const char *title, const char *text)
{
    if (!text)
        return;
    size_t length = strlen(text);
    fprintf(r->to, "<details class=\"spec\"><summary class=\"soft\">%s</summary><pre>", title);
    text_put(r->to, TEXT_HTML, text, LARGEST_TEXT);
    fputs("</pre>", r->to);
    if (length > LARGEST_TEXT)
        fprintf(r->to,
                "<p class=\"soft\">The first %d of %zu bytes; the database has the whole text.</p>",
                LARGEST_TEXT, length);
    fputs("</details>\n", r->to);
}

/* The failure at the left, its graph at the right, the specification below. */
static int put_case(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    struct failures *all = user;
    (void) w;
    fputs("<section class=\"case\"><h3>", r->to);
    report_put_column(r, row, NAME);
    fputs("</h3><p class=\"why\">", r->to);
    report_put_column(r, row, WHY);
    fputs("</p>\n", r->to);
    if (sqlite3_column_type(row, REPLAY) != SQLITE_NULL) {
        fputs("<div class=\"command\"><code>", r->to);
        report_put_column(r, row, REPLAY);
        fputs("</code><button data-copy>copy</button></div>\n", r->to);
    }

    fputs("<div class=\"split\"><div>\n", r->to);
    put_line(r, row);
    put_worst(r, row);
    put_blamed(r, row);

    fputs("<dl>\n", r->to);
    put_fact(r, row, "bucket", BUCKET);
    put_fact(r, row, "run again", CONFIRMED);
    put_fact(r, row, "stage", STAGE);
    put_fact(r, row, "HAL status", STATUS);
    put_fact(r, row, "judge", JUDGE);
    put_fact(r, row, "operations", OPERATIONS);
    put_fact(r, row, "feature level", LEVEL);
    fputs("<dt>wall clock</dt><dd>", r->to);
    report_put_ms(r, sqlite3_column_double(row, WALL));
    fputs("</dd>\n", r->to);
    if (sqlite3_column_type(row, DEVICE) != SQLITE_NULL) {
        fputs("<dt>time on device</dt><dd>", r->to);
        report_put_ms(r, sqlite3_column_double(row, DEVICE) / 1e6);
        fputs("</dd>\n", r->to);
    }
    fputs("</dl>\n", r->to);

    fputs("</div><div>\n", r->to);
    const char *output = (const char *) sqlite3_column_text(row, OUTPUT);
    put_graph(r, (const char *) sqlite3_column_text(row, DOT),
              output ? sqlite3_column_int64(row, OUTPUT) : -1, &all->graphs);
    fputs("</div></div>\n", r->to);
    put_text(r, "shrunk", (const char *) sqlite3_column_text(row, SHRUNK));
    put_text(r, "printed by the driver", (const char *) sqlite3_column_text(row, PRINTED));
    put_text(r, "backtrace", (const char *) sqlite3_column_text(row, BACKTRACE));
    put_text(r, "specification", (const char *) sqlite3_column_text(row, SPEC));
    fputs("</section>\n", r->to);
    return 0;
}

/* --- one group */

static int put_rest(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr><td class=\"key\">", r->to);
    report_put_column(r, row, 0);
    fputs("</td><td class=\"break\">", r->to);
    report_put_column(r, row, 1);
    fputs("</td><td class=\"break mono\">", r->to);
    report_put_column(r, row, 2);
    fputs("</td></tr>\n", r->to);
    return 0;
}

/* family, verdict, uri, operation, type, why, cases, cases that are not shown whole */
static int put_group(const struct report *r, sqlite3_stmt *row, void *user, struct why *w)
{
    struct failures *all = user;
    char sql[sizeof(select_case) + 16];
    int64_t family = sqlite3_column_int64(row, 0), rest = sqlite3_column_int64(row, 7);
    fprintf(r->to, "<details class=\"card group\"%s><summary><span class=\"badge ",
            all->begun ? "" : " open");
    all->begun = true;
    report_put_column(r, row, 1);
    fputs("\">", r->to);
    report_put_column(r, row, 1);
    fputs("</span><span class=\"what\"><b>", r->to);
    report_put_column(r, row, 2);
    fputs("</b> ", r->to);
    report_put_column(r, row, 3);
    fputs(" ", r->to);
    report_put_column(r, row, 4);
    fputs(" <span class=\"soft\">", r->to);
    text_put(r->to, TEXT_HTML, (const char *) sqlite3_column_text(row, 5), 200);
    fputs("</span></span><span class=\"count\">", r->to);
    report_put_count(r, sqlite3_column_int64(row, 6));
    fputs("</span></summary>\n", r->to);

    snprintf(sql, sizeof(sql), select_case, SHOWN_WHOLE);
    TRY(report_each(r, sql, family, put_case, all, w));
    if (rest > 0) {
        fputs("<details class=\"rest\"><summary>", r->to);
        report_put_count(r, rest);
        fputs(rest == 1 ? " more case" : " more cases", r->to);
        fputs("</summary><div class=\"scroll\"><table><tbody>\n", r->to);
        snprintf(sql, sizeof(sql),
                 "SELECT name, why, replay FROM bad WHERE family = ?1 AND pick > %d AND pick <= %d "
                 "ORDER BY place",
                 SHOWN_WHOLE, SHOWN_WHOLE + SHOWN_ROWS);
        TRY(report_each(r, sql, family, put_rest, NULL, w));
        fputs("</tbody></table></div></details>\n", r->to);
    }
    fputs("</details>\n", r->to);
    return 0;
}

int report_put_failures(const struct report *r, struct why *w)
{
    int64_t n;
    struct failures all = { .graphs.left = GRAPH_PAGE_SPAN };
    int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
    if (sqlite3_create_function(r->db, "gist", 1, flags, NULL, gist, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(r->db, create_bad, NULL, NULL, NULL) != SQLITE_OK)
        return database_failed(r->db, r->path, w);
    TRY(report_number(r, "SELECT count(*) FROM bad", &n, w));
    if (!n)
        return 0;
    fputs("<h2>Not conforming<small>by target, verdict, operation that the failure comes from, and "
          "reason</small></h2>\n",
          r->to);
    fputs("<p class=\"soft\">", r->to);
    if (n > SHOWN_WHOLE)
        fprintf(r->to,
                "%d cases are shown in full, with graph and specification, the smallest models of "
                "each group first; the others as table rows.",
                SHOWN_WHOLE);
    if (n > SHOWN_WHOLE + SHOWN_ROWS)
        fprintf(r->to, " Only %d rows are shown; the database has all cases.", SHOWN_ROWS);
    fputs("</p>\n", r->to);
    fputs("<div class=\"tools\"><input type=\"search\" data-filter=\".group\" "
          "placeholder=\"filter: target, verdict, operation, case ...\" "
          "aria-label=\"filter\"></div>\n",
          r->to);
    char sql[512];
    snprintf(
        sql, sizeof(sql),
        "SELECT family, verdict, uri, operation, type, why, count(*), sum(pick > %d), min(place) "
        "FROM bad GROUP BY family ORDER BY verdict IN ('fail', 'error'), count(*) DESC, family",
        SHOWN_WHOLE);
    return report_each(r, sql, 0, put_group, &all, w);
}
