/* Rules as cases of a campaign: their names and their verdicts.
 *
 *     conform/1.3/model/M9                    HAL version, suite, rule
 *     conform/fl8/random/R1/seed=7            another --seed
 *     conform/1.3/stress/leaks/stress=30      another --stress; of suites stress and crash only
 *     conform/1.3/crash/parallel/threads=4    another --threads or --processes; of suite crash only
 *     conform/1.3/request/R1/models=PATH      with --models
 */
#ifndef HARNESS_CONFORM_CASES_H
#define HARNESS_CONFORM_CASES_H

#include "harness/check/cases.h"
#include "harness/check/check.h"
#include "harness/conform_run/conform_run.h"

extern const char conform_case_prefix[]; /* "conform/" */

/* What a rule is run with. */
struct conform_parameters {
    uint64_t seed;
    double stress; /* seconds */
    uint64_t threads, processes;
    const char *models; /* path; NULL: none */
};
extern const struct conform_parameters conform_default;

/* Whether --stress says how long the rule takes. */
bool conform_has_stress(const struct conform_rule *r);
/* Likewise --threads and --processes. */
bool conform_has_clients(const struct conform_rule *r);

/* What a name means; `models` points into the name. */
struct conform_case {
    enum hal_version version;
    char rule[64]; /* "SUITE/RULE", which need not exist */
    struct conform_parameters parameters;
};
/* WHY_INVALID: it is not the name of a rule as a case. */
int conform_parse_name(const char *name, struct conform_case *ret_case, struct why *w);

/* Makes the cases of a planned run, in the order of versions, suites and rules, and sets the
 * ordinals of its items.  A rule on several targets is one case.  *ret_cases is zeroed, but for
 * its list of unloaded files; to be freed with cases_done(). */
int conform_make_cases(struct conform_run *run, const struct conform_parameters *p,
                       struct cases *ret_cases, struct why *w);
/* Removes the items whose cases cases_select() left out, or that are not of the I-th of N parts;
 * sets the ordinals of the others. */
int conform_select_items(struct conform_run *run, const struct cases *cases, uint32_t shard,
                         uint32_t n_shards, struct why *w);

/* The verdict of an item that is complete, before expectations.  `checked` and `wrong` count
 * checks; `why` has the findings, one in a line. */
void conform_result_of(const struct conform_item *item, struct check_result *ret);

#endif
