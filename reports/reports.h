/* reports: models, results and operations as text, graphs and HTML.
 *
 * graphDump draws a model (Graphviz); the report reads the results database
 * (harness/store/schema.sql) and writes one HTML page with each failure and its graph; the manual
 * prints an operation's record.  Nothing here runs a model. */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdio.h>

#include "golden/golden.h"
#include "reports/graph/graph_dump.h"

/* Writes DIR/index.html, a self-contained page, from a results database.  run: the verdicts of that
 * run; 0: of all runs, for each case and target the newest verdict.  Creates DIR if necessary. */
int report_write(const char *db_path, const char *dir, int64_t run, struct why *w);

/* Write the manual of one operation, from its record. */
void op_manual_text(const struct op *op, FILE *to);
void op_manual_markdown(const struct op *op, FILE *to);
/* Writes a page about all operations: docs/operations.md. */
void op_catalogue_markdown(FILE *to);

#endif
