/* reports: models, results and operations as text, graphs and HTML.
 *
 * graphDump draws a model (Graphviz); the report reads the results database
 * (harness/store/schema.sql) and writes one HTML page with each failure and its graph; the manual
 * prints an operation's record.  Nothing here runs a model. */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdio.h>

#include "golden/golden.h"

struct graph_dump_options {
    int32_t mark_output; /* index of a main graph output to highlight (a failure's); -1: none */
};

/* Writes the model as Graphviz text (DOT): operations, operands with lifetime, type and shape,
 * subgraphs as clusters.  name: title of the graph.  options may be NULL.  The model need not be
 * valid. */
int graph_dump_dot(const struct model *m, const char *name,
                   const struct graph_dump_options *options, FILE *to, struct why *w);
/* The same text as a string (malloced). */
int graph_dump_text(const struct model *m, const char *name,
                    const struct graph_dump_options *options, char **ret_dot, struct why *w);
/* Writes the same text to the log (golden/base/logging.h), line by line. */
int graph_dump_log(const struct model *m, const char *name, struct why *w);
/* Lays the graph out as an SVG document (malloced). */
int graph_dump_svg(const struct model *m, const char *name,
                   const struct graph_dump_options *options, char **ret_svg, struct why *w);

/* Writes DIR/index.html, a self-contained page, from a results database.  run: the verdicts of that
 * run; 0: of all runs, for each case and target the newest verdict.  Creates DIR if necessary. */
int report_write(const char *db_path, const char *dir, int64_t run, struct why *w);

/* Write the manual of one operation, from its record. */
void op_manual_text(const struct op *op, FILE *to);
void op_manual_markdown(const struct op *op, FILE *to);
/* Writes a page about all operations: docs/operations.md. */
void op_catalogue_markdown(FILE *to);

#endif
