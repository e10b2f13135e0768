/* The verdicts of a results database, of one run or of all. */
#ifndef HARNESS_RECORDED_H
#define HARNESS_RECORDED_H

#include "harness/store/results.h"

struct recorded_filter {
    int64_t run; /* 0: all runs, of which the newest verdict of each case and target counts */
    const char *target; /* URI; NULL: all */
};

/* A row, valid during the call. */
struct recorded_verdict {
    int64_t run, case_id;
    const char *name, *file; /* file NULL: a random case */
    const char *target;      /* URI */
    enum verdict verdict;
    enum verdict was;   /* of a waived case: what is waived, VERDICT_WAIVED if it was not run; else
                           the verdict */
    enum verdict first; /* of VERDICT_FLAKY: of the first run; else as `was` */
    const char *why, *judge, *stage, *status;
    double ms;
    int64_t device_ns; /* -1: not reported */
    uint64_t checked, wrong;
    int output; /* -1: no output was compared; place to ratio are unset then */
    uint64_t element;
    const char *place, *operation, *type; /* operation NULL: none wrote it */
    double expected, actual, bound, ratio;
    const char *replay, *confirmed, *printed, *backtrace; /* NULL: none */
    uint32_t attempts, failed_attempts;                   /* with --rerun; 0: run once */
    struct blamed blamed;
};

/* The row as the result that was recorded. */
void recorded_result(const struct recorded_verdict *v, struct check_result *ret);

/* Fails if the run (0: one of all) is a summary, which has only some failures one by one. */
int results_check_rows(struct results *r, int64_t run, struct why *w);

/* Calls each() for the verdicts: of a run in the order of its targets and cases, of all runs by the
 *  URI of the target and the name of the case.  WHY_INVALID: a run is a summary. */
int results_each_recorded(struct results *r, const struct recorded_filter *f,
                          int (*each)(const struct recorded_verdict *v, void *user, struct why *w),
                          void *user, struct why *w);

/* Columns of the tables runs and targets; "" where there is none. */
struct described_target {
    char *uri, *name, *version, *type, *hal;
};
struct described_run {
    int64_t run; /* the newest of those that the filter selects */
    char *kind, *command, *options, *version, *judge, *started, *finished;
    double seconds;
    struct described_target target[32]; /* those with verdicts or of the run; in order */
    uint32_t n_targets;
};
/* Describes the run of a filter; of all runs the newest, with the targets of all of them.  Fails
 * with WHY_INVALID if the database has no such run, or no such target. */
int results_describe(struct results *r, const struct recorded_filter *f,
                     struct described_run *ret_run, struct why *w);
void described_run_done(struct described_run *run);
/* How many runs the database has. */
int results_count_runs(struct results *r, int64_t *ret_n, struct why *w);

/* Calls each() for every operation of every case of a run, 0: of all runs, once per case. */
int results_each_operation(struct results *r, int64_t run,
                           int (*each)(int64_t case_id, const char *operation, void *user,
                                       struct why *w),
                           void *user, struct why *w);

/* Calls each() for every file that could not be loaded, of the run that results_describe() gives.
 */
int results_each_unloaded(struct results *r, int64_t run,
                          int (*each)(const char *file, const char *why, void *user, struct why *w),
                          void *user, struct why *w);

#endif
