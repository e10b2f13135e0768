/* Looking after a results database: its runs and their sizes, removing some, giving back free
 * space, checking the file, writing tables as CSV. */
#ifndef HARNESS_UPKEEP_H
#define HARNESS_UPKEEP_H

#include <stdio.h>

#include "harness/store/results.h"

/* A run as results_each_run() shows it.  Texts are valid until each() returns. */
struct run_facts {
    int64_t run;
    const char *kind, *command;
    const char *started, *finished; /* UTC, ISO 8601; finished: "" while it is not */
    const char *targets;            /* URIs, each followed by a line end */
    uint64_t n_cases, n_recorded;   /* planned; recorded */
    uint64_t n_verdicts, n_failing;
    uint64_t text_bytes; /* stored specifications, shrunk cases, output of drivers and backtraces */
};
typedef int run_facts_each(const struct run_facts *f, void *user, struct why *w);

/* Which runs are removed: those of `run`; if there are none, every run that is as old as older_than
 * (where that is not 0) and not among the newest keep_last (where keeps_last). */
struct prune_rule {
    const int64_t *run;
    size_t n_runs;
    uint64_t older_than; /* seconds since its start */
    bool keeps_last;
    uint64_t keep_last;
};

/* Calls each() for every run, the oldest first; rule: only for those that it removes; NULL: for
 * all. Works on databases of every version.  WHY_INVALID: a run of rule->run does not exist, or a
 * process is writing a run that would be removed. */
int results_each_run(struct results *r, const struct prune_rule *rule, run_facts_each *each,
                     void *user, struct why *w);
/* Removes runs with all that belongs to them, and support and steering sets that no other run uses,
 * in one transaction; calls each() for every one before.  The database must be open for writing.
 * WHY_INVALID as above; then nothing is removed. */
int results_prune(struct results *r, const struct prune_rule *rule, run_facts_each *each,
                  void *user, struct why *w);

/* Bytes of the file, and of those that are free inside it. */
struct file_size {
    int version; /* of the schema */
    uint64_t bytes, free_bytes;
};
int results_file_size(struct results *r, struct file_size *ret_size, struct why *w);
/* Creates the views again and rewrites the file without its free space, which needs as much space
 * on the disk again.  A process that is killed meanwhile leaves the file as it was.  The database
 * must be open for writing. WHY_INVALID: a process is writing a run. */
int results_compact(struct results *r, struct why *w);

/* Calls problem() for everything that is wrong in the file: damaged pages and indexes, rows that
 * refer to missing ones, views that are missing or differ from those of this version, stored texts
 * that cannot be read.  Returns how many problems there are, at most 100, or -1. */
int results_check(struct results *r, void (*problem)(const char *text, void *user), void *user,
                  struct why *w);

/* Writes a table or view as CSV (RFC 4180, with lines that end in LF): a heading, then the rows, of
 * one run or of all (run 0).  NULL is an empty field, an empty text is "", compressed texts are
 * unpacked.  WHY_INVALID: there is no such table or view, or it has no column `run`. */
int results_export(struct results *r, const char *table, int64_t run, FILE *to, struct why *w);

#endif
