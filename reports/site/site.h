/* Shared by the parts of the report: the database, the file being written, and helpers.
 *
 * Text from the database is untrusted (drivers report names and reasons): it is written by
 * site_text() into HTML, and by site_js_text() into data files. */
#ifndef REPORTS_SITE_H
#define REPORTS_SITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "reports/graph/graph_layout.h"
#include "reports/reports.h"
#include "reports/site/site_folder.h"
#include "reports/site/site_queries.h"

/* The closed list of verdicts, in the order in which the page shows them. */
enum { N_VERDICTS = 11, SITE_UNDECIDED = 1, SITE_WAIVED = 2, SITE_UNSUPPORTED = 3, SITE_FLAKY = 9 };
extern const char *const site_verdict[N_VERDICTS];

struct site {
    sqlite3 *db; /* with the temporary tables of site_queries.c */
    const char *path;
    const struct report_options *o;
    FILE *to;                     /* the page, or a fragment of one */
    struct folder *folder;        /* NULL: of a summary, which has none */
    int64_t count[N_VERDICTS], n; /* shown verdicts of each kind, and in total */
    bool conforming[N_VERDICTS];  /* by the database; known of the verdicts that it has */
    int64_t n_conforming;
    int64_t n_bugs, n_unsorted;     /* bugs, and failures that are not sorted into bugs */
    int64_t n_cards, n_bugs_inside; /* rows of what is wrong, and those in the page itself */
    int64_t n_bug_files;            /* of the others */
    int64_t n_benchmarks, n_bad_benchmarks; /* results of `halcyon bench` */
    int64_t n_targets;
    int64_t n_rows, n_left_out; /* verdicts in the data files, and verdicts that are not */
    struct first_rows {         /* of the files of details: the first row that each has */
        int64_t *row;
        size_t n;
    } details;
    struct graph_budget layout; /* left for the graphs of bugs */
    double graphs_until;        /* monotonic seconds after which no more graphs are drawn */
    int n_graphs;
};

/* Calls each() for every row of a query; the numbers are bound to its ?1 and ?2, if it has them.
 * each() returns -1 to stop. */
typedef int site_row(struct site *s, sqlite3_stmt *row, void *user, struct why *w);
int site_each(struct site *s, enum site_query query, int64_t first, int64_t second, site_row *each,
              void *user, struct why *w);
/* Runs a query with one row and column, an integer. */
int site_number(struct site *s, enum site_query query, int64_t number, int64_t *ret_number,
                struct why *w);

/* Opens the database and creates the tables of site_queries.c; sets the counts. */
int site_open(struct site *s, struct why *w);

/* The index of a verdict in site_verdict[]; that of "error" for any other text. */
int site_verdict_index(const char *verdict);
const char *site_column(sqlite3_stmt *row, int i); /* "" for NULL */
bool site_is_null(sqlite3_stmt *row, int i);

/* Write escaped text; most: characters, 0: all. */
void site_text(struct site *s, const char *text, size_t most);
void site_put(struct site *s, sqlite3_stmt *row, int i);
/* Writes an integer with thousands separators: "1,234"; and with a noun: "1 case", "2 cases". */
void site_count(struct site *s, int64_t n);
void site_counted(struct site *s, int64_t n, const char *one, const char *many);
/* Writes milliseconds in a fitting unit: "340 us", "1.2 s"; a real number; NULL is NaN. */
void site_ms(struct site *s, double ms);
void site_real(struct site *s, sqlite3_stmt *row, int i);
void site_badge(struct site *s, const char *verdict);
/* Writes a bar of the verdicts' shares.  n: one number for each verdict. */
void site_bar(struct site *s, const int64_t n[N_VERDICTS]);
/* Begins a section with its heading, and ends it. */
void site_begin(struct site *s, const char *id, const char *title, const char *remark);
void site_end(struct site *s);
/* Writes "<div class=scroll><table><thead>" with the headings, separated by '|'; a heading that
 * begins with '#' is of a column of numbers. */
void site_table(struct site *s, const char *headings);
void site_table_end(struct site *s);
/* Writes a text in a folded section; nothing for NULL.  most: bytes. */
void site_folded(struct site *s, const char *title, const char *text, size_t most);
/* Writes a command with a button that copies it. */
void site_command(struct site *s, const char *command);

/* Write a string as a literal of JavaScript, without anything that ends a script element. */
void site_js_text(FILE *to, const char *text); /* untrusted text, shown as text */
void site_js_html(FILE *to, const char *html); /* a fragment that the report has escaped */

/* Write the sections, in the order of the page. */
int site_put_bugs(struct site *s, struct why *w);
int site_put_targets(struct site *s, struct why *w);
int site_put_matrix(struct site *s, struct why *w);
int site_put_coverage(struct site *s, struct why *w);
int site_put_ratios(struct site *s, struct why *w);
int site_put_times(struct site *s, struct why *w);
int site_put_bench(struct site *s, struct why *w);
int site_put_flakes(struct site *s, struct why *w);
int site_put_trend(struct site *s, struct why *w);
int site_put_gaps(struct site *s, struct why *w);
int site_put_cases(struct site *s, struct why *w);
int site_put_runs(struct site *s, struct why *w);
/* Writes data/facts.js, the data that the script begins with; last, as it has the numbers of rows.
 */
int site_put_facts(struct site *s, struct why *w);

/* A bug's anchor: "bug-" and 8 hexadecimal digits of its key. */
enum { BUG_SLUG = 16 };
void site_slug(const char *key, char slug[BUG_SLUG]);
/* A bug's title, from a row of QUERY_BUGS: its bucket without the verdict, or operation and type,
 * or the reason.  Malloced; NULL: out of memory. */
char *site_bug_title(sqlite3_stmt *row);
/* Writes "3 bugs in 20 of 100 verdicts", or that nothing is wrong. */
void site_headline(struct site *s);

#endif
