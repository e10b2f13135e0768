/* reports: what people look at.
 *
 * graphDump draws a model (Graphviz); the report reads the results database
 * (harness/store/schema.sql) and writes one HTML page, with each failure and its graph; the manual
 * prints an operation's record. The database is the record, a report is a query: nothing here runs
 * a model. */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdio.h>

#include "golden/golden.h"

struct graph_dump_options {
    int32_t mark_output; /* index of a main graph output to highlight (a failure's); -1: none */
};

/* Graphviz text: subgraphs as clusters, lifetimes, types and shapes visible.  options may be NULL.
 */
int graph_dump_dot(const struct model *m, const char *name,
                   const struct graph_dump_options *options, FILE *to, struct why *w);
/* The same to the log (golden/base/logging.h), line by line. */
int graph_dump_log(const struct model *m, const char *name, struct why *w);
/* The same, laid out, as an SVG document (malloced). */
int graph_dump_svg(const struct model *m, const char *name,
                   const struct graph_dump_options *options, char **ret_svg, struct why *w);

/* Writes DIR/index.html (self-contained) from the database file.  run: that run alone; 0: all runs,
 * of each case on each target the newest verdict. */
int report_write(const char *db_path, const char *dir, int64_t run, struct why *w);

/* The manual of one operation, from its record. */
void op_manual_text(const struct op *op, FILE *to);
void op_manual_markdown(const struct op *op, FILE *to);
/* A page about all of them: docs/operations.md. */
void op_catalogue_markdown(FILE *to);

#endif
