/* What baselines expect of a run: which cases are skipped, which failures count as waived, and,
 * once the run has ended, what it did not give of what they expect. */
#ifndef HARNESS_EXPECTATIONS_H
#define HARNESS_EXPECTATIONS_H

#include "harness/check/check.h"
#include "harness/policy/baseline.h"
#include "harness/store/recorded.h"

struct expectations;

/* Findings of each kind that a summary shows without -v. */
enum { MOST_FINDINGS = 20 };

/* Loads baselines for the targets of a run.  Fails with WHY_INVALID for a baseline that is for none
 * of them; with `random` (for random cases), also for one that names cases as Halcyon 0.3 and older
 * did, which matches none.  n 0: *ret is NULL, which all functions accept as no expectations. */
int expectations_load(const char *const *path, uint32_t n, const char *const *target,
                      uint32_t n_targets, bool random, struct expectations **ret, struct why *w);
void expectations_free(struct expectations *x);

/* Fills *ret with the verdict of a case that a baseline excludes from the run on this target;
 * false: it is to be run. */
bool expectations_skip(const struct expectations *x, uint32_t target, const char *name,
                       struct check_result *ret);
/* Replaces the verdict of a failure that a baseline expects by `waived`, with the reason. */
void expectations_apply(const struct expectations *x, uint32_t target, const char *name,
                        struct check_result *r);

/* What a run did not give of what a baseline expects. */
enum finding_kind {
    FINDING_EXPIRED,    /* a waiver after its last day, which its case still needs or not */
    FINDING_STALE,      /* a waiver whose cases all conform */
    FINDING_LOST,       /* expected to pass, and does not, with a verdict that conforms */
    FINDING_CHANGED,    /* a failure, but not in the expected class */
    FINDING_UNEXPECTED, /* expected to fail, and conforms */
    FINDING_MISSING,    /* no case of the run has this name */
    FINDING_KINDS
};
extern const char *const finding_name[FINDING_KINDS]; /* "expired waiver", ... */
/* Whether such a finding makes the run not conforming. */
bool finding_fails(enum finding_kind k);

struct finding {
    enum finding_kind kind;
    const struct baseline *baseline;
    const struct baseline_entry *entry;
    uint32_t target; /* index */
    char *name;      /* of the case; NULL: the entry's name */
    char found[160]; /* its verdict and class; "" where there is none */
};

struct expectation_totals {
    uint64_t expected, flakes, skipped; /* verdicts that entries expect; cases left out */
    uint64_t n[FINDING_KINDS];
};

/* Holds recorded verdicts against the baselines: those of `filter` in r, or of its current run.
 * partial: the run left out cases, so that neither missing ones nor globs that apply to none are
 * findings.  May be called once. */
int expectations_check(struct expectations *x, struct results *r,
                       const struct recorded_filter *filter, bool partial, struct why *w);

/* Whether a finding makes the run not conforming. */
bool expectations_fail(const struct expectations *x);
/* What the note of a failing finding begins with, in the results of a run of which the verdicts are
 * not kept (--summary). */
#define FINDING_NOTE "baseline "
/* Calls each() for findings that make the run not conforming, as notes about a target, the first
 * MOST_FINDINGS of each kind and baseline. */
int expectations_each_note(const struct expectations *x,
                           int (*each)(uint32_t target, const char *text, void *user,
                                       struct why *w),
                           void *user, struct why *w);
/* Prints totals and findings, at most `most` of each kind (0: all); nothing without baselines. */
void expectations_print(const struct expectations *x, FILE *to, uint64_t most);
/* The same as a JSON array; NULL without baselines. */
struct json_t *expectations_json(const struct expectations *x);

#endif
