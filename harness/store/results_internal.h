/* The open database and its statements, shared by the files that read and write it. */
#ifndef HARNESS_RESULTS_INTERNAL_H
#define HARNESS_RESULTS_INTERNAL_H

#include <sqlite3.h>

#include "harness/cli/options.h"
#include "harness/store/results.h"
#include "harness/store/run_owner.h"

enum statement {
    STATEMENT_FORGET,
    STATEMENT_CASE,
    STATEMENT_OPERATION,
    STATEMENT_VERDICT,
    STATEMENT_FIND,
    STATEMENT_SPEC,
    STATEMENT_NOTE,
    STATEMENT_COUNT
};

struct results {
    sqlite3 *db;
    char *path;
    bool open;                   /* in a transaction */
    bool broken;                 /* a write failed: the transaction must be rolled back */
    struct run_owner owner;      /* this process, while it writes the current run; pid 0: not */
    int64_t run;                 /* id of the current run */
    int64_t target[MAX_TARGETS]; /* ids of its targets, by index */
    uint32_t n_targets;
    sqlite3_stmt *statement[STATEMENT_COUNT];
};

/* database_failed(), but always WHY_SYSTEM once there is a current run. */
int results_failed(struct results *r, struct why *w);
int results_exec(struct results *r, const char *sql, struct why *w);
int results_prepare(struct results *r, const char *sql, sqlite3_stmt **ret, struct why *w);
/* Begins a transaction unless one is open. */
int results_begin(struct results *r, struct why *w);
/* Sets the owner's columns of the current run; pid 0: to NULL. */
int results_set_owner(struct results *r, struct run_owner owner, struct why *w);
/* Adds the table of support sets to a database that was made before there was one. */
int results_add_support_sets(struct results *r, struct why *w);
/* The SQL that upgrades a database of an older version, for sqlite3_free(); NULL: out of memory. */
char *results_upgrade_sql(int version);

#endif
