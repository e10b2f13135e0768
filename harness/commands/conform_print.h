/* What `halcyon conform` prints for people. */
#ifndef HARNESS_CONFORM_PRINT_H
#define HARNESS_CONFORM_PRINT_H

#include "harness/cli/console.h"
#include "harness/conform_run/conform_run.h"
#include "harness/store/recorded.h"

/* --list: the suites, their rules, and the number of models. */
void conform_print_list(void);
/* Prints how many models there are, and which forms and typing rows they cover. */
void conform_print_models(void);

/* An item with its final verdict and all that is known of it.  replay: NULL where it conforms. */
void conform_print_item(const struct conform_item *item, const char *uri,
                        const struct check_result *r, const char *replay);

/* Verdicts by target and suite. */
struct conform_totals;
struct conform_totals *conform_totals_new(const char *const *target, uint32_t n_targets);
void conform_totals_free(struct conform_totals *t);
/* For results_each_recorded(); user is the totals. */
int conform_totals_add(const struct recorded_verdict *v, void *totals, struct why *w);
void conform_totals_count(struct conform_totals *t, uint32_t target, const char *suite,
                          enum verdict verdict, uint64_t checks);
/* A line per suite of each target, and notes; the last line is the sum. */
void conform_print_suites(const struct conform_totals *t);
void conform_print_sum(const struct conform_totals *t, const struct summary *s,
                       uint64_t n_not_of_version);

#endif
