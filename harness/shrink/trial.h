/* Runs candidates on a target and tells whether they still fail in the same way. */
#ifndef HARNESS_TRIAL_H
#define HARNESS_TRIAL_H

#include "harness/check/check.h"
#include "harness/shrink/shrink.h"

enum { TRIAL_KIND = 256 };

/* The way in which a case fails: what must stay the same. */
struct trial_kind {
    enum verdict verdict;
    char
        text[TRIAL_KIND]; /* of failures that are not numbers: stage, status, words of the reason */
    bool is_varied;
    bool is_nan; /* of wrong numbers: the worst element is NaN */
};

struct trial {
    const struct shrink_request *request;
    enum judge_kind judge; /* CTS or BOUND */
    struct target *target;
    struct trial_kind wanted;
    bool is_varied; /* the case fails in another way of execution, and so must the candidates */
    struct variation variation;
    bool is_any;  /* so do all operations alone: what fails is the way */
    bool careful; /* each candidate that fails is run again in a new process of the driver */
    uint64_t executions, deaths;
    uint64_t begun; /* steady clock, ns */
    uint64_t *run;  /* digests of the candidates that were run */
    size_t n_run, capacity;
};

/* Opens the target with its driver in a process of its own. */
int trial_begin(struct trial *t, const struct shrink_request *request, struct why *w);
void trial_done(struct trial *t);

/* Runs an example once in a new process, judged as the case is. */
int trial_run(struct trial *t, const struct example *e, struct check_result *ret, struct why *w);

/* Runs the case in a new process of the driver as a campaign does (where it is wrong in executions
 * at once, and plainly with the other inputs of one of them: with those), and searches for the
 * operations that its failure comes from: *ret_part is the example of them, in arena, or of all of
 * them where nothing is blamed.  -1: an error of Halcyon's own. */
int trial_run_whole(struct trial *t, const struct example *e, struct arena *arena,
                    struct check_result *ret, struct example *ret_part, struct why *w);
/* The way in which a result fails. */
struct trial_kind trial_kind_of(const struct check_result *r);
bool trial_kind_equal(const struct trial_kind *a, const struct trial_kind *b);

/* Whether the part fails as the whole case did (blame_is_alike()); then the way in which it does is
 * what is wanted from now on, and by its judge. */
bool trial_begin_part(struct trial *t, const struct example *part, const struct check_result *first,
                      struct check_result *ret);

/* Makes the way of execution as plain as it can be while the example fails as wanted; afterwards
 * *r is its result. */
void trial_simplify_way(struct trial *t, const struct example *e, struct check_result *r);

/* Whether a settled candidate fails as wanted, in the present process of the driver; with .careful
 * again in a new one, for drivers whose failures depend on earlier executions. */
bool trial_fails(struct trial *t, const struct example *e, struct check_result *ret);
/* Runs an example once in a new process, judged by `judge`: whether it fails as wanted. */
bool trial_fails_judged(struct trial *t, const struct example *e, enum judge_kind judge,
                        struct check_result *ret);

/* From now on .careful; forgets which candidates were run. */
void trial_be_careful(struct trial *t);

/* Why no more candidates may be run; SHRINK_COMPLETE: they may. */
enum shrink_end trial_over(const struct trial *t);

#endif
