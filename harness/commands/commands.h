/* The subcommands, one file each: the `run` members of command_table[] (harness/cli/options.h).
 * Each prints its own errors and returns the exit status. */
#ifndef HARNESS_COMMANDS_H
#define HARNESS_COMMANDS_H

#include <stdio.h>

#include "harness/cli/options.h"

int cmd_devices(const struct options *o);
int cmd_probe(const struct options *o);
int cmd_campaign(const struct options *o);
int cmd_run(const struct options *o);
int cmd_random(const struct options *o);
int cmd_conform(const struct options *o);
int cmd_selftest(const struct options *o);
int cmd_replay(const struct options *o);
int cmd_explain(const struct options *o);
int cmd_shrink(const struct options *o);
int cmd_dump(const struct options *o);
int cmd_levels(const struct options *o);
int cmd_bench(const struct options *o);
int cmd_calibrate(const struct options *o);
int cmd_plan(const struct options *o);
int cmd_ops(const struct options *o);
int cmd_serve(const struct options *o);
int cmd_new_driver(const struct options *o);
int cmd_trace(const struct options *o);
int cmd_baseline(const struct options *o);
int cmd_diff(const struct options *o);
int cmd_report(const struct options *o);
int cmd_coverage(const struct options *o);
int cmd_db(const struct options *o);
int cmd_merge(const struct options *o);
int cmd_help(const struct options *o);

/* Checks the rule that a case of that name is (harness/conform_run/conform_cases.h) again on the
 * targets of the options; nothing is recorded.  Returns the exit status. */
int conform_replay(const struct options *o, const char *name);

/* Writes the report of a database to a folder; prints its summary. */
int report_write_site(const char *db, const char *folder, struct why *w);
int report_print_summary(const char *db, FILE *to, struct why *w);

/* Runs a campaign as `run` and `random` do: completes the options, makes the cases, chooses some,
 * runs them, records and prints the verdicts.  Returns the exit status.  make: fills *cases, which
 * is zeroed, from c->options, and calls chosen_cases_select(). */
struct cases;
struct chosen_cases;
int command_campaign(const struct options *o,
                     int (*make)(struct chosen_cases *c, struct cases *cases, struct why *w));

#endif
