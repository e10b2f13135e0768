/* Shared by the files of the results database. */
#ifndef HARNESS_RESULTS_INTERNAL_H
#define HARNESS_RESULTS_INTERNAL_H

#include <sqlite3.h>

#include "harness/cli/options.h"
#include "harness/store/results.h"

enum statement {
    STATEMENT_CASE,
    STATEMENT_OPERATION,
    STATEMENT_VERDICT,
    STATEMENT_SPEC,
    STATEMENT_COUNT
};

struct results {
    sqlite3 *db;
    char *path;
    bool open;                   /* a transaction is */
    int64_t run;                 /* the current one */
    int64_t target[MAX_TARGETS]; /* its targets' rows, by index */
    uint32_t n_targets;
    sqlite3_stmt *statement[STATEMENT_COUNT];
};

int results_failed(struct results *r, struct why *w); /* the database's own reason; -1 */
int results_exec(struct results *r, const char *sql, struct why *w);
int results_prepare(struct results *r, const char *sql, sqlite3_stmt **ret, struct why *w);
/* Begins a transaction where none is open. */
int results_transact(struct results *r, struct why *w);

#endif
