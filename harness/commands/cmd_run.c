/* halcyon run, halcyon random: campaigns recorded in the results database. */
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/check/buffer.h"
#include "harness/commands/chosen_cases.h"
#include "harness/commands/commands.h"
#include "harness/run/campaign.h"
#include "harness/run/devices.h"
#include "harness/store/run_export.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

/* ---- what identifies a campaign */

/* The options that determine the cases and how they are judged: --resume compares them, replay
 * reads the judge. */
static char *options_json(const struct chosen_cases *chosen)
{
    const struct options *o = &chosen->options;
    struct buffer graphs = { 0 };
    options_put_graphs(&graphs, &o->graphs);
    json_t *j = json_object(), *paths = json_array();
    for (int i = 0; i < o->n_arguments; i++)
        json_array_append_new(paths, json_string(o->argument[i]));
    bool random = !strcmp(o->command, "random");
    if (random) {
        json_object_set_new(j, "seed", json_sprintf("%llu", (unsigned long long) o->seed));
        json_object_set_new(j, "count", json_integer((json_int_t) o->count));
        json_object_set_new(j, "graphs", json_string(buffer_text(&graphs)));
        json_object_set_new(j, "generator", json_integer(RANDGRAPH_VERSION));
    } else {
        json_object_set(j, "paths", paths);
    }
    chosen_cases_put_json(chosen, j);
    if (o->rerun)
        json_object_set_new(j, "rerun", json_integer(o->rerun));
    if (o->memory_limit)
        json_object_set_new(j, "memory_limit", json_integer((json_int_t) o->memory_limit));
    json_object_set_new(j, "shard", json_sprintf("%u/%u", o->shard, o->n_shards));
    json_object_set_new(j, "judge", json_string(judge_name[o->judge]));
    char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(paths);
    json_decref(j);
    buffer_done(&graphs);
    return text;
}

static char *command_line(const struct chosen_cases *chosen)
{
    const struct options *o = &chosen->options;
    struct buffer b = { 0 };
    buffer_printf(&b, "halcyon %s", o->command);
    for (int i = 0; i < o->n_arguments; i++) {
        buffer_puts(&b, " ");
        buffer_put_quoted(&b, o->argument[i]);
    }
    if (!strcmp(o->command, "random"))
        buffer_printf(&b, " --seed %llu --count %llu", (unsigned long long) o->seed,
                      (unsigned long long) o->count);
    options_put_graphs(&b, &o->graphs);
    for (uint32_t t = 0; t < o->n_targets; t++) {
        buffer_puts(&b, " -d ");
        buffer_put_quoted(&b, o->target[t]);
    }
    chosen_cases_put_command(chosen, &b);
    if (o->rerun)
        buffer_printf(&b, " --rerun %u", o->rerun);
    options_put_memory_limit(&b, o);
    if (o->judge != JUDGE_AUTO)
        buffer_printf(&b, " --judge %s", judge_name[o->judge]);
    if (o->n_shards > 1)
        buffer_printf(&b, " --shard %u/%u", o->shard, o->n_shards);
    return b.data;
}

/* ---- the database */

static int start_or_resume(struct campaign *c, const struct run_row *run,
                           const struct target_row *targets, struct why *w)
{
    const struct options *o = c->options;
    if (!o->resume)
        return results_start_run(c->results, run, targets, c->n_targets, w);
    int found = results_resume_run(c->results, run, targets, c->n_targets, w);
    TRY(found);
    if (found)
        return campaign_skip_done(c, w);
    fprintf(stderr,
            "halcyon %s: no unfinished run with these options and targets: starting a new one\n",
            o->command);
    return results_start_run(c->results, run, targets, c->n_targets, w);
}

static int open_results(struct campaign *c, const struct chosen_cases *chosen,
                        const struct device_facts *facts, struct why *w)
{
    const struct options *o = c->options;
    TRY(results_open(o->db, RESULTS_WRITE, &c->results, w));
    struct target_row targets[MAX_TARGETS];
    for (uint32_t t = 0; t < c->n_targets; t++)
        targets[t] = (struct target_row){ .uri = o->target[t],
                                          .name = facts[t].name,
                                          .version = facts[t].version,
                                          .type = facts[t].type,
                                          .hal = facts[t].hal };
    char *command = command_line(chosen), *options = options_json(chosen);
    const char *judge = o->judge != JUDGE_AUTO       ? judge_name[o->judge]
                        : !strcmp(o->command, "run") ? "cts"
                                                     : "bound";
    struct run_row run = { .kind = o->command,
                           .command = command,
                           .options = options,
                           .judge = judge,
                           .n_cases = campaign_shard(o, c->cases->n),
                           .unloaded = c->cases->unloaded,
                           .n_unloaded = c->cases->n_unloaded };
    int failed = command && options ? start_or_resume(c, &run, targets, w) : why_no_memory(w);
    free(command);
    free(options);
    return failed;
}

/* ---- the campaign */

static const char *const ended[] = {
    [CAMPAIGN_COMPLETE] = NULL,
    [CAMPAIGN_STOPPED] = "interrupted",
    [CAMPAIGN_FAILURES] = "ended by --max-failures",
    [CAMPAIGN_TIME] = "ended by --for",
};

static void set_compared(uint32_t target, uint64_t compared, void *user)
{
    struct campaign *c = user;
    if (target < c->n_targets)
        c->totals[target].compared = compared;
}

static int finish(struct campaign *c, const struct chosen_cases *chosen, struct why *w)
{
    const struct options *o = c->options;
    /* The database has those of a resumed run's first part, too, and not those of amended cases. */
    TRY(results_each_target(c->results, set_compared, c, w));
    if (c->end == CAMPAIGN_COMPLETE)
        TRY(results_finish_run(c->results, console_now() - o->begun, w));
    struct recorded_filter filter = { .run = results_run(c->results) };
    bool partial = c->end != CAMPAIGN_COMPLETE || o->n_shards > 1 || chosen_cases_are_part(chosen);
    TRY(expectations_check(c->expectations, c->results, &filter, partial, w));
    struct summary s = { .target = c->target,
                         .totals = c->totals,
                         .n_targets = c->n_targets,
                         .n_cases = campaign_shard(o, c->cases->n),
                         .not_run = c->n_items - c->done,
                         .ended = ended[c->end],
                         .seconds = console_now() - o->begun,
                         .run = results_run(c->results),
                         .db = o->db,
                         .note = c->note,
                         .n_notes = c->n_notes,
                         .baselines = o->json ? expectations_json(c->expectations) : NULL,
                         .cases = c->cases };
    console_summary(&c->console, &s);
    if (!o->json)
        expectations_print(c->expectations, stdout, o->verbosity > 0 ? 0 : MOST_FINDINGS);
    char host[HOST_NAME_MAX + 1] = "";
    TRY(export_write(c->results, o, results_run(c->results),
                     gethostname(host, sizeof host - 1) == 0 ? host : NULL, w));
    if (c->end != CAMPAIGN_COMPLETE)
        fprintf(stderr, "halcyon %s: %s; the same command with --resume continues the run\n",
                o->command, ended[c->end]);
    if (c->end == CAMPAIGN_STOPPED)
        return 128 + (int) stop_signal;
    return unloaded_status(o, c->cases,
                           campaign_failures(c) || expectations_fail(c->expectations)
                               ? EXIT_NOT_CONFORMING
                               : EXIT_CONFORMING);
}

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
                          !c->cases->spec, &c->expectations, w));
    for (uint32_t t = 0; t < c->n_targets; t++) {
        TRY(device_probe(c->target[t], c->options->timeout, &facts[t], w));
        campaign_set_fault(c, t, &facts[t], w);
    }
    TRY(export_check(c->options, w));
    TRY(open_results(c, chosen, facts, w));
    /* The first signal stops the campaign in order, a second one ends the process at once. */
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    TRY(campaign_run(c, &stop_signal, w));
    return finish(c, chosen, w);
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
    if (status < 0)
        status = print_error(o, &why);
    if (status == EXIT_OURS && c.results && results_run(c.results))
        fprintf(stderr, "halcyon %s: the same command with --resume continues run %lld\n",
                o->command, (long long) results_run(c.results));
    campaign_done(&c);
    results_close(c.results);
    expectations_free(c.expectations);
    return status;
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

/* Generates the first case, to detect contradictory options (an operation that does not have the
 * --types) before the campaign starts: any case shows them. */
static int check_graphs(const struct cases *cases, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    int failed = arena ? cases_get(cases, 0, arena, &e, w) : why_no_memory(w);
    arena_free(arena);
    return failed;
}

static int make_random(struct chosen_cases *c, struct cases *cases, struct why *w)
{
    const struct options *o = &c->options;
    char first[CASE_NAME], last[CASE_NAME], hint[2 * CASE_NAME + 16];
    *cases = cases_random(&o->graphs, o->seed, 0, o->count);
    TRY(check_graphs(cases, w));
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
