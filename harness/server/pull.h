/* Reads runs of a PostgreSQL server: copies them to a results database (an SQLite file), which
 * reports, replay and the others read. */
#ifndef HARNESS_PULL_H
#define HARNESS_PULL_H

#include "harness/store/results.h"
#include "harness/store/upkeep.h"

/* What is copied: of the runs `run`, or of all (n_runs 0). */
struct pull_filter {
    const int64_t *run;
    size_t n_runs;
    /* Only the cases of these names, and the runs that have one; n_cases 0: all. */
    const char *const *case_name;
    size_t n_cases;
    bool no_cases;             /* no cases, and nothing that belongs to one */
    const char *replayed_with; /* the --db of replay commands; NULL: that of the rows */
};

/* Writes a new database, with the numbers of runs, targets and cases that they have on the server;
 * in bounded memory.  The rows are those of one moment.  `to` appears when it is complete.
 * WHY_INVALID: the server refuses or has no results, a run does not exist, `to` exists, or rows are
 * not those of a results database. */
int server_pull(const char *url, const struct pull_filter *filter, const char *to, struct why *w);

/* Calls each() for every run on the server, the oldest first, as results_each_run(). */
int server_each_run(const char *url, run_facts_each *each, void *user, struct why *w);

#endif
