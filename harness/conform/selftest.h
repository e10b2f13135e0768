/* Tests the harness itself: runs the conformance suites and random graphs on a device with each
 * planted fault, and on the device without one. */
#ifndef HARNESS_SELFTEST_H
#define HARNESS_SELFTEST_H

#include "harness/cli/options.h"
#include "harness/conform/conform_run.h"

enum selftest_end {
    SELFTEST_FOUND,     /* the suite that the fault names has a finding; no fault: no finding */
    SELFTEST_ELSEWHERE, /* only another suite has */
    SELFTEST_MISSED,    /* no finding, or the time is over; no fault: a finding */
    SELFTEST_STOPPED
};

/* The result of one fault. */
struct selftest_row {
    const struct fault *fault; /* NULL: the device without a fault */
    enum selftest_end end;
    double seconds;
    bool is_over_budget;
    uint64_t *findings;    /* by suite, the last: random graphs; owned */
    uint64_t random_cases; /* that were run */
    char rule[64],
        text[CONFORM_TEXT]; /* of the first finding: "model/M3 at HAL 1.2", or "random" */
};

struct selftest {
    const struct options *options; /* jobs, timeout */
    double budget;                 /* seconds per fault */
    bool all;                      /* every suite, at every version, to the end */
    const volatile sig_atomic_t *stop;
    bool *rule_failed; /* of each rule, in the order of conform_rules; owned */
    int n_rules;
};

/* The suite that stands for random graphs. */
extern const char selftest_random[];

int selftest_begin(struct selftest *s, struct why *w);
void selftest_end_run(struct selftest *s);
/* Runs one fault (NULL: the device without one).  0, or -1: an error of Halcyon's own. */
int selftest_fault(struct selftest *s, const struct fault *fault, struct selftest_row *ret_row,
                   struct why *w);
void selftest_row_done(struct selftest_row *row);

#endif
