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
    STATEMENT_COVERAGE,
    STATEMENT_NO_COVERAGE,
    STATEMENT_COUNT
};

/* The counts of coverage and neighbours of the current run. */
struct counted_rows {
    struct counted_row {
        uint64_t digest;                /* of target and columns */
        uint32_t target;                /* index */
        bool is_pair;                   /* of neighbours */
        char *json;                     /* its columns: ["CONV_2D",...,"zeros", */
        size_t length;                  /* of these */
        struct randgraph_count n, more; /* more: of these since the last commit */
    } * row;
    size_t n;
    uint32_t *slot;  /* an open hash table by digest: 1 + index in row; 0: free */
    size_t n_slots;  /* a power of two, or 0 */
    size_t *changed; /* indexes in row of those with counts since the last commit */
    size_t n_changed;
    size_t whole, added; /* bytes written: of all counts, and since then of more */
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
    struct counted_rows counted;
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
/* Fails with WHY_INVALID if a process that is still alive writes this run. */
int results_check_owner(struct results *r, int64_t run, struct why *w);
/* Runs a statement that returns no rows, then resets it for the next use. */
int results_finish(struct results *r, sqlite3_stmt *s, struct why *w);
bool results_has_table(struct results *r, const char *table);
/* The table of sets of a kind, with the columns digest and text. */
const char *results_set_table(enum drawing_set kind);
/* Whether a column of this name has texts that may be compressed (reports/packed_text.h). */
bool results_may_be_packed(const char *column);
/* Counts the calls of a case on the targets that it has a verdict for; in memory. */
enum { COVERAGE_COLUMNS = 6, PAIR_COLUMNS = 2 }; /* of struct randgraph_cell; of a pair */
int results_count_calls(struct results *r, const struct case_row *c, struct why *w);
/* Appends what was counted since the last call to the table; where this has become larger than the
 * whole, or the run ends, replaces it with the sums. */
int results_write_counted(struct results *r, bool at_end, struct why *w);
/* Reads what a run has counted that is resumed. */
int results_load_counted(struct results *r, struct why *w);
void counted_rows_done(struct counted_rows *c);
/* The tables that a database of this version may lack, as it was made before there were any. */
bool results_has_tables(struct results *r);
int results_add_tables(struct results *r, struct why *w);
/* The SQL that upgrades a database of an older version, for sqlite3_free(); NULL: out of memory. */
char *results_upgrade_sql(int version);
/* The SQL that creates the views again, for sqlite3_free(); NULL: out of memory. */
char *results_views_sql(void);

#endif
