/* The results database: an SQLite file with the schema of harness/store/schema.sql.
 *
 * A case is written whole, and again if it is run again.  Writes are collected in a transaction
 * until results_commit(), which campaigns call about 20 times a second: a killed run loses at most
 * the cases since then.  Other processes can read meanwhile (write-ahead log).  Functions return -1
 * on failure; the reason starts with the database's path.  After a failed write the open
 * transaction is rolled back.
 */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"
#include "harness/check/cases.h"
#include "harness/check/check.h"
#include "randgraph/coverage.h"

struct results;

/* The SQL that makes an empty database: schema.sql, views.sql and the names of the verdicts. For
 * sqlite3_free(); NULL: out of memory. */
char *results_schema(void);

enum results_mode { RESULTS_READ, RESULTS_WRITE, RESULTS_PART };

/* Fails if there is no run of this number. */
int results_check_run(struct results *r, int64_t run, struct why *w);
/* Fails if there is no file at that path, with what writes it. */
int results_look_for(const char *path, struct why *w);
/* Opens a database.  PART is WRITE to a new file of this process, that is thrown away unless it
 * gets complete: without a log, and not on the disk before it is closed.  WRITE creates the file if
 * there is none, unpacks a compressed one, and upgrades a database of an older version.  A file
 * that is not a results database, or is newer, is WHY_INVALID and is not changed; so is a name that
 * means no file to SQLite: "", ":memory:", "file:...". */
int results_open(const char *path, enum results_mode mode, struct results **ret_results,
                 struct why *w);
/* Commits, releases the current run and frees; NULL does nothing. */
void results_close(struct results *r);
int results_commit(struct results *r, struct why *w);

/* Columns of the tables runs and targets. */
struct run_row {
    const char *kind, *command, *options, *judge;
    uint64_t n_cases;
    const struct unloaded_file *unloaded; /* files that could not be loaded */
    size_t n_unloaded;
};
struct target_row {
    const char *uri;
    const char *name, *version, *type, *hal;
};

/* Adds a run with its targets and makes it the current one.  The functions below identify targets
 * by their index in `targets`. */
int results_start_run(struct results *r, const struct run_row *run,
                      const struct target_row *targets, uint32_t n_targets, struct why *w);
/* Makes the newest unfinished run of the same kind, options and targets the current one, replaces
 * its list of files that could not be loaded, and removes its cases that lack verdicts, or failed
 * and lack a specification, but no rules.  1: found; 0: there is none.  Fails with WHY_INVALID when
 * another process is writing this run. */
int results_resume_run(struct results *r, const struct run_row *run,
                       const struct target_row *targets, uint32_t n_targets, struct why *w);
/* Records what a target of the current run reports of its performance: time and power relative to
 * the CPU.  what: an operand type, or "IF". */
int results_set_performance(struct results *r, uint32_t target, const char *what, double time,
                            double power, struct why *w);
/* Records that this process still writes the current run, at most every few seconds. */
int results_heartbeat(struct results *r, struct why *w);
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

/* Calls each() for every target of the current run, with the number of elements compared. */
int results_each_target(struct results *r,
                        void (*each)(uint32_t target, uint64_t compared, void *user), void *user,
                        struct why *w);

struct verdict_row {
    const struct check_result *result;
    const char *replay, *printed, *backtrace; /* NULL: none; replay: where it is not conforming */
};

/* The specification of a case; NULL: none. */
struct spec_row {
    const char *spec; /* a text, or packed (reports/packed_spec.h) */
    size_t length;
};

struct case_row {
    uint64_t ordinal;        /* position in the campaign */
    const char *name, *file; /* file NULL: a random case, which has seed and index, or a rule */
    const char *suite;       /* of a rule: its suite; else NULL */
    uint64_t seed, index;
    int level; /* feature level; -1: not known */
    uint32_t n_operations;
    const char *operations; /* lines "OPERATION<tab>TYPE", also repeated ones; NULL: not known */
    /* Lines, with tabs between the columns: the cells of its calls, with the members of struct
     * randgraph_cell, and pairs "PRODUCER<tab>CONSUMER", as results_check_coverage() accepts them;
     * NULL: not known. */
    const char *coverage;
    struct spec_row spec;
    const struct verdict_row *verdict; /* one per target; result NULL: not run on this one yet */
};
/* Writes a case of the current run; replaces what there is of it.  Its calls are counted: the sums
 * are written by the commit. */
int results_write_case(struct results *r, const struct case_row *c, struct why *w);
/* Adds or replaces the verdict of a written case on one target; sets its specification if it has
 * none. */
int results_amend_case(struct results *r, uint64_t ordinal, uint32_t target,
                       const struct verdict_row *v, const struct spec_row *spec, struct why *w);

/* A failure of the current run.  operation, type: those that are blamed, else those of the worst
 * output; "": not known.  bucket: NULL until it is set. */
struct failure_row {
    uint64_t ordinal;
    uint32_t target; /* index */
    int verdict;     /* enum verdict */
    const char *operation, *type, *name;
    bool must_fail; /* the execution had to fail, by an operation that is known */
};
/* Calls each() for every failure, in order of the plan, then of the targets; not for rules. */
int results_each_failure(struct results *r,
                         int (*each)(const struct failure_row *f, void *user, struct why *w),
                         void *user, struct why *w);
/* What a target does not support, of the current run: a signature (harness/check/signature.h), or
 * why a model was not shown to the driver; how many verdicts have it, and the name of the first
 * case. */
struct unsupported_row {
    uint32_t target; /* index */
    const char *signature, *name;
    uint64_t n;
};
/* Calls each() for every one, the most frequent first. */
int results_each_unsupported(struct results *r,
                             int (*each)(const struct unsupported_row *u, void *user,
                                         struct why *w),
                             void *user, struct why *w);
/* Sets the bucket of a verdict of the current run, and the specification of its shrunk case; NULL:
 * it was not shrunk itself. */
int results_set_bucket(struct results *r, uint64_t ordinal, uint32_t target, const char *bucket,
                       const char *shrunk, struct why *w);

/* Adds a note about a target to the current run; an equal one is kept once. */
int results_add_note(struct results *r, uint32_t target, const char *text, struct why *w);
/* Calls each() for every note of the current run. */
int results_each_note(struct results *r,
                      int (*each)(uint32_t target, const char *text, void *user, struct why *w),
                      void *user, struct why *w);

/* What random graphs are drawn for and by: support sets (randgraph/randgraph.h) and steering sets
 * (randgraph/coverage.h); and the identities of campaigns (harness/shards/shard_key.h). */
enum drawing_set { SET_SUPPORT, SET_STEERING, SET_CAMPAIGN, DRAWING_SETS };
/* Keeps a set under its digest, 16 hexadecimal digits. */
int results_keep_set(struct results *r, enum drawing_set kind, const char *digest, const char *text,
                     struct why *w);
/* 1: found, *ret_text is to be freed; 0: the database does not have it. */
int results_find_set(struct results *r, enum drawing_set kind, const char *digest, char **ret_text,
                     struct why *w);

/* Checks the lines of struct case_row.coverage, which a worker sent.  WHY_INVALID. */
int results_check_coverage(const char *lines, struct why *w);
/* What has been counted of which runs and targets; NULL: of all. */
struct coverage_filter {
    const char *runs;    /* JSON list of their numbers */
    const char *targets; /* JSON list of URIs */
    const char *kind;    /* of the runs: "random" */
};
/* Adds the counts of the executed cases to *c. */
int results_read_coverage(struct results *r, const struct coverage_filter *f,
                          struct randgraph_coverage *c, struct why *w);

/* A recorded run. */
struct recorded_run {
    int64_t run;
    char *kind, *options, *judge; /* columns of runs */
    char *target[32];             /* URIs */
    uint32_t n_targets;
};
/* run 0: the newest of this kind.  1: found, to be freed with recorded_run_done(); 0: not in the
 * database. */
int results_find_run(struct results *r, int64_t run, const char *kind, struct recorded_run *ret_run,
                     struct why *w);
/* The newest unfinished run of this kind whose options have all members of a JSON object, with
 * equal values. */
int results_find_unfinished(struct results *r, const char *kind, const char *like,
                            struct recorded_run *ret_run, struct why *w);
void recorded_run_done(struct recorded_run *f);
/* Calls each() for every case that does not conform on some target of the run, in order. */
int results_each_failed_case(struct results *r, int64_t run,
                             int (*each)(const char *name, void *user, struct why *w), void *user,
                             struct why *w);

/* A recorded case: from the newest run that stored its spec, else from the newest that has it. */
struct recorded_case {
    int64_t run;
    char *kind, *options, *spec, *file, *judge; /* spec, file: NULL where there is none */
    uint64_t seed, index;
    char *target[32]; /* URIs of the targets on which it did not conform */
    uint32_t n_targets;
};
/* 1: found, to be freed with recorded_case_done(); 0: not in the database.  WHY_INVALID: the name
 * is one of a database before version 4, and stands for several cases. */
int results_find_case(struct results *r, const char *name, struct recorded_case *ret_case,
                      struct why *w);
void recorded_case_done(struct recorded_case *c);
/* "; did you mean NAME?" with the nearest name of a case in the database, or "".  Returns text, of
 * NEAREST_CASE_TEXT bytes. */
const char *results_nearest_case(struct results *r, const char *name, char text[]);

#endif
