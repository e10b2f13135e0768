/* The open database and its statements, shared by the files that read and write it. */
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
    bool open;                   /* in a transaction */
    int64_t run;                 /* id of the current run */
    int64_t target[MAX_TARGETS]; /* ids of its targets, by index */
    uint32_t n_targets;
    sqlite3_stmt *statement[STATEMENT_COUNT];
};

/* Fails with SQLite's last error: WHY_INVALID for a bad file, else WHY_SYSTEM.  Returns -1. */
int results_failed(struct results *r, struct why *w);
int results_exec(struct results *r, const char *sql, struct why *w);
int results_prepare(struct results *r, const char *sql, sqlite3_stmt **ret, struct why *w);
/* Begins a transaction unless one is open. */
int results_begin(struct results *r, struct why *w);

#endif
