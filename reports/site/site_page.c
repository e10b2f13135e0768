/* The page: head, navigation, state, and the sections in their order; and the helpers of all
 * sections. */
#include "reports/site/site.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/base/text_escape.h"
#include "reports/database.h"

extern const char site_css[], site_js[];

const char *const site_verdict[N_VERDICTS] = { "pass", "undecided", "waived",  "unsupported",
                                               "fail", "violation", "refused", "crash",
                                               "hang", "flaky",     "error" };

const struct report_options report_defaults = { 0 };

enum { GRAPH_WALL_SECONDS = 4 }; /* for the graphs of all bugs */

/* ---- queries */

int site_each(struct site *s, enum site_query query, int64_t first, int64_t second, site_row *each,
              void *user, struct why *w)
{
    sqlite3_stmt *row;
    int step, failed = 0;
    if (sqlite3_prepare_v2(s->db, site_sql[query], -1, &row, NULL) != SQLITE_OK)
        return database_failed(s->db, s->path, w);
    int parameters = sqlite3_bind_parameter_count(row);
    if (parameters > 0)
        sqlite3_bind_int64(row, 1, first);
    if (parameters > 1)
        sqlite3_bind_int64(row, 2, second);
    while ((step = sqlite3_step(row)) == SQLITE_ROW && !failed)
        failed = each(s, row, user, w);
    if (!failed && step != SQLITE_DONE)
        failed = database_failed(s->db, s->path, w);
    sqlite3_finalize(row);
    return failed;
}

static int take_number(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) s, (void) w;
    *(int64_t *) user = sqlite3_column_int64(row, 0);
    return 0;
}

int site_number(struct site *s, enum site_query query, int64_t number, int64_t *ret_number,
                struct why *w)
{
    *ret_number = 0;
    return site_each(s, query, number, 0, take_number, ret_number, w);
}

int site_verdict_index(const char *verdict)
{
    for (int i = 0; i < N_VERDICTS; i++)
        if (verdict && !strcmp(verdict, site_verdict[i]))
            return i;
    return N_VERDICTS - 1;
}

static int count_verdict(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    int i = site_verdict_index(site_column(row, 0));
    int64_t n = sqlite3_column_int64(row, 1);
    bool conforming = sqlite3_column_int(row, 2);
    s->n += n;
    s->n_conforming += conforming ? n : 0;
    s->count[i] += n;
    s->conforming[i] = conforming;
    return 0;
}

int site_open(struct site *s, struct why *w)
{
    int version;
    TRY(database_read(s->path, &s->db, w));
    TRY(database_check_version(s->db, s->path, &version, w));
    if (s->o->run)
        TRY(database_check_run(s->db, s->path, s->o->run, w));
    TRY(site_create_tables(s->db, s->path, s->o, version, w));
    TRY(site_number(s, QUERY_N_BUGS, 0, &s->n_bugs, w));
    TRY(site_number(s, QUERY_N_ROWS_OF_BUGS, 0, &s->n_cards, w));
    TRY(site_number(s, QUERY_N_UNSORTED, 0, &s->n_unsorted, w));
    TRY(site_number(s, QUERY_N_TARGETS, 0, &s->n_targets, w));
    TRY(site_number(s, QUERY_N_BENCH, s->o->run, &s->n_benchmarks, w));
    TRY(site_number(s, QUERY_N_BENCH_BAD, s->o->run, &s->n_bad_benchmarks, w));
    return site_each(s, QUERY_VERDICTS, 0, 0, count_verdict, NULL, w);
}

/* ---- values */

const char *site_column(sqlite3_stmt *row, int i)
{
    const char *text = (const char *) sqlite3_column_text(row, i);
    return text ? text : "";
}

bool site_is_null(sqlite3_stmt *row, int i)
{
    return sqlite3_column_type(row, i) == SQLITE_NULL;
}

void site_text(struct site *s, const char *text, size_t most)
{
    text_put(s->to, TEXT_HTML, text, most);
}

void site_put(struct site *s, sqlite3_stmt *row, int i)
{
    site_text(s, site_column(row, i), 0);
}

void site_count(struct site *s, int64_t n)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%" PRId64, n);
    size_t length = strlen(digits);
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0 && digits[i - 1] != '-')
            fputc(',', s->to);
        fputc(digits[i], s->to);
    }
}

void site_counted(struct site *s, int64_t n, const char *one, const char *many)
{
    site_count(s, n);
    fprintf(s->to, " %s", n == 1 ? one : many);
}

void site_ms(struct site *s, double ms)
{
    if (ms < 1)
        fprintf(s->to, "%.0f \xc2\xb5s", ms * 1000);
    else if (ms < 1000)
        fprintf(s->to, "%.1f ms", ms);
    else if (ms < 120e3)
        fprintf(s->to, "%.1f s", ms / 1000);
    else
        fprintf(s->to, "%.1f min", ms / 60e3);
}

void site_real(struct site *s, sqlite3_stmt *row, int i)
{
    if (site_is_null(row, i))
        fputs("NaN", s->to);
    else
        fprintf(s->to, "%.9g", sqlite3_column_double(row, i));
}

void site_badge(struct site *s, const char *verdict)
{
    const char *name = site_verdict[site_verdict_index(verdict)];
    fprintf(s->to, "<span class=\"badge v-%s\">%s</span>", name, name);
}

void site_bar(struct site *s, const int64_t n[N_VERDICTS])
{
    int64_t all = 0;
    double at = 0;
    for (int i = 0; i < N_VERDICTS; i++)
        all += n[i];
    fputs("<svg class=\"bar\" viewBox=\"0 0 1000 10\" preserveAspectRatio=\"none\" "
          "aria-hidden=\"true\">",
          s->to);
    for (int i = 0; i < N_VERDICTS && all; i++) {
        double width = 1000 * (double) n[i] / (double) all;
        if (n[i])
            fprintf(s->to, "<rect class=\"f-%s\" x=\"%.1f\" width=\"%.1f\" height=\"10\"/>",
                    site_verdict[i], at, fmax(width, 4));
        at += width;
    }
    fputs("</svg>", s->to);
}

void site_begin(struct site *s, const char *id, const char *title, const char *remark)
{
    fprintf(s->to, "<section id=\"%s\" aria-labelledby=\"h-%s\">\n<h2 id=\"h-%s\">%s</h2>\n", id,
            id, id, title);
    if (remark)
        fprintf(s->to, "<p class=\"remark\">%s</p>\n", remark);
}

void site_end(struct site *s)
{
    fputs("</section>\n", s->to);
}

void site_table(struct site *s, const char *headings)
{
    fputs("<div class=\"scroll tall\" tabindex=\"0\"><table>\n<thead><tr>", s->to);
    while (*headings) {
        int length = (int) strcspn(headings, "|");
        bool number = *headings == '#';
        fprintf(s->to, "<th scope=\"col\"%s>%.*s</th>", number ? " class=\"n\"" : "",
                length - number, headings + number);
        headings += length + (headings[length] != 0);
    }
    fputs("</tr></thead>\n<tbody>\n", s->to);
}

void site_table_end(struct site *s)
{
    fputs("</tbody></table></div>\n", s->to);
}

void site_folded(struct site *s, const char *title, const char *text, size_t most)
{
    if (!text || !*text)
        return;
    size_t length = strlen(text);
    fprintf(s->to, "<details class=\"fold\"><summary>%s</summary><pre tabindex=\"0\">", title);
    site_text(s, text, most);
    fputs("</pre>", s->to);
    if (length > most)
        fprintf(
            s->to,
            "<p class=\"soft\">The first %zu of %zu bytes; the database has the whole text.</p>",
            most, length);
    fputs("</details>\n", s->to);
}

void site_command(struct site *s, const char *command)
{
    fputs("<div class=\"command\"><code>", s->to);
    site_text(s, command, 0);
    fputs("</code><button type=\"button\" data-copy>copy</button></div>\n", s->to);
}

/* ---- JavaScript */

static void put_js(FILE *to, const char *text)
{
    static const char specials[] = "<>&'\"\\";
    fputc('"', to);
    for (const unsigned char *at = (const unsigned char *) text; *at; at++) {
        bool separator = at[0] == 0xe2 && at[1] == 0x80 && (at[2] == 0xa8 || at[2] == 0xa9);
        if (separator) { /* U+2028 and U+2029 end a line of JavaScript */
            fprintf(to, "\\u20%02x", at[2] - 0x80);
            at += 2;
        } else if (*at < 0x20 || strchr(specials, *at)) {
            fprintf(to, *at == '\n' ? "\\n" : "\\u%04x", *at);
        } else {
            fputc(*at, to);
        }
    }
    fputc('"', to);
}

void site_js_html(FILE *to, const char *html)
{
    put_js(to, html);
}

void site_js_text(FILE *to, const char *text)
{
    char *shown = text_escaped(TEXT_LINES, text);
    put_js(to, shown ? shown : "");
    free(shown);
}

/* ---- the head */

/* Scripts and styles come from the report's own files only; nothing is fetched from elsewhere. */
static const char head[] =
    "<!DOCTYPE html>" FOLDER_MARK "\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "script-src 'self' file:; style-src 'self' file:; img-src 'self' file:; base-uri 'none'; "
    "form-action 'none'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<title>Halcyon report</title>\n<link rel=\"stylesheet\" href=\"site.css\">\n"
    "<script src=\"site.js\"></script>\n<script src=\"data/facts.js\" "
    "defer></script>\n</head>\n<body>\n"
    "<a class=\"skip\" href=\"#bugs\">Skip to what is wrong</a>\n"
    "<header class=\"top\"><a class=\"brand\" href=\"#top\">Halcyon</a>\n"
    "<nav aria-label=\"Sections\"><a href=\"#bugs\">Wrong</a><a href=\"#targets\">Targets</a>"
    "<a href=\"#operations\">Operations</a><a href=\"#coverage\">Coverage</a>"
    "<a href=\"#ratios\">Error</a><a href=\"#times\">Times</a>"
    "<a href=\"#bench\">Benchmark</a><a href=\"#flakes\">Flakes</a>"
    "<a href=\"#trend\">Trend</a><a href=\"#gaps\">Not compared</a><a href=\"#cases\">Cases</a>"
    "<a href=\"#runs\">Runs</a></nav>\n"
    "<div class=\"buttons\"><button type=\"button\" id=\"theme\" title=\"light or dark (t)\">"
    "Theme</button><button type=\"button\" id=\"help\" title=\"keyboard (?)\">?</button></div>"
    "</header>\n<main id=\"top\">\n";

static const char foot[] =
    "</main>\n<dialog id=\"keys\" aria-labelledby=\"h-keys\"><h2 id=\"h-keys\">Keyboard</h2><dl>\n"
    "<dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous bug</dd>\n"
    "<dt><kbd>o</kbd></dt><dd>open or close it</dd>\n"
    "<dt><kbd>c</kbd></dt><dd>copy its replay line</dd>\n"
    "<dt><kbd>/</kbd></dt><dd>filter bugs</dd>\n"
    "<dt><kbd>s</kbd></dt><dd>search cases</dd>\n"
    "<dt><kbd>1</kbd> to <kbd>9</kbd></dt><dd>the sections, in their order</dd>\n"
    "<dt><kbd>t</kbd></dt><dd>light or dark</dd>\n"
    "<dt><kbd>Esc</kbd></dt><dd>close</dd>\n</dl>"
    "<button type=\"button\" data-close>Close</button></dialog>\n"
    "<dialog id=\"drill\" aria-labelledby=\"h-drill\"><div id=\"drill-body\"></div>"
    "<button type=\"button\" data-close>Close</button></dialog>\n"
    "<div id=\"said\" role=\"status\" class=\"said\"></div>\n";

static void put_written(struct site *s)
{
    time_t now = time(NULL);
    struct tm tm;
    char written[64];
    fputs("<p class=\"soft\">", s->to);
    site_text(s, s->o->database ? s->o->database : s->path, 0);
    if (s->o->run)
        fprintf(s->to, ", run %" PRId64, s->o->run);
    if (gmtime_r(&now, &tm) && strftime(written, sizeof(written), "%Y-%m-%d %H:%M UTC", &tm))
        fprintf(s->to, " \xc2\xb7 written %s", written);
    fputs("</p>\n", s->to);
}

void site_headline(struct site *s)
{
    int64_t bad = s->n - s->n_conforming;
    if (!s->n && s->n_benchmarks) {
        fprintf(s->to, "%" PRId64 " of ", s->n_bad_benchmarks);
        site_count(s, s->n_benchmarks);
        fputs(s->n_bad_benchmarks == 1 ? " benchmarks fails" : " benchmarks fail", s->to);
        return;
    }
    if (!s->n) {
        fputs("Nothing was run", s->to);
        return;
    }
    if (!bad)
        fputs("Nothing is wrong", s->to);
    else if (s->n_bugs)
        site_counted(s, s->n_bugs, "bug", "bugs");
    if (s->n_bugs && s->n_unsorted)
        fputs(" and ", s->to);
    if (s->n_unsorted)
        site_counted(s, s->n_unsorted, "unsorted failure", "unsorted failures");
    fputs(" in ", s->to);
    if (bad) {
        site_count(s, bad);
        fputs(" of ", s->to);
    }
    site_counted(s, s->n, "verdict", "verdicts");
}

static int put_state(struct site *s, struct why *w)
{
    int64_t unfinished, unloaded, bad = s->n - s->n_conforming;
    TRY(site_number(s, QUERY_UNFINISHED, 0, &unfinished, w));
    TRY(site_number(s, QUERY_N_UNLOADED, s->o->run, &unloaded, w));
    bool good =
        !bad && !s->n_bad_benchmarks && (s->n || s->n_benchmarks) && !unfinished && !unloaded;
    fprintf(s->to,
            "<div class=\"state %s\"><span class=\"mark\" aria-hidden=\"true\">%s</span>"
            "<div><h1>",
            good ? "good" : "bad", good ? "\xe2\x9c\x93" : "!");
    site_headline(s);
    fputs("</h1>\n", s->to);
    put_written(s);
    if (unfinished)
        fputs("<p class=\"warn\">A run did not finish: cases are missing.</p>\n", s->to);
    if (unloaded) {
        fputs("<p class=\"warn\"><a href=\"#unloaded\">", s->to);
        site_counted(s, unloaded, "file", "files");
        fputs(" could not be loaded.</a></p>\n", s->to);
    }
    fputs("</div></div>\n", s->to);
    return 0;
}

static int put_tiles(struct site *s, struct why *w)
{
    int64_t cases, compared, summed;
    char none[160] = ""; /* verdicts of which there are none */

    if (!s->n && s->n_benchmarks) /* benchmarks have no verdicts */
        return 0;
    TRY(site_number(s, QUERY_CASES, 0, &cases, w));
    TRY(site_number(s, QUERY_SUMMED, 0, &summed, w));
    TRY(site_number(s, QUERY_COMPARED, 0, &compared, w));
    site_bar(s, s->count);
    fputs("<ul class=\"tiles\">\n", s->to);
    for (int i = 0; i < N_VERDICTS; i++) {
        const char *name = site_verdict[i];
        if (!s->count[i]) {
            snprintf(none + strlen(none), sizeof(none) - strlen(none), "%s%s", *none ? ", " : "",
                     name);
            continue;
        }
        fprintf(s->to, "<li><a href=\"#cases?verdict=%s\"><b>", name);
        site_count(s, s->count[i]);
        fprintf(s->to, "</b> <span><i class=\"dot v-%s\"></i>%s</span></a></li>\n", name, name);
    }
    if (*none)
        fprintf(s->to, "<li class=\"none\"><b>0</b> <span>%s</span></li>\n", none);
    fputs("</ul>\n<p class=\"soft\">", s->to);
    site_counted(s, cases, "case", "cases");
    fputs(" on ", s->to);
    site_counted(s, s->n_targets, "target", "targets");
    fputs("; ", s->to);
    site_counted(s, compared, "element", "elements");
    fputs(" compared.</p>\n", s->to);
    if (summed) {
        fputs("<p class=\"soft\">", s->to);
        site_counted(s, summed, "case is in a summary", "cases are in summaries");
        fputs(": all are counted, only the first failures of each bug are listed; times of single "
              "cases are not kept.</p>\n",
              s->to);
    }
    return 0;
}

static int put_page(struct site *s, struct why *w)
{
    fputs(head, s->to);
    TRY(put_state(s, w));
    TRY(put_tiles(s, w));
    TRY(site_put_bugs(s, w));
    TRY(site_put_targets(s, w));
    TRY(site_put_matrix(s, w));
    TRY(site_put_coverage(s, w));
    TRY(site_put_ratios(s, w));
    TRY(site_put_times(s, w));
    TRY(site_put_bench(s, w));
    TRY(site_put_flakes(s, w));
    TRY(site_put_trend(s, w));
    TRY(site_put_gaps(s, w));
    TRY(site_put_cases(s, w));
    TRY(site_put_runs(s, w));
    fputs(foot, s->to);
    fputs("</body>\n</html>\n", s->to);
    return site_put_facts(s, w);
}

static int write_files(struct site *s, struct why *w)
{
    FILE *page;
    TRY(folder_write(s->folder, "site.css", site_css, w));
    TRY(folder_write(s->folder, "site.js", site_js, w));
    TRY(folder_open(s->folder, "index.html", &page, w));
    s->to = page;
    int failed = put_page(s, w);
    int closed = folder_close(s->folder, "index.html", page, failed ? NULL : w);
    return failed ? failed : closed;
}

static double monotonic_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

int report_write(const char *db_path, const char *dir, const struct report_options *o,
                 struct why *w)
{
    struct folder folder = { 0 };
    struct site s = { .path = db_path,
                      .o = o ? o : &report_defaults,
                      .folder = &folder,
                      .layout.left = GRAPH_PAGE_SPAN };
    int failed = site_open(&s, w);
    if (!failed)
        failed = folder_begin(&folder, dir, w);
    s.graphs_until = monotonic_seconds() + GRAPH_WALL_SECONDS;
    if (!failed)
        failed = write_files(&s, w);
    if (folder_end(&folder, !failed, failed ? NULL : w) < 0)
        failed = -1;
    free(s.details.row);
    sqlite3_close(s.db);
    return failed;
}
