/* Shared by the parts of the HTML report: the database, the page being written, and helpers. */
#ifndef REPORTS_REPORT_INTERNAL_H
#define REPORTS_REPORT_INTERNAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/why.h"

/* The closed list of verdicts, in the order in which the page shows them. */
enum { N_VERDICTS = 11 };
extern const char *const report_verdict[N_VERDICTS];

struct report {
    sqlite3 *db; /* with the temporary table `shown`: the verdicts that the page covers */
    const char *path;
    FILE *to;                     /* the page */
    int64_t count[N_VERDICTS], n; /* shown verdicts of each kind, and in total */
    bool conforming[N_VERDICTS];  /* by the database; known of the verdicts that it has */
    int64_t n_conforming;
};

/* Calls each() for every row of a query; `number` is bound to its ?1, if it has one.  each()
 * returns -1 to stop. */
typedef int report_row(const struct report *r, sqlite3_stmt *row, void *user, struct why *w);
int report_each(const struct report *r, const char *sql, int64_t number, report_row *each,
                void *user, struct why *w);
/* Runs a query with one row and column, an integer. */
int report_number(const struct report *r, const char *sql, int64_t *ret_number, struct why *w);

/* Writes column i as escaped text. */
void report_put_column(const struct report *r, sqlite3_stmt *row, int i);
/* Writes an integer with thousands separators: "1,234". */
void report_put_count(const struct report *r, int64_t n);
/* Writes milliseconds in a fitting unit: "340 us", "1.2 s". */
void report_put_ms(const struct report *r, double ms);

/* Write the sections of the page, in this order.  run: only that run; 0: all. */
int report_put_head(const struct report *r, int64_t run, struct why *w);
int report_put_totals(const struct report *r, struct why *w);
int report_put_failures(const struct report *r, struct why *w);

#endif
