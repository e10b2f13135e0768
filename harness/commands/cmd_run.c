/* halcyon run, halcyon random: campaigns recorded in the results database. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/commands/campaign_record.h"
#include "harness/commands/commands.h"
#include "harness/run/campaign_internal.h"
#include "harness/shrink/shrink_failures.h"
#include "harness/store/run_export.h"

static int run_campaign(struct campaign *c, const struct chosen_cases *chosen, struct why *w)
{
    struct device_facts facts[MAX_TARGETS];
    REQUIRE(w, !c->options->rerun || !c->options->in_process,
            "--rerun runs cases in new processes, which --in-process excludes");
    REQUIRE(w, c->n_targets, "no target given; expected -d TARGET, such as -d sim:cpu");
    if (!c->cases->n && c->cases->n_unloaded) {
        console_unloaded(c->cases, stderr);
        return why_fail(w, WHY_INVALID, "no case to run: expected a file that can be loaded");
    }
    TRY(expectations_load(c->options->baseline, c->options->n_baselines, c->target, c->n_targets,
                          cases_are_random(c->cases), &c->expectations, w));
    for (uint32_t t = 0; t < c->n_targets; t++) {
        TRY(device_probe(c->target[t], c->options->timeout, &facts[t], w));
        campaign_set_fault(c, t, &facts[t], w);
    }
    TRY(export_check(c->options, w));
    int opened = campaign_open_results(c, chosen, facts, campaign_skip_done, w);
    TRY(opened);
    if (opened)
        return campaign_show_recorded(c, chosen, w);
    TRY(drawn_for_keep(&chosen->drawn, c->results, w));
    for (uint32_t t = 0; t < c->n_targets; t++)
        if (chosen->drawn.note[t][0])
            TRY(campaign_keep_note(c, t, chosen->drawn.note[t], w));
    const volatile sig_atomic_t *stop = campaign_catch_signals();
    TRY(campaign_run(c, stop, w));
    TRY(shrink_failures(c, stop, w));
    return campaign_end_record(c, chosen, NULL, NULL, w);
}

/* Runs the cases.  Returns the exit status. */
static int run_cases(const struct chosen_cases *chosen, struct cases *cases)
{
    const struct options *o = &chosen->options;
    struct campaign c = { .options = o,
                          .cases = cases,
                          .judge = o->judge,
                          .target = o->target,
                          .n_targets = o->n_targets };
    struct why why = { 0 };
    int status = run_campaign(&c, chosen, &why);
    return campaign_exit(&c, status, &why);
}

int command_campaign(const struct options *o,
                     int (*make)(struct chosen_cases *c, struct cases *cases, struct why *w))
{
    struct chosen_cases chosen;
    struct cases cases = { 0 };
    struct why why = { 0 };
    int status = chosen_cases_begin(&chosen, o, &why);
    if (status == 0)
        status = make(&chosen, &cases, &why);
    if (status == 0)
        status = run_cases(&chosen, &cases);
    else
        status = status < 0 ? print_error(o, &why) : EXIT_CONFORMING;
    cases_done(&cases);
    chosen_cases_done(&chosen);
    return status;
}

/* ---- the commands */

static int make_random(struct chosen_cases *c, struct cases *cases, struct why *w)
{
    const struct options *o = &c->options;
    char first[CASE_NAME], last[CASE_NAME], hint[2 * CASE_NAME + 16];
    *cases = cases_random(&o->graphs, o->seed, 0, o->count);
    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET, such as -d sim:cpu");
    TRY(drawn_for_targets(&c->drawn, o, cases, w));
    TRY(chosen_cases_check_from(c, cases, w));
    cases_name(cases, 0, first);
    cases_name(cases, o->count - 1, last);
    snprintf(hint, sizeof hint, " of %s to %s", first, last);
    return chosen_cases_select(c, cases, hint, w);
}

static int load_files(struct chosen_cases *c, struct cases *cases, struct why *w)
{
    const struct options *o = &c->options;
    TRY(options_expect(o, 1, 1 << 20, "PATH", w));
    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET, such as -d sim:cpu");
    cases->threads = o->jobs;
    cases->ways = o->ways;
    for (int i = 0; i < o->n_arguments; i++)
        TRY(cases_load(cases, o->argument[i], NULL, w));
    TRY(chosen_cases_select(c, cases, " ('halcyon levels PATH' lists the names)", w));
    return cases_validate(cases, w);
}

int cmd_random(const struct options *o)
{
    struct why why;
    return options_expect(o, 0, 0, "", &why) < 0 ? print_error(o, &why)
                                                 : command_campaign(o, make_random);
}

int cmd_run(const struct options *o)
{
    return command_campaign(o, load_files);
}
