/* halcyon conform: the rules of the HAL on drivers. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_run.h"
#include "harness/run/devices.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

/* ---- --list */

static int count_rules(const char *suite)
{
    int n = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++)
            n += strcmp(conform_rules[f]->rule[k].suite, suite) == 0;
    return n;
}

/* "700 models", "12345 mutants of 700 models"; "" for a rule with cases of its own. */
static const char *case_text(const struct conform_rule *r, char text[64])
{
    char models[32];

    snprintf(models, sizeof models, "%d models", conform_n_models);
    if (r->count)
        snprintf(text, 64, " (%llu mutants of %s)", (unsigned long long) r->count(r->data), models);
    else
        snprintf(text, 64, "%s%s%s", r->is_split ? " (" : "", r->is_split ? models : "",
                 r->is_split ? ")" : "");
    return text;
}

static void list_rules(const char *suite)
{
    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            char name[64], since[16], cases[64];
            if (strcmp(r->suite, suite))
                continue;
            snprintf(name, sizeof name, "%s/%s", r->suite, r->name);
            snprintf(since, sizeof since, "%s%s", hal_version_name(r->since),
                     r->until ? "-" : " on");
            printf("  %-28s %-8s %s%s\n", name, since, r->text, case_text(r, cases));
        }
}

static void print_models(void)
{
    const struct conform_rows *rows = &conform_rows;

    printf("%d built-in models: %d of %d forms and %d of %d typing rows of %d operations",
           conform_n_built_in, rows->drawn_forms, rows->forms, rows->drawn_typings, rows->typings,
           rows->operations);
    if (conform_cases)
        printf("; %d of --models", conform_n_models - conform_n_built_in);
    printf("\n");
}

static int list_suites(void)
{
    int n = 0;

    conform_models_draw();

    for (int s = 0; s < conform_n_suites; s++) {
        const struct conform_suite *suite = &conform_suites[s];
        int rules = count_rules(suite->name);
        printf("%s: %s (%d rules)\n", suite->name, suite->text, rules);
        list_rules(suite->name);
        n += rules;
    }
    printf("%d suites, %d rules\n", conform_n_suites, n);
    print_models();
    conform_models_free();
    return EXIT_CONFORMING;
}

/* ---- a run */

struct conform_command {
    const struct options *o;
    const struct conform_options *options;
    uint64_t outcomes[OUTCOMES], checks;
};

/* A rule that found something, with all that is known of it. */
static void print_item(const struct conform_command *c, const struct conform_item *i)
{
    const struct conform_target *t = &c->options->target[i->target];
    struct buffer b = { 0 };

    printf("%s %s/%s on %s at HAL %s: %s\n", conform_outcome_name[i->outcome], i->rule->suite,
           i->rule->name, t->uri, hal_version_name(i->version), i->rule->text);
    for (uint32_t k = 0; k < i->result.n_findings; k++)
        printf("    %s\n", i->result.finding[k]);
    if (i->result.failures > i->result.n_findings)
        printf("    and %u more of %u checks\n", i->result.failures - i->result.n_findings,
               i->result.checks);
    if (i->result.reason[0])
        printf("    %s\n", i->result.reason);
    if (i->outcome != OUTCOME_VIOLATION && i->outcome != OUTCOME_CRASH &&
        i->outcome != OUTCOME_HANG)
        return;
    buffer_put_quoted(&b, t->uri);
    printf("    halcyon conform -d %s --suite %s/%s --hal %s", buffer_text(&b), i->rule->suite,
           i->rule->name, hal_version_name(i->version));
    if (c->o->seed != 1)
        printf(" --seed %llu", (unsigned long long) c->o->seed);
    printf("\n");
    buffer_done(&b);
}

static int each_item(const struct conform_item *item, void *user, struct why *w)
{
    struct conform_command *c = user;
    bool found = item->outcome != OUTCOME_PASS && item->outcome != OUTCOME_NOT_APPLICABLE;

    (void) w;
    c->outcomes[item->outcome]++;
    c->checks += item->result.checks;
    if (found || c->o->verbosity > 0)
        print_item(c, item);
    fflush(stdout);
    return 0;
}

static uint64_t count_failures(const struct conform_command *c)
{
    return c->outcomes[OUTCOME_VIOLATION] + c->outcomes[OUTCOME_CRASH] + c->outcomes[OUTCOME_HANG];
}

/* One line per suite: how many of its rules have each outcome. */
static void print_suites(const struct conform_run *run, uint32_t target, const char *uri)
{
    printf("%s\n", uri);
    for (int s = 0; s < conform_n_suites; s++) {
        uint64_t n[OUTCOMES] = { 0 }, checks = 0, rules = 0;
        for (uint64_t i = 0; i < run->n_items; i++) {
            const struct conform_item *item = &run->item[i];
            if (item->target != target || strcmp(item->rule->suite, conform_suites[s].name))
                continue;
            n[item->outcome]++;
            checks += item->result.checks;
            rules++;
        }
        if (!rules)
            continue;
        printf("  %-16s %4llu rules, %9llu checks:", conform_suites[s].name,
               (unsigned long long) rules, (unsigned long long) checks);
        for (int k = 0; k < OUTCOMES; k++)
            if (n[k])
                printf(" %llu %s", (unsigned long long) n[k], conform_outcome_name[k]);
        printf("\n");
    }
}

static int read_target(const char *uri, double timeout, struct conform_target *ret, struct why *w)
{
    struct device_facts facts = { .hal = "?" };
    int rc = device_probe(uri, timeout, &facts, w);

    /* What is wrong with a driver that opens is for the rules to find. */
    if (rc != 0 && !hal_version_by_name(facts.hal))
        return -1;
    *ret = (struct conform_target){ uri, hal_version_by_name(facts.hal),
                                    hal_version_by_name(facts.lowest),
                                    target_is_isolated(uri, harness_host.isolation) };
    return 0;
}

static int run_suites(const struct options *o, struct conform_run *run, struct why *w)
{
    struct conform_target target[MAX_TARGETS];
    struct conform_options options = { .target = target,
                                       .n_targets = o->n_targets,
                                       .suite = o->suite,
                                       .n_suites = o->n_suites,
                                       .version = o->version,
                                       .all_versions = o->all_versions,
                                       .jobs = o->jobs,
                                       .timeout = o->timeout,
                                       .in_process = o->in_process,
                                       .stop = &stop_signal };
    struct conform_command c = { .o = o, .options = &options };

    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET, such as -d sim:cpu");
    for (uint32_t t = 0; t < o->n_targets; t++) {
        devices_protect_from(o->target[t]);
        TRY(read_target(o->target[t], o->timeout, &target[t], w));
    }
    TRY(conform_plan(&options, run, w));
    conform_seed = o->seed;
    conform_stress_seconds = o->stress;
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    conform_models_draw();
    int stopped = conform_run(&options, run, each_item, &c, w);
    if (stopped >= 0)
        print_models();
    conform_models_free();
    if (stopped < 0)
        return -1;
    for (uint32_t t = 0; t < o->n_targets && o->verbosity >= 0; t++)
        print_suites(run, t, o->target[t]);
    printf("%llu rules, %llu checks: %llu passed, %llu failed, %llu not applicable, %llu "
           "undecided; %llu more are of other versions; %.1f s\n",
           (unsigned long long) run->n_items, (unsigned long long) c.checks,
           (unsigned long long) c.outcomes[OUTCOME_PASS], (unsigned long long) count_failures(&c),
           (unsigned long long) c.outcomes[OUTCOME_NOT_APPLICABLE],
           (unsigned long long) c.outcomes[OUTCOME_UNDECIDED],
           (unsigned long long) run->n_not_of_version, console_now() - o->begun);
    if (stopped)
        return 128 + (int) stop_signal;
    return count_failures(&c) ? EXIT_NOT_CONFORMING : EXIT_CONFORMING;
}

static int load_models(const struct options *o, struct cases *cases, struct why *w)
{
    TRY(cases_load(cases, o->models, NULL, w));
    TRY(cases_validate(cases, w));
    console_unloaded(cases, stderr);
    REQUIRE(w, cases->n, "%s: no models in it", o->models);
    conform_cases = cases;
    return 0;
}

int cmd_conform(const struct options *o)
{
    struct cases cases = { .threads = o->jobs };
    struct conform_run run = { 0 };
    struct why why = { 0 };
    int status = options_expect(o, 0, 0, "argument", &why);

    if (status == 0 && o->models)
        status = load_models(o, &cases, &why);
    if (status == 0)
        status = o->list ? list_suites() : run_suites(o, &run, &why);
    if (status < 0)
        status = print_error(o, &why);
    else
        status = unloaded_status(o, &cases, status);
    conform_cases = NULL;
    cases_done(&cases);
    conform_run_done(&run);
    return status;
}
