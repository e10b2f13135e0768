/* halcyon conform: the rules of the HAL on drivers, recorded in the results database. */
#include <stdlib.h>
#include <string.h>

#include "harness/check/buffer.h"
#include "harness/cli/screen.h"
#include "harness/commands/campaign_record.h"
#include "harness/commands/commands.h"
#include "harness/commands/conform_print.h"
#include "harness/conform/conform_models.h"
#include "harness/conform_run/conform_cases.h"
#include "harness/store/run_export.h"

struct conform_command {
    struct campaign c; /* first member: load_done() */
    const struct options *o;
    struct cases rules, models;
    struct conform_target target[MAX_TARGETS];
    struct conform_options options;
    struct conform_run run;
    struct rule_verdict **final; /* per item, from its end until it is printed */
    struct conform_totals *totals;
};

/* ---- a rule that is complete */

/* The verdict of an item after expectations, and the command that repeats the item. */
struct rule_verdict {
    struct check_result result;
    struct buffer replay;
    struct verdict_texts texts;
};

static void free_verdict(struct rule_verdict **f)
{
    if (*f)
        buffer_done(&(*f)->replay);
    free(*f);
    *f = NULL;
}

static void put_replay(const struct conform_command *k, const struct conform_item *i,
                       struct buffer *b)
{
    const struct options *o = k->o;
    char rule[128];
    struct options one = { .command = "conform",
                           .suite = { rule },
                           .n_suites = 1,
                           .version = i->version,
                           .seed = o->seed,
                           .stress = DEFAULT_STRESS,
                           .threads = DEFAULT_THREADS,
                           .processes = DEFAULT_PROCESSES,
                           .models = o->models };

    snprintf(rule, sizeof rule, "%s/%s", i->rule->suite, i->rule->name);
    if (conform_has_stress(i->rule))
        one.stress = o->stress;
    if (conform_has_clients(i->rule)) {
        one.threads = o->threads;
        one.processes = o->processes;
    }
    buffer_puts(b, "halcyon conform -d ");
    buffer_put_quoted(b, k->options.target[i->target].uri);
    options_put_rules(b, &one);
    if (o->timeout < 10 || o->timeout > 10)
        buffer_printf(b, " --timeout %g", o->timeout);
    options_put_memory_limit(b, o);
}

static int add_verdict(struct conform_command *k, const struct conform_item *i,
                       struct rule_verdict *f, struct why *w)
{
    struct check_result *r = &f->result;

    TRY(campaign_add_verdict(&k->c, i->ordinal, i->target, i->rule->suite, r, &f->texts, w));
    if (!verdict_conforming(r->verdict)) {
        char rule[CASE_NAME];
        snprintf(rule, sizeof rule, "%s/%s", i->rule->suite, i->rule->name);
        progress_failure(&k->c.console.progress, k->o->target[i->target], r->verdict, rule,
                         f->texts.replay);
    }
    conform_totals_count(k->totals, i->target, i->rule->suite, r->verdict, r->checked);
    return 0;
}

static int complete(const struct conform_item *item, void *user, struct why *w)
{
    struct conform_command *k = user;
    struct rule_verdict *f = calloc(1, sizeof *f);

    if (!f)
        return why_no_memory(w);
    k->final[item - k->run.item] = f;
    conform_result_of(item, &f->result);
    put_replay(k, item, &f->replay);
    f->texts =
        (struct verdict_texts){ .replay = buffer_text(&f->replay), .printed = item->printed };
    return add_verdict(k, item, f, w);
}

static void print_verdict(struct conform_command *k, const struct conform_item *item,
                          const struct rule_verdict *f)
{
    const char *uri = k->options.target[item->target].uri;
    bool found = f->result.verdict != VERDICT_PASS && f->result.verdict != VERDICT_UNSUPPORTED &&
                 f->result.verdict != VERDICT_WAIVED;
    char name[CASE_NAME];

    cases_name(&k->rules, item->ordinal, name);
    console_begin_print(&k->c.console);
    if (k->o->json)
        console_json_line(console_verdict_json(name, uri, &f->result, &f->texts));
    else if (found || k->o->verbosity > 0)
        conform_print_item(item, uri, &f->result, f->texts.replay);
    fflush(stdout);
    console_end_print(&k->c.console);
}

static int each_item(const struct conform_item *item, void *user, struct why *w)
{
    struct conform_command *k = user;
    struct rule_verdict **f = &k->final[item - k->run.item];

    (void) w;
    print_verdict(k, item, *f);
    free_verdict(f);
    return 0;
}

/* ---- what is not run */

/* For --resume: reads from the database which rules of the run are complete. */
static int load_done(struct campaign *c, struct why *w)
{
    struct conform_command *k = (struct conform_command *) c;
    struct recorded_filter filter = { .run = results_run(c->results) };

    TRY(campaign_load_done(c, w));
    for (uint64_t i = 0; i < k->run.n_items; i++) {
        struct conform_item *item = &k->run.item[i];
        item->is_done = campaign_is_done(c, item->ordinal, item->target);
        c->n_items -= item->is_done;
    }
    return results_each_recorded(c->results, &filter, conform_totals_add, k->totals, w);
}

/* Gives the items that a baseline excludes their verdict. */
static int skip_items(struct conform_command *k, struct why *w)
{
    for (uint64_t i = 0; i < k->run.n_items; i++) {
        struct conform_item *item = &k->run.item[i];
        struct rule_verdict f = { .texts = { 0 } };
        char name[CASE_NAME];
        cases_name(&k->rules, item->ordinal, name);
        if (item->is_done || !expectations_skip(k->c.expectations, item->target, name, &f.result))
            continue;
        f.result.judge = JUDGE_RULES;
        item->is_done = true;
        TRY(add_verdict(k, item, &f, w));
        print_verdict(k, item, &f);
    }
    return 0;
}

/* ---- the run */

static int read_target(const char *uri, double timeout, struct device_facts *facts,
                       struct conform_target *ret, struct why *w)
{
    *facts = (struct device_facts){ .hal = "?" };
    int rc = device_probe(uri, timeout, facts, w);

    /* What is wrong with a driver that opens is for the rules to find. */
    if (rc != 0 && !hal_version_by_name(facts->hal))
        return -1;
    *ret = (struct conform_target){ uri, hal_version_by_name(facts->hal),
                                    hal_version_by_name(facts->lowest),
                                    target_is_isolated(uri, harness_host.isolation) };
    return 0;
}

static int plan(struct conform_command *k, struct chosen_cases *chosen, struct why *w)
{
    const struct options *o = k->o;
    const struct conform_parameters p = { .seed = o->seed,
                                          .stress = o->stress,
                                          .threads = o->threads,
                                          .processes = o->processes,
                                          .models = o->models };

    k->options =
        (struct conform_options){ .target = k->target,
                                  .n_targets = o->n_targets,
                                  .suite = o->suite,
                                  .n_suites = o->n_suites,
                                  .version = o->version,
                                  .all_versions = o->all_versions,
                                  .jobs = o->jobs,
                                  .timeout = o->timeout,
                                  .in_process = o->in_process,
                                  .rerun = o->rerun,
                                  .memory_limit = o->memory_limit,
                                  .calls = { .complete = complete, .tick = campaign_tick } };
    if (o->max_failures || o->duration)
        k->options.calls.enough = campaign_has_enough;
    TRY(conform_plan(&k->options, &k->run, w));
    TRY(conform_make_cases(&k->run, &p, &k->rules, w));
    if (chosen)
        TRY(chosen_cases_select(chosen, &k->rules,
                                " ('halcyon conform --list' lists the rules; --hal chooses "
                                "versions)",
                                w));
    TRY(conform_select_items(&k->run, &k->rules, o->shard, o->n_shards, w));
    k->c.n_planned = k->c.n_items = k->run.n_items;
    k->final = calloc(k->run.n_items + 1, sizeof *k->final);
    k->totals = conform_totals_new(o->target, o->n_targets);
    return k->final && k->totals ? 0 : why_no_memory(w);
}

static int run_items(struct conform_command *k, struct why *w)
{
    conform_seed = k->o->seed;
    conform_stress_seconds = k->o->stress;
    conform_crash_threads = (unsigned) k->o->threads;
    conform_crash_processes = (unsigned) k->o->processes;
    k->options.stop = campaign_catch_signals();
    k->c.console = console_start(k->o, k->c.n_items);
    TRY(campaign_begin_isolation(&k->c, w));
    TRY(skip_items(k, w));
    conform_models_draw();
    int ended = conform_run(&k->options, &k->run, each_item, k, w);
    screen_clear();
    if (ended >= 0 && !k->o->json)
        conform_print_models();
    conform_models_free();
    if (k->c.results && results_commit(k->c.results, ended < 0 ? NULL : w) < 0)
        return -1;
    k->c.end = ended == 0 ? CAMPAIGN_COMPLETE : ended == 1 ? CAMPAIGN_STOPPED : k->c.end;
    return ended < 0 ? -1 : 0;
}

static void print_summary(const struct summary *s, void *user)
{
    struct conform_command *k = user;

    if (k->o->verbosity >= 0)
        conform_print_suites(k->totals);
    conform_print_sum(k->totals, s, k->run.n_not_of_version);
}

/* chosen NULL: nothing is chosen, nor recorded. */
static int run_rules(struct conform_command *k, struct chosen_cases *chosen, struct why *w)
{
    const struct options *o = k->o;
    struct device_facts facts[MAX_TARGETS];

    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET, such as -d sim:cpu");
    TRY(expectations_load(o->baseline, o->n_baselines, o->target, o->n_targets, false,
                          &k->c.expectations, w));
    for (uint32_t t = 0; t < o->n_targets; t++) {
        devices_protect_from(o->target[t]);
        TRY(read_target(o->target[t], o->timeout, &facts[t], &k->target[t], w));
    }
    TRY(plan(k, chosen, w));
    TRY(export_check(o, w));
    if (chosen) {
        int opened = campaign_open_results(&k->c, chosen, facts, load_done, w);
        TRY(opened);
        if (opened)
            return campaign_show_recorded(&k->c, chosen, w);
    }
    TRY(run_items(k, w));
    if (chosen)
        return campaign_end_record(&k->c, chosen, print_summary, k, w);
    struct summary s = { .target = o->target,
                         .n_targets = o->n_targets,
                         .seconds = console_now() - o->begun,
                         .note = k->c.note,
                         .n_notes = k->c.n_notes,
                         .not_run = k->c.n_items - k->c.done,
                         .n_cases = k->c.n_items,
                         .totals = k->c.totals,
                         .cases = &k->rules };
    if (o->json)
        console_summary(&k->c.console, &s);
    else
        print_summary(&s, k);
    if (*k->options.stop)
        return 128 + (int) *k->options.stop;
    return campaign_failures(&k->c) ? EXIT_NOT_CONFORMING : EXIT_CONFORMING;
}

static int load_models(struct conform_command *k, struct why *w)
{
    const struct options *o = k->o;
    struct cases *models = &k->models;

    if (!o->models)
        return 0;
    models->threads = o->jobs;
    TRY(cases_load(models, o->models, NULL, w));
    TRY(cases_validate(models, w));
    console_unloaded(models, stderr);
    REQUIRE(w, models->n, "%s: no models in it", o->models);
    conform_cases = models;
    /* The run's record has the files that could not be loaded. */
    k->rules.unloaded = models->unloaded;
    k->rules.n_unloaded = models->n_unloaded;
    models->unloaded = NULL;
    models->n_unloaded = 0;
    return 0;
}

static int run_command(const struct options *o, struct chosen_cases *chosen)
{
    struct conform_command k = { .o = o };
    struct why why = { 0 };

    k.c = (struct campaign){ .options = o,
                             .cases = &k.rules,
                             .judge = JUDGE_RULES,
                             .target = o->target,
                             .n_targets = o->n_targets };
    int status = load_models(&k, &why);
    if (status == 0 && o->list) {
        conform_print_list();
        status = unloaded_status(o, &k.rules, EXIT_CONFORMING);
    } else if (status == 0) {
        status = run_rules(&k, chosen, &why);
    }
    status = campaign_exit(&k.c, status, &why);
    conform_cases = NULL;
    for (uint64_t i = 0; k.final && i < k.run.n_items; i++)
        free_verdict(&k.final[i]);
    free(k.final);
    conform_totals_free(k.totals);
    conform_run_done(&k.run);
    cases_done(&k.rules);
    cases_done(&k.models);
    return status;
}

int conform_replay(const struct options *o, const char *name)
{
    struct options one = *o;
    struct conform_case c;
    struct why why = { 0 };

    if (conform_parse_name(name, &c, &why) < 0)
        return print_error(o, &why);
    one.suite[0] = c.rule;
    one.n_suites = 1;
    one.version = c.version;
    one.seed = c.parameters.seed;
    one.stress = c.parameters.stress;
    one.threads = c.parameters.threads;
    one.processes = c.parameters.processes;
    one.models = c.parameters.models;
    one.verbosity = o->verbosity < 0 ? -1 : 1;
    one.jobs = 1;
    return run_command(&one, NULL);
}

int cmd_conform(const struct options *o)
{
    struct chosen_cases chosen;
    struct why why = { 0 };

    if (options_expect(o, 0, 0, "argument", &why) < 0)
        return print_error(o, &why);
    int status = chosen_cases_begin(&chosen, o, &why);
    if (status == 0)
        status = run_command(&chosen.options, &chosen);
    else
        status = status < 0 ? print_error(o, &why) : EXIT_CONFORMING;
    chosen_cases_done(&chosen);
    return status;
}
