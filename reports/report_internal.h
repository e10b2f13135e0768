/* The parts of the HTML report share a connection and the page being written. */
#ifndef REPORTS_REPORT_INTERNAL_H
#define REPORTS_REPORT_INTERNAL_H

#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/why.h"

/* The closed list of verdicts, in the order in which the page shows them. */
enum { N_VERDICTS = 9, N_CONFORMING = 3 };
extern const char *const report_verdict[N_VERDICTS]; /* the first N_CONFORMING are conforming */

struct report {
    sqlite3 *db; /* has the temporary table `shown`: the verdicts that the page is about */
    const char *path;
    FILE *to;
    int64_t count[N_VERDICTS], n; /* of each verdict, and of all */
};

/* Calls each() for every row of a query; its ?1 is `number`.  each() returns -1 to stop. */
typedef int report_row(const struct report *r, sqlite3_stmt *row, void *user, struct why *w);
int report_each(const struct report *r, const char *sql, int64_t number, report_row *each,
                void *user, struct why *w);
/* A query's single number. */
int report_number(const struct report *r, const char *sql, int64_t *ret_number, struct why *w);

/* Column i: text (escaped into the page), whole numbers with separators of thousands. */
void report_put_column(const struct report *r, sqlite3_stmt *row, int i);
void report_put_count(const struct report *r, int64_t n);
/* "340 us", "1.20 s" */
void report_put_ms(const struct report *r, double ms);

/* Parts of a case: its graph with the failing output marked (-1: none), its specification.  Nothing
 * where it is NULL. */
void report_put_graph(const struct report *r, const char *dot, int64_t mark_output);
void report_put_spec(const struct report *r, const char *spec);

/* The sections of the page. */
int report_put_head(const struct report *r, int64_t run, struct why *w);
int report_put_totals(const struct report *r, struct why *w);
int report_put_failures(const struct report *r, struct why *w);

#endif
