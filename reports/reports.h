/* reports: models, results and operations as text, graphs and HTML.
 *
 * graphDump draws a model (Graphviz); the report reads the results database
 * (harness/store/schema.sql) and writes a static site, or a summary as text; the
 * manual prints an operation's record.  Nothing here runs a model. */
#ifndef REPORTS_REPORTS_H
#define REPORTS_REPORTS_H

#include <stdio.h>

#include "golden/golden.h"
#include "reports/graph/graph_dump.h"

/* The report of a results database. */
struct report_options {
    int64_t run; /* the verdicts of that run; 0: of all runs, for each case and target the newest */
    /* Reads the one example of a specification's text, allocated in `a`.  NULL: without the graphs
     * of bugs and the stored values of quantised elements. */
    int (*load)(void *user, const char *spec, struct arena *a, struct example *ret_example,
                struct why *w);
    void *user;
    /* What the name of a hypothesis at the end of a bucket's name means, as a sentence without a
     * full stop; NULL: not known. */
    const char *(*meaning)(const char *hypothesis);
    const char *database; /* how the report names the database; NULL: its path */
    /* The run that benchmarks are compared with, and its database; NULL: for each model and target
     * the run before. */
    const char *against;
    int64_t against_run;
};
extern const struct report_options report_defaults; /* all zero; NULL below means these */
/* Writes the folder DIR: index.html, which opens without a server or a network, its script and
 * style sheet, and data that it loads on demand.  The folder is written under another name and
 * renamed when it is complete.  A report that is there is replaced; a folder with other files only
 * is WHY_INVALID. */
int report_write(const char *db_path, const char *dir, const struct report_options *o,
                 struct why *w);
/* Writes a summary, what is wrong first.  markdown: for the page of a CI job, of at most
 * REPORT_MARKDOWN_BYTES; else as plain text.  Text from the database is escaped for its medium. */
enum { REPORT_MARKDOWN_BYTES = 60000 };
int report_summary(const char *db_path, bool markdown, const struct report_options *o, FILE *to,
                   struct why *w);

/* Write the manual of one operation, from its record. */
void op_manual_text(const struct op *op, FILE *to);
void op_manual_markdown(const struct op *op, FILE *to);
/* Writes a page about all operations: docs/operations.md. */
void op_catalogue_markdown(FILE *to);

#endif
