/* Which cases the options of a campaign choose: --case, --cases, --exclude and --failed. */
#ifndef HARNESS_CHOSEN_CASES_H
#define HARNESS_CHOSEN_CASES_H

#include <jansson.h>

#include "harness/cases/drawn_for.h"
#include "harness/check/case_choice.h"
#include "harness/check/cases.h"
#include "harness/cli/options.h"
#include "harness/store/results.h"

struct chosen_cases {
    struct options options; /* those given, completed by those of the run that --failed repeats */
    struct case_choice *choice;
    struct recorded_run repeated; /* run 0: none */
    char *words, **paths;         /* what `options` points to */
    struct drawn_for drawn;       /* of random graphs */
    uint64_t from_digest;         /* of the examples that they are mutations of; 0: of none */
};

/* Reads the lists and the recorded run.  0: cases can be chosen; 1: that run has no failures, which
 * is printed on stderr.  chosen_cases_done() follows in any case. */
int chosen_cases_begin(struct chosen_cases *c, const struct options *o, struct why *w);
/* For random graphs with --from: that a repeated run had the same examples. */
int chosen_cases_check_from(struct chosen_cases *c, const struct cases *cases, struct why *w);
/* Leaves the chosen ones of the cases.  A --case, or a line of --cases, that matches none of them
 * is WHY_INVALID, with the hint; so is a choice without any case. */
int chosen_cases_select(struct chosen_cases *c, struct cases *cases, const char *hint,
                        struct why *w);
/* Whether the options leave out cases. */
bool options_choose_part(const struct options *o);
void chosen_cases_done(struct chosen_cases *c);

/* Adds the choice to the JSON object that identifies a campaign, and to its command line. */
struct json_t;
void chosen_cases_put_json(const struct chosen_cases *c, struct json_t *object);
void chosen_cases_put_command(const struct chosen_cases *c, struct buffer *b);

/* The ways of execution in the recorded options of a run; none if the record is damaged. */
void recorded_ways(const json_t *options, struct ways *ret);
/* Uses the recorded entry points (--hal), where *o has none. */
void recorded_entry(const json_t *options, struct options *o);

#endif
