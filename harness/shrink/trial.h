/* Runs candidates on a target and tells whether they still fail in the same way. */
#ifndef HARNESS_TRIAL_H
#define HARNESS_TRIAL_H

#include "harness/check/check.h"
#include "harness/shrink/shrink.h"

enum { TRIAL_KIND = 256 };

/* The way in which a case fails: what must stay the same. */
struct trial_kind {
    enum verdict verdict;
    char text[TRIAL_KIND]; /* of failures that are not numbers: stage, status, words of the reason */
    bool is_nan;           /* of wrong numbers: the worst element is NaN */
};

struct trial {
    const struct shrink_request *request;
    enum judge_kind judge; /* CTS or BOUND */
    struct target *target;
    struct trial_kind wanted;
    uint64_t executions, deaths;
    uint64_t begun; /* steady clock, ns */
    uint64_t *failed; /* digests of candidates that do not fail as wanted */
    size_t n_failed, capacity;
};

/* Opens the target with its driver in a process of its own. */
int trial_begin(struct trial *t, const struct shrink_request *request, struct why *w);
void trial_done(struct trial *t);

/* Runs the case in a new process of the driver, and its operations one by one where that is how it
 * fails.  -1: an error of Halcyon's own. */
int trial_run_whole(struct trial *t, const struct example *e, struct check_result *ret,
                    struct why *w);
/* The way in which a result fails. */
struct trial_kind trial_kind_of(const struct check_result *r);
bool trial_kind_equal(const struct trial_kind *a, const struct trial_kind *b);

/* Whether a settled candidate fails as wanted: in the present process of the driver and again in a
 * new one, so that it does not depend on earlier executions.  only_verdict: any failure with the
 * wanted verdict will do. */
bool trial_fails(struct trial *t, const struct example *e, bool only_verdict,
                 struct check_result *ret);
/* Runs an example once in a new process, with another judge. */
bool trial_fails_judged(struct trial *t, const struct example *e, enum judge_kind judge,
                        struct check_result *ret);

/* Why no more candidates may be run; SHRINK_COMPLETE: they may. */
enum shrink_end trial_over(const struct trial *t);

#endif
