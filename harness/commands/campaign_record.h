/* The record of a campaign of `run`, `random` or `conform`: what identifies it in the results
 * database, how it is started or resumed there, and how it ends. */
#ifndef HARNESS_CAMPAIGN_RECORD_H
#define HARNESS_CAMPAIGN_RECORD_H

#include "harness/cases/chosen_cases.h"
#include "harness/run/campaign.h"
#include "harness/run/devices.h"

/* Opens the database of the options and starts a run in it, or resumes one with --resume; then the
 * verdicts that it has are loaded by load_done().  1: with --atomic, the complete shard is there
 * already; campaign_show_recorded() ends the command. */
int campaign_open_results(struct campaign *c, const struct chosen_cases *chosen,
                          const struct device_facts *facts,
                          int (*load_done)(struct campaign *c, struct why *w), struct why *w);

/* Prints the summary of a complete shard and writes the files that the options name.  Returns the
 * exit status of its verdicts, or -1. */
int campaign_show_recorded(struct campaign *c, const struct chosen_cases *chosen, struct why *w);

/* Catches the first SIGINT or SIGTERM; a second one ends the process.  Points to the signal's
 * number, 0 before it. */
const volatile sig_atomic_t *campaign_catch_signals(void);

/* Ends the record: marks a complete run as finished, holds it against the baselines, prints the
 * summary (as JSON, or by `print`; NULL: console_summary()), writes the files that the options
 * name, and with --atomic gives a complete database its name.  Returns the exit status, or -1. */
int campaign_end_record(struct campaign *c, const struct chosen_cases *chosen,
                        void (*print)(const struct summary *s, void *user), void *user,
                        struct why *w);

/* The exit status of a campaign that ended with `status` or failed, -1: then prints the reason, and
 * frees what the campaign and its record own. */
int campaign_exit(struct campaign *c, int status, const struct why *w);

#endif
