/* The results database: an SQLite file with the schema of harness/store/schema.sql.
 *
 * Writes are collected in a transaction until results_commit(), which campaigns call about 20 times
 * a second: a killed run loses at most the cases since then.  Other processes can read meanwhile
 * (write-ahead log).  Functions return -1 on failure; the reason starts with the database's path.
 */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"
#include "harness/check/check.h"

struct results;

/* The SQL that makes an empty database: harness/store/schema.sql with the names of the verdicts.
 * For sqlite3_free(); NULL: out of memory. */
char *results_schema(void);

enum results_mode { RESULTS_READ, RESULTS_WRITE };

/* Opens a database.  WRITE creates the file if there is none.  A file that is not a results
 * database, or has another schema version, is WHY_INVALID and is not changed. */
int results_open(const char *path, enum results_mode mode, struct results **ret_results,
                 struct why *w);
/* Commits and frees; NULL does nothing. */
void results_close(struct results *r);
int results_commit(struct results *r, struct why *w);

/* Columns of the tables runs and targets. */
struct run_row {
    const char *kind, *command, *options, *judge;
    uint64_t n_cases;
};
struct target_row {
    const char *uri;
    const char *name, *version, *type, *hal;
};

/* Adds a run with its targets and makes it the current one.  The functions below identify targets
 * by their index in `targets`. */
int results_start_run(struct results *r, const struct run_row *run,
                      const struct target_row *targets, uint32_t n_targets, struct why *w);
/* Makes the newest unfinished run of the same kind, options and targets the current one, and
 * removes its cases that lack verdicts.  1: found; 0: there is none. */
int results_resume_run(struct results *r, const struct run_row *run,
                       const struct target_row *targets, uint32_t n_targets, struct why *w);
/* Marks the current run as finished. */
int results_finish_run(struct results *r, double seconds, struct why *w);
/* Id of the current run; 0: none. */
int64_t results_run(const struct results *r);

/* Calls each() for every verdict of the current run, with the case's ordinal and the target's
 * index. */
int results_each_verdict(struct results *r,
                         void (*each)(uint64_t ordinal, uint32_t target, enum verdict v,
                                      void *user),
                         void *user, struct why *w);

struct case_row {
    uint64_t ordinal;        /* position in the campaign */
    const char *name, *file; /* file NULL: a random case, which has seed and index instead */
    uint64_t seed, index;
    int level; /* feature level; -1: not known */
    uint32_t n_operations;
};
/* Adds a case to the current run. */
int results_add_case(struct results *r, const struct case_row *c, int64_t *ret_case, struct why *w);
/* Adds an operation that the case contains, with its element type; duplicates are ignored. */
int results_add_operation(struct results *r, int64_t case_id, const char *operation,
                          const char *type, struct why *w);
/* replay: NULL where the verdict is conforming. */
int results_add_verdict(struct results *r, int64_t case_id, uint32_t target,
                        const struct check_result *v, const char *replay, struct why *w);
/* Stores the specification and graph (DOT, may be NULL) of a failing case. */
int results_add_spec(struct results *r, int64_t case_id, const char *spec, size_t spec_length,
                     const char *dot, struct why *w);

/* A recorded case: from the newest run that stored its spec, else from the newest that has it. */
struct recorded_case {
    int64_t run;
    char *kind, *options, *spec, *file, *judge; /* spec, file: NULL where there is none */
    uint64_t seed, index;
    char *target[32]; /* URIs of the targets on which it did not conform */
    uint32_t n_targets;
};
/* 1: found, to be freed with recorded_case_done(); 0: not in the database. */
int results_find_case(struct results *r, const char *name, struct recorded_case *ret_case,
                      struct why *w);
void recorded_case_done(struct recorded_case *c);

#endif
