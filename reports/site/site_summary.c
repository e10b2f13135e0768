/* The summary as text for a terminal, and as Markdown for the page of a CI job, from the queries of
 * the site: what is wrong first. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "reports/site/site.h"

enum { TEXT_BUGS = 20, MARKDOWN_BUGS = 200, GAPS = 10, NOTES = 20, RESERVED = 12000 };

struct summary {
    bool markdown;
    int64_t written; /* bugs */
    bool full;       /* the limit of Markdown is reached */
    int left;        /* rows that may still be written in this section */
    int64_t (*n)[N_VERDICTS];
};

/* Text from the database: in Markdown a code span, in which nothing but backquotes (and in tables
 * bars) has a meaning. */
static void put_text(struct site *s, const struct summary *u, const char *text, size_t most)
{
    if (!u->markdown) {
        text_put(s->to, TEXT_TERMINAL, text, most);
        return;
    }
    char *shown = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&shown, &length);
    if (!to)
        return;
    text_put(to, TEXT_TERMINAL, text, most);
    fclose(to);
    fputc('`', s->to);
    for (const char *at = shown; at && *at; at++) {
        if (*at == '|')
            fputc('\\', s->to);
        fputc(*at == '`' ? '\'' : *at, s->to);
    }
    fputs(shown && *shown ? "`" : " `", s->to);
    free(shown);
}

static void put_column(struct site *s, const struct summary *u, sqlite3_stmt *row, int i)
{
    put_text(s, u, site_column(row, i), 300);
}

static void put_heading(struct site *s, const struct summary *u, const char *title)
{
    fprintf(s->to, u->markdown ? "\n### %s\n\n" : "\n%s\n", title);
}

static void put_worst(struct site *s, sqlite3_stmt *row)
{
    const int c = BUG_CASE;
    bool blamed = !site_is_null(row, c + CASE_BLAMED_OUTPUT);
    if (!blamed && site_is_null(row, c + CASE_OUTPUT))
        return;
    int at = c + (blamed ? CASE_BLAMED_EXPECTED : CASE_EXPECTED);
    fputs(": expected ", s->to);
    site_real(s, row, at);
    fputs(", actual ", s->to);
    site_real(s, row, at + 1);
    fputs(", allowed error ", s->to);
    site_real(s, row, at + 2);
}

static int put_bug(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct summary *u = user;
    const int c = BUG_CASE;
    if (u->full || (u->markdown && ftell(s->to) > REPORT_MARKDOWN_BYTES - RESERVED)) {
        u->full = true;
        return 0;
    }
    const char *verdict = site_column(row, c + CASE_VERDICT);
    char *title = site_bug_title(row);
    if (!title)
        return why_no_memory(w);
    fprintf(s->to, u->markdown ? "%" PRId64 ". **%s** " : "%3" PRId64 "  %-9s ", ++u->written,
            site_verdict[site_verdict_index(verdict)]);
    put_text(s, u, title, 300);
    free(title);
    fputs(u->markdown ? "  \n   " : "\n     ", s->to);
    site_counted(s, sqlite3_column_int64(row, BUG_CASES), "case", "cases");
    fputs(" on ", s->to);
    if (sqlite3_column_int64(row, BUG_TARGETS) > 1)
        site_counted(s, sqlite3_column_int64(row, BUG_TARGETS), "target", "targets");
    else
        put_column(s, u, row, c + CASE_URI);
    if (!site_is_null(row, c + CASE_BLAMED_OPERATION)) {
        fputs("; first wrong operation ", s->to);
        put_column(s, u, row, c + CASE_BLAMED_OPERATION);
    }
    put_worst(s, row);
    if (!site_is_null(row, c + CASE_REPLAY)) {
        fputs(u->markdown ? "  \n   " : "\n     ", s->to);
        put_text(s, u, site_column(row, c + CASE_REPLAY), 0);
    }
    fputc('\n', s->to);
    return 0;
}

static int take_totals(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct summary *u = user;
    int64_t tid = sqlite3_column_int64(row, 0);
    (void) w;
    if (tid >= 0 && tid < s->n_targets)
        u->n[tid][site_verdict_index(site_column(row, 1))] += sqlite3_column_int64(row, 2);
    return 0;
}

static void put_bugs(struct site *s, int64_t n)
{
    fputs(": ", s->to);
    site_counted(s, n, "bug", "bugs");
}

/* tid, uri, ..., checked, ms, device_ns, bugs */
static int put_target(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct summary *u = user;
    const int64_t *n = u->n[sqlite3_column_int64(row, 0)];
    (void) w;
    if (u->left-- <= 0)
        return 0;
    fputs(u->markdown ? "| " : "  ", s->to);
    put_column(s, u, row, 1);
    if (u->markdown)
        fprintf(s->to, " | %" PRId64 " |", (int64_t) sqlite3_column_int64(row, 9));
    else
        put_bugs(s, sqlite3_column_int64(row, 9));
    for (int i = 0; i < N_VERDICTS; i++)
        if (u->markdown && s->count[i])
            fprintf(s->to, " %" PRId64 " |", n[i]);
        else if (!u->markdown && n[i])
            fprintf(s->to, ", %" PRId64 " %s", n[i], site_verdict[i]);
    fputc('\n', s->to);
    return 0;
}

static int put_targets(struct site *s, struct summary *u, struct why *w)
{
    put_heading(s, u, "Targets");
    if (u->markdown) {
        fputs("| target | bugs |", s->to);
        for (int i = 0; i < N_VERDICTS; i++)
            if (s->count[i])
                fprintf(s->to, " %s |", site_verdict[i]);
        fputs("\n|---|---:|", s->to);
        for (int i = 0; i < N_VERDICTS; i++)
            fputs(s->count[i] ? "---:|" : "", s->to);
        fputc('\n', s->to);
    }
    u->left = 32;
    return site_each(s, QUERY_TARGETS, 0, 0, put_target, u, w);
}

/* uri, why, a name, n */
static int put_gap(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct summary *u = user;
    (void) w;
    if (u->left-- <= 0)
        return 0;
    if (u->left == GAPS - 1)
        put_heading(s, u, "Not compared");
    fprintf(s->to, u->markdown ? "- %" PRId64 " on " : "%7" PRId64 "  ",
            (int64_t) sqlite3_column_int64(row, 3));
    put_column(s, u, row, 0);
    fputs(u->markdown ? ": " : "  ", s->to);
    put_column(s, u, row, 1);
    fputc('\n', s->to);
    return 0;
}

/* run, why; or run, uri, text */
static int put_note(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct summary *u = user;
    int n = sqlite3_column_count(row);
    (void) w;
    if (u->left-- <= 0)
        return 0;
    if (u->left == NOTES - 1)
        put_heading(s, u, n > 2 ? "Notes about targets" : "Files that could not be loaded");
    fputs(u->markdown ? "- " : "  ", s->to);
    for (int i = 1; i < n; i++) {
        fputs(i > 1 ? ": " : "", s->to);
        put_column(s, u, row, i);
    }
    fputc('\n', s->to);
    return 0;
}

static int put_state(struct site *s, struct summary *u, struct why *w)
{
    int64_t unfinished;
    bool first = true;
    TRY(site_number(s, QUERY_UNFINISHED, 0, &unfinished, w));
    fputs(u->markdown ? "## Halcyon: " : "", s->to);
    site_headline(s);
    fputc('\n', s->to);
    fputs(u->markdown && s->n ? "\n" : "", s->to);
    for (int i = 0; i < N_VERDICTS; i++)
        if (s->count[i]) {
            fputs(first ? "" : ", ", s->to);
            site_count(s, s->count[i]);
            fprintf(s->to, " %s", site_verdict[i]);
            first = false;
        }
    fputs(s->n ? "\n" : "", s->to);
    if (unfinished)
        fprintf(s->to, "%sA run did not finish: cases are missing.\n", u->markdown ? "\n" : "");
    return 0;
}

static int put_summary(struct site *s, struct summary *u, struct why *w)
{
    TRY(put_state(s, u, w));
    if (s->n_cards) {
        put_heading(s, u, "What is wrong");
        TRY(site_each(s, QUERY_BUGS, 0, u->markdown ? MARKDOWN_BUGS : TEXT_BUGS, put_bug, u, w));
        if (s->n_cards > u->written)
            fprintf(s->to, "%s%" PRId64 " more; 'halcyon report -o DIR' shows all.\n",
                    u->markdown ? "\n" : "     ", s->n_cards - u->written);
    }
    if (!s->n)
        return 0;
    TRY(site_each(s, QUERY_TARGET_TOTALS, 0, 0, take_totals, u, w));
    TRY(put_targets(s, u, w));
    u->left = NOTES;
    TRY(site_each(s, QUERY_UNLOADED, s->o->run, 0, put_note, u, w));
    u->left = NOTES;
    TRY(site_each(s, QUERY_NOTES, s->o->run, 0, put_note, u, w));
    u->left = GAPS;
    TRY(site_each(s, QUERY_UNDECIDED, 0, 0, put_gap, u, w));
    return site_each(s, QUERY_UNSUPPORTED, 0, 0, put_gap, u, w);
}

int report_summary(const char *db_path, bool markdown, const struct report_options *o, FILE *to,
                   struct why *w)
{
    char *text = NULL;
    size_t length = 0;
    struct summary u = { .markdown = markdown };
    struct site s = { .path = db_path, .o = o ? o : &report_defaults };
    int failed = site_open(&s, w);
    if (!failed) {
        u.n = calloc((size_t) s.n_targets + 1, sizeof(*u.n));
        s.to = open_memstream(&text, &length);
        failed = u.n && s.to ? put_summary(&s, &u, w) : why_no_memory(w);
    }
    if (s.to)
        fclose(s.to);
    if (!failed)
        fwrite(text, 1, length, to);
    free(text);
    free(u.n);
    sqlite3_close(s.db);
    return failed;
}
