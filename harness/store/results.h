/* The results database: SQLite, harness/store/schema.sql.
 *
 * Writes gather in a transaction that results_commit() ends: called every few dozen milliseconds,
 * so that a killed run loses at most what was in flight.  Readers of other processes are not
 * disturbed (write-ahead log). */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"
#include "harness/check/check.h"

struct results;

enum results_mode { RESULTS_READ, RESULTS_WRITE };

/* WRITE makes the file where there is none.  A file that is no results database, or one of another
 * schema version, is WHY_INVALID and stays as it is. */
int results_open(const char *path, enum results_mode mode, struct results **ret_results,
                 struct why *w);
/* Commits what is open. */
void results_close(struct results *r);
int results_commit(struct results *r, struct why *w);

struct run_row {
    const char *kind, *command, *options, *judge;
    uint64_t n_cases;
};
struct target_row {
    const char *uri;
    const char *name, *version, *type, *hal;
};

/* A new run with its targets, which are known by their index from here on. */
int results_start_run(struct results *r, const struct run_row *run,
                      const struct target_row *targets, uint32_t n_targets, struct why *w);
/* The newest unfinished run of the same kind, options and targets; cases that it has only in part
 * are removed.  1: found, and current from here on; 0: there is none. */
int results_resume_run(struct results *r, const struct run_row *run,
                       const struct target_row *targets, uint32_t n_targets, struct why *w);
int results_finish_run(struct results *r, double seconds, struct why *w);
int64_t results_run(const struct results *r);

/* What a resumed run has: each verdict with the case's ordinal and the target's index. */
int results_each_verdict(struct results *r,
                         void (*each)(uint64_t ordinal, uint32_t target, enum verdict v,
                                      void *user),
                         void *user, struct why *w);

struct case_row {
    uint64_t ordinal;
    const char *name, *file; /* file NULL: a random case, which has seed and index */
    uint64_t seed, index;
    int level; /* -1: not known */
    uint32_t n_operations;
};
int results_add_case(struct results *r, const struct case_row *c, int64_t *ret_case, struct why *w);
int results_add_operation(struct results *r, int64_t case_id, const char *operation,
                          const char *type, struct why *w);
/* replay: NULL where the verdict is conforming. */
int results_add_verdict(struct results *r, int64_t case_id, uint32_t target,
                        const struct check_result *v, const char *replay, struct why *w);
int results_add_spec(struct results *r, int64_t case_id, const char *spec, size_t spec_length,
                     const char *dot, struct why *w);

/* A case of the newest run that has it, and the targets on which it did not conform. */
struct found_case {
    int64_t run;
    char *kind, *options, *spec, *file, *judge; /* spec, file: NULL where there is none */
    uint64_t seed, index;
    char *target[32];
    uint32_t n_targets;
};
/* 1: found; 0: not there. */
int results_find_case(struct results *r, const char *name, struct found_case *ret_case,
                      struct why *w);
void found_case_done(struct found_case *c);

#endif
