/* Tests the harness itself: checks, on a device with each planted fault, that the rules that the
 * fault names fail, and that the device without a fault has no finding. */
#ifndef HARNESS_SELFTEST_H
#define HARNESS_SELFTEST_H

#include "harness/cli/options.h"
#include "harness/conform_run/conform_run.h"

enum selftest_end {
    SELFTEST_FOUND,  /* every rule that the fault names has failed; no fault: no finding */
    SELFTEST_MISSED, /* one of them has not, or the time is over; no fault: a finding */
    SELFTEST_STOPPED
};

/* The result of one fault. */
struct selftest_row {
    const struct fault *fault; /* NULL: the device without a fault */
    enum selftest_end end;
    double seconds;
    bool is_over_budget;
    uint32_t *findings; /* how often each rule failed, in the order of conform_rules; owned */
    char rule[64], text[CONFORM_TEXT]; /* of the first finding: "model/M3 at HAL 1.2" */
};

struct selftest {
    const struct options *options; /* jobs, timeout */
    double budget;                 /* seconds per fault */
    bool all; /* every rule at every version; otherwise the rules that the fault names, at the
                 versions up to the first at which they fail, and without a fault all rules at the
                 newest version */
    const volatile sig_atomic_t *stop;
    bool *rule_failed; /* of each rule, in the order of conform_rules; owned */
    int n_rules;
};

int selftest_begin(struct selftest *s, struct why *w);
void selftest_end_run(struct selftest *s);
/* Runs one fault (NULL: the device without one).  0, or -1: an error of Halcyon's own. */
int selftest_fault(struct selftest *s, const struct fault *fault, struct selftest_row *ret_row,
                   struct why *w);
void selftest_row_done(struct selftest_row *row);

/* The rule's index in the order of conform_rules; -1: there is none of that name. */
int selftest_rule(const char *name);
/* Whether a fault of the table names the rule. */
bool selftest_names(const struct conform_rule *rule);

#endif
