/* Copies runs of a results database to a PostgreSQL server. */
#ifndef HARNESS_PUSH_H
#define HARNESS_PUSH_H

#include "harness/store/results.h"

struct push_counts {
    uint64_t n_runs, n_cases; /* copied */
    uint64_t n_repeated;      /* runs that the server has */
};

/* Copies one run, or all (run 0), each in one transaction; the first one also creates tables and
 * views that the server lacks.  A run that the server has (RUN_IDENTITY of harness/store/merge.h)
 * is left out; if it is unfinished there, and finished here or with more cases here, it is
 * replaced, under its number there.  Runs get numbers of their own on the server.
 * pushed(): called for each run that was copied, with both numbers; may be NULL.
 * WHY_INVALID: the database is older, or the server refuses; runs that were copied before stay. */
int server_push(const char *database, const char *url, int64_t run,
                void (*pushed)(int64_t run, int64_t there, uint64_t n_cases, void *user),
                void *user, struct push_counts *ret_counts, struct why *w);

#endif
