/* The cases: rows of all verdicts in files of ROWS_IN_FILE, those that do not conform first, bug by
 * bug; in further files each verdict that does not conform in full.  And the data that the script
 * begins with. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/base/text_escape.h"
#include "reports/site/site.h"

enum {
    ROWS_IN_FILE = 1000,
    MOST_ROWS = 300 * 1000,
    MOST_DETAILS = 20 * 1000,
    DETAILS_IN_FILE = 50,
    DETAILS_BYTES = 400 * 1000,      /* of a file of details, after which the next one begins */
    TEXTS_BYTES = 28 * 1000 * 1000,  /* of specifications and the like, in the whole folder */
    FOLDER_BYTES = 52 * 1000 * 1000, /* after which there are no more details */
    LARGEST_TEXT = 60 * 1000,
    MOST_BUGS = 2000,      /* whose rows the script can find */
    MOST_CELL_BUGS = 20000 /* entries of the bugs of each operation and type */
};

/* ---- rows */

struct rows {
    FILE *file;
    int64_t number, in_file;
    char name[64];
};

static int end_rows(struct site *s, struct rows *r, struct why *w)
{
    if (!r->file)
        return 0;
    fputs("]);\n", r->file);
    int failed = folder_close(s->folder, r->name, r->file, w);
    r->file = NULL;
    return failed;
}

/* name, tid, verdict, ms, ratio, bug, pairs */
static int put_row(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct rows *r = user;
    if (r->file && r->in_file == ROWS_IN_FILE)
        TRY(end_rows(s, r, w));
    if (!r->file) {
        snprintf(r->name, sizeof(r->name), "data/cases-%04" PRId64 ".js", ++r->number);
        TRY(folder_open(s->folder, r->name, &r->file, w));
        fprintf(r->file, "halcyon(\"cases-%04" PRId64 "\",[\n", r->number);
        r->in_file = 0;
    }
    fputs(r->in_file++ ? ",\n[" : "[", r->file);
    site_js_text(r->file, site_column(row, 0));
    fprintf(r->file, ",%d,%d,%.4g,", sqlite3_column_int(row, 1),
            site_verdict_index(site_column(row, 2)), sqlite3_column_double(row, 3));
    double ratio = sqlite3_column_double(row, 4);
    if (site_is_null(row, 4) || !(ratio < 1e300))
        fputs("null", r->file);
    else
        fprintf(r->file, "%.4g", ratio);
    fprintf(r->file, ",%" PRId64 ",[%s]]",
            site_is_null(row, 5) ? -1 : (int64_t) sqlite3_column_int64(row, 5),
            site_column(row, 6));
    s->n_rows++;
    return 0;
}

/* ---- details */

static void put_fact(struct site *s, sqlite3_stmt *row, const char *name, int c)
{
    if (site_is_null(row, c))
        return;
    fprintf(s->to, "<dt>%s</dt><dd>", name);
    site_put(s, row, c);
    fputs("</dd>", s->to);
}

static void put_number(struct site *s, sqlite3_stmt *row, const char *name, int c)
{
    fprintf(s->to, "<dt>%s</dt><dd>", name);
    site_real(s, row, c);
    fputs("</dd>", s->to);
}

static void put_worst(struct site *s, sqlite3_stmt *row)
{
    if (site_is_null(row, CASE_OUTPUT))
        return;
    fprintf(s->to, "<dl><dt>worst element</dt><dd>output %d ",
            sqlite3_column_int(row, CASE_OUTPUT));
    site_put(s, row, CASE_PLACE);
    fputs("</dd>", s->to);
    put_number(s, row, "expected", CASE_EXPECTED);
    put_number(s, row, "actual", CASE_ACTUAL);
    put_number(s, row, "bound", CASE_BOUND);
    put_number(s, row, "ratio", CASE_RATIO);
    fprintf(s->to, "<dt>elements</dt><dd>%" PRId64 " of %" PRId64 " outside their bound</dd>",
            (int64_t) sqlite3_column_int64(row, CASE_WRONG),
            (int64_t) sqlite3_column_int64(row, CASE_CHECKED));
    put_fact(s, row, "computed by", CASE_OPERATION);
    put_fact(s, row, "type", CASE_TYPE);
    fputs("</dl>\n", s->to);
}

/* The operations that the failure comes from, and their own worst element. */
static void put_blamed(struct site *s, sqlite3_stmt *row)
{
    const int64_t count = sqlite3_column_int64(row, CASE_BLAMED_COUNT);
    if (site_is_null(row, CASE_BLAMED_WHY) && !count)
        return;
    fputs("<dl><dt>blamed</dt><dd>", s->to);
    if (!count)
        fputs("no single operation", s->to);
    else if (count > 1)
        fprintf(s->to, "%" PRId64 " operations, only together: ", count);
    else if (sqlite3_column_int64(row, CASE_BLAMED_GRAPH))
        fprintf(s->to, "subgraph %" PRId64 ", operation %" PRId64 ", alone: ",
                (int64_t) sqlite3_column_int64(row, CASE_BLAMED_GRAPH),
                (int64_t) sqlite3_column_int64(row, CASE_BLAMED_INDEX));
    else
        fprintf(s->to, "operation %" PRId64 ", alone: ",
                (int64_t) sqlite3_column_int64(row, CASE_BLAMED_INDEX));
    site_put(s, row, CASE_BLAMED_OPERATION);
    fputs("</dd>", s->to);
    put_fact(s, row, "its type", CASE_BLAMED_TYPE);
    put_fact(s, row, "reason", CASE_BLAMED_WHY);
    if (!site_is_null(row, CASE_BLAMED_OUTPUT)) {
        put_fact(s, row, "its worst element", CASE_BLAMED_PLACE);
        put_number(s, row, "expected", CASE_BLAMED_EXPECTED);
        put_number(s, row, "actual", CASE_BLAMED_ACTUAL);
        put_number(s, row, "bound", CASE_BLAMED_BOUND);
        put_number(s, row, "ratio", CASE_BLAMED_RATIO);
    }
    fputs("</dl>\n", s->to);
}

/* Draws expected value, allowed band and actual value on a line.  The drawing is 340 units wide
 * with the expected value in the middle; the band's end or the actual value, whichever is farther,
 * lies 110 units from it. */
static void put_line(struct site *s, sqlite3_stmt *row)
{
    for (int c = CASE_EXPECTED; c <= CASE_RATIO; c++)
        if (site_is_null(row, c))
            return;
    double expected = sqlite3_column_double(row, CASE_EXPECTED),
           actual = sqlite3_column_double(row, CASE_ACTUAL);
    double bound = sqlite3_column_double(row, CASE_BOUND), off = actual - expected;
    double away = off < 0 ? -off : off, far = away > bound ? away : bound;
    if (!(far > 0 && far < 1e300 && bound >= 0))
        return;
    double band = bound / far * 110, at = 170 + off / far * 110;
    band = band > 0.75 ? band : 0.75;
    fprintf(s->to,
            "<svg class=\"line\" viewBox=\"0 0 340 46\" role=\"img\" aria-label=\"expected and "
            "actual\"><path class=\"axis\" d=\"M10 23H330\"/>"
            "<rect class=\"band\" x=\"%.2f\" y=\"16\" width=\"%.2f\" height=\"14\" rx=\"%.2f\"/>"
            "<path class=\"good\" d=\"M170 14V32\"/><circle class=\"bad\" cx=\"%.2f\" cy=\"23\" "
            "r=\"5\"/><text x=\"170\" y=\"44\" text-anchor=\"middle\">expected</text>"
            "<text x=\"%.2f\" y=\"10\" text-anchor=\"middle\">actual</text></svg>\n",
            170 - band, 2 * band, band < 4 ? band : 4, at, at);
}

static void put_detail(struct site *s, sqlite3_stmt *row, bool texts)
{
    fputs("<h3>", s->to);
    site_put(s, row, CASE_NAME_);
    fputs("</h3><p>", s->to);
    site_badge(s, site_column(row, CASE_VERDICT));
    fputs(" on <b>", s->to);
    site_put(s, row, CASE_URI);
    fputs("</b></p><p class=\"why\">", s->to);
    site_text(s, site_column(row, CASE_WHY), 2000);
    fputs("</p>\n", s->to);
    if (!site_is_null(row, CASE_REPLAY))
        site_command(s, site_column(row, CASE_REPLAY));
    put_line(s, row);
    fputs("<div class=\"split\">", s->to);
    put_worst(s, row);
    put_blamed(s, row);
    fputs("<dl>", s->to);
    put_fact(s, row, "bucket", CASE_BUCKET);
    put_fact(s, row, "was", CASE_WAS);
    put_fact(s, row, "run again", CASE_CONFIRMED);
    put_fact(s, row, "stage", CASE_STAGE);
    put_fact(s, row, "HAL status", CASE_STATUS);
    put_fact(s, row, "judge", CASE_JUDGE);
    put_fact(s, row, "operations", CASE_OPERATIONS);
    put_fact(s, row, "feature level", CASE_LEVEL);
    fputs("<dt>wall clock</dt><dd>", s->to);
    site_ms(s, sqlite3_column_double(row, CASE_WALL));
    fputs("</dd>", s->to);
    if (!site_is_null(row, CASE_DEVICE)) {
        fputs("<dt>time on device</dt><dd>", s->to);
        site_ms(s, sqlite3_column_double(row, CASE_DEVICE) / 1e6);
        fputs("</dd>", s->to);
    }
    fputs("</dl></div>\n", s->to);
    if (texts) {
        site_folded(s, "shrunk specification", site_column(row, CASE_SHRUNK), LARGEST_TEXT);
        site_folded(s, "specification", site_column(row, CASE_SPEC), LARGEST_TEXT);
        site_folded(s, "printed by the driver", site_column(row, CASE_PRINTED), LARGEST_TEXT);
        site_folded(s, "backtrace", site_column(row, CASE_BACKTRACE), LARGEST_TEXT);
    } else {
        fputs("<p class=\"soft\">The specification is left out of this report, which has those of "
              "the smallest cases of each bug; the database has it.</p>\n",
              s->to);
    }
}

struct details {
    FILE *file;
    int64_t number, in_file;
    int64_t texts_until; /* the last place in a bug whose case is written with its texts */
    char name[64];
    bool full;
};

static int end_details(struct site *s, struct details *d, struct why *w)
{
    if (!d->file)
        return 0;
    fputs("]);\n", d->file);
    int failed = folder_close(s->folder, d->name, d->file, w);
    d->file = NULL;
    return failed;
}

static int begin_details(struct site *s, struct details *d, int64_t row, struct why *w)
{
    struct first_rows *f = &s->details;
    int64_t *more = array_room(f->row, f->n, sizeof *more);
    if (!more)
        return why_no_memory(w);
    f->row = more;
    f->row[f->n++] = row;
    snprintf(d->name, sizeof(d->name), "data/details-%04" PRId64 ".js", ++d->number);
    TRY(folder_open(s->folder, d->name, &d->file, w));
    fprintf(d->file, "halcyon(\"details-%04" PRId64 "\",[\n", d->number);
    d->in_file = 0;
    return 0;
}

static int take_detail(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct details *d = user;
    char *html = NULL;
    size_t length = 0;
    if (d->full)
        return 0;
    if (d->file && (d->in_file == DETAILS_IN_FILE || ftell(d->file) > DETAILS_BYTES)) {
        TRY(end_details(s, d, w));
        d->full = s->folder->bytes > FOLDER_BYTES;
        if (d->full)
            return 0;
    }
    if (!d->file)
        TRY(begin_details(s, d, sqlite3_column_int64(row, CASE_ROW), w));
    FILE *page = s->to;
    s->to = open_memstream(&html, &length);
    if (s->to) {
        put_detail(s, row, sqlite3_column_int64(row, CASE_PLACE_IN_BUG) <= d->texts_until);
        fclose(s->to);
    }
    s->to = page;
    if (!html)
        return why_no_memory(w);
    fputs(d->in_file++ ? ",\n" : "", d->file);
    site_js_html(d->file, html);
    free(html);
    return 0;
}

struct texts {
    int64_t bytes, until;
};

/* place, bytes: of the cases at that place in their bugs */
static int add_texts(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct texts *t = user;
    (void) s, (void) w;
    t->bytes += sqlite3_column_int64(row, 1);
    if (t->bytes <= TEXTS_BYTES)
        t->until = sqlite3_column_int64(row, 0);
    return 0;
}

static int put_details(struct site *s, struct why *w)
{
    struct texts t = { 0 };
    TRY(site_each(s, QUERY_TEXTS, 0, 0, add_texts, &t, w));
    struct details d = { .texts_until = t.until };
    int failed = site_each(s, QUERY_DETAILS, MOST_DETAILS, 0, take_detail, &d, w);
    return end_details(s, &d, failed ? NULL : w) | failed;
}

int site_put_cases(struct site *s, struct why *w)
{
    struct rows r = { 0 };
    int64_t all;
    if (!s->n)
        return 0;
    TRY(site_number(s, QUERY_N_ROWS, 0, &all, w));
    int failed = site_each(s, QUERY_ROWS, 0, MOST_ROWS, put_row, &r, w);
    TRY(end_rows(s, &r, failed ? NULL : w) | failed);
    TRY(put_details(s, w));
    s->n_left_out = all - s->n_rows;
    site_begin(
        s, "cases", "Cases",
        "All verdicts, those that do not conform first. They are loaded when they are wanted; "
        "a link to this page keeps the filter.");
    fputs(
        "<div class=\"tools\"><label>Search <input type=\"search\" id=\"case-filter\" "
        "placeholder=\"name\" autocomplete=\"off\"></label><label>Verdict "
        "<select id=\"case-verdict\"><option value=\"\">all</option></select></label>"
        "<label>Target <select id=\"case-target\"><option value=\"\">all</option></select></label>"
        "<span id=\"case-chips\"></span></div>\n"
        "<p id=\"case-count\" class=\"soft\" aria-live=\"polite\"></p>\n"
        "<div id=\"case-list\"></div>\n"
        "<button type=\"button\" id=\"more-cases\" class=\"wide\">Show cases</button>\n",
        s->to);
    if (s->n_left_out) {
        fputs("<p class=\"soft\">", s->to);
        site_counted(s, s->n_left_out, "conforming verdict is", "conforming verdicts are");
        fputs(" left out; the database has them.</p>\n", s->to);
    }
    site_end(s);
    return 0;
}

/* ---- data/facts.js: the data that the script begins with */

struct list {
    int64_t n;
};

static void put_comma(struct site *s, struct list *l)
{
    fputs(l->n++ ? "," : "", s->to);
}

static int fact_target(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) w;
    put_comma(s, user);
    site_js_text(s->to, site_column(row, 1));
    return 0;
}

static int fact_pair(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) w;
    put_comma(s, user);
    fputc('[', s->to);
    site_js_text(s->to, site_column(row, 0));
    fputc(',', s->to);
    site_js_text(s->to, site_column(row, 1));
    fputc(']', s->to);
    return 0;
}

/* pair, tid, roles */
static int fact_cell(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) w;
    put_comma(s, user);
    for (int i = 0; i < 2 + ROLE_CHECKED; i++)
        fprintf(s->to, "%c%" PRId64, i ? ',' : '[', (int64_t) sqlite3_column_int64(row, i));
    fputc(']', s->to);
    return 0;
}

/* pair, tid, bug, n */
static int fact_cell_bug(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct list *l = user;
    (void) w;
    if (l->n > MOST_CELL_BUGS)
        return 0;
    put_comma(s, user);
    for (int i = 0; i < 4; i++)
        fprintf(s->to, "%c%" PRId64, i ? ',' : '[', (int64_t) sqlite3_column_int64(row, i));
    fputc(']', s->to);
    return 0;
}

static int fact_range(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) w;
    put_comma(s, user);
    fprintf(s->to, "[%d,%" PRId64 ",%" PRId64 "]", site_verdict_index(site_column(row, 0)),
            (int64_t) sqlite3_column_int64(row, 1), (int64_t) sqlite3_column_int64(row, 2));
    return 0;
}

/* The columns of enum bug_column: anchor, rows and title of each. */
static int fact_bug(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    char slug[BUG_SLUG];
    char *title = site_bug_title(row);
    if (!title)
        return why_no_memory(w);
    if (strlen(title) > 60)
        memcpy(title + 57, "...", 4);
    site_slug(site_column(row, BUG_KEY), slug);
    put_comma(s, user);
    fprintf(s->to, "[\"%s\",%" PRId64 ",%" PRId64 ",", slug + 4,
            (int64_t) sqlite3_column_int64(row, BUG_ROW),
            (int64_t) sqlite3_column_int64(row, BUG_CASES));
    site_js_text(s->to, title);
    fputs("]\n", s->to);
    free(title);
    return 0;
}

static int put_list(struct site *s, const char *name, enum site_query query, int64_t first,
                    int64_t second, site_row *each, struct why *w)
{
    struct list l = { 0 };
    fprintf(s->to, ",\n\"%s\":[", name);
    int failed = site_each(s, query, first, second, each, &l, w);
    fputc(']', s->to);
    return failed;
}

static int put_facts(struct site *s, struct why *w)
{
    fputs("halcyon(\"facts\",\n{\"verdicts\":[", s->to);
    for (int i = 0; i < N_VERDICTS; i++)
        fprintf(s->to, "%s\"%s\"", i ? "," : "", site_verdict[i]);
    fputs("],\n\"counts\":[", s->to);
    for (int i = 0; i < N_VERDICTS; i++)
        fprintf(s->to, "%s%" PRId64, i ? "," : "", s->count[i]);
    fprintf(s->to,
            "],\n\"rows\":%" PRId64 ",\"rowsInFile\":%d,\"bugFiles\":%" PRId64 ",\"details\":[",
            s->n_rows, ROWS_IN_FILE, s->n_bug_files);
    for (size_t i = 0; i < s->details.n; i++)
        fprintf(s->to, "%s%" PRId64, i ? "," : "", s->details.row[i]);
    fputc(']', s->to);
    TRY(put_list(s, "targets", QUERY_TARGETS, 0, 0, fact_target, w));
    TRY(put_list(s, "pairs", QUERY_PAIRS, 0, 0, fact_pair, w));
    TRY(put_list(s, "cells", QUERY_CELLS, 0, 0, fact_cell, w));
    TRY(put_list(s, "cellBugs", QUERY_CELL_BUGS, 0, 0, fact_cell_bug, w));
    TRY(put_list(s, "ranges", QUERY_VERDICT_ROWS, 0, 0, fact_range, w));
    TRY(put_list(s, "bugs", QUERY_BUGS, 0, MOST_BUGS, fact_bug, w));
    fputs("});\n", s->to);
    return 0;
}

int site_put_facts(struct site *s, struct why *w)
{
    static const char name[] = "data/facts.js";
    FILE *page = s->to;
    TRY(folder_open(s->folder, name, &s->to, w));
    int failed = put_facts(s, w);
    int closed = folder_close(s->folder, name, s->to, failed ? NULL : w);
    s->to = page;
    return failed ? failed : closed;
}
