/* halcyon selftest: whether the rules of conform find the planted faults. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/conform_run/selftest.h"
#include "harness/run/devices.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

static const char *const end_name[] = { "found", "missed", "stopped" };

/* ---- output */

typedef void each_rule(const struct conform_rule *r, uint32_t findings, void *user);

static void with_findings(const struct selftest_row *row, each_rule *each, void *user)
{
    int at = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++, at++)
            if (row->findings[at])
                each(&conform_rules[f]->rule[k], row->findings[at], user);
}

static void print_rule(const struct conform_rule *r, uint32_t findings, void *user)
{
    (void) findings, (void) user;
    printf(" %s/%s", r->suite, r->name);
}

static void add_rule(const struct conform_rule *r, uint32_t findings, void *user)
{
    char name[64];

    snprintf(name, sizeof name, "%s/%s", r->suite, r->name);
    json_object_set_new(user, name, json_integer(findings));
}

static void print_row(const struct selftest_row *r)
{
    const char *end = r->fault ? end_name[r->end] : r->end == SELFTEST_FOUND ? "clean" : "findings";

    printf("%-28s %-8s %5.1f s ", r->fault ? r->fault->name : "(no fault)", end, r->seconds);
    with_findings(r, print_rule, NULL);
    printf("%s\n", r->is_over_budget ? " (time over)" : "");
    if (r->rule[0])
        printf("    %s: %s\n", r->rule, r->text);
    for (const char *const *name = r->fault ? r->fault->rules : NULL; name && *name; name++)
        if (r->end == SELFTEST_MISSED && !r->findings[selftest_rule(*name)])
            printf("    %s does not fail\n", *name);
    fflush(stdout);
}

static void print_line(json_t *o)
{
    json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(4));
    putchar('\n');
    fflush(stdout);
    json_decref(o);
}

static void print_json(const struct selftest_row *r)
{
    json_t *rules = json_object(), *missed = json_array();

    with_findings(r, add_rule, rules);
    for (const char *const *name = r->fault ? r->fault->rules : NULL; name && *name; name++)
        if (!r->findings[selftest_rule(*name)])
            json_array_append_new(missed, json_string(*name));
    json_t *o = json_pack("{s:s, s:f, s:b, s:s, s:s, s:o, s:o}", "end", end_name[r->end], "seconds",
                          r->seconds, "time_over", r->is_over_budget, "rule", r->rule, "finding",
                          r->text, "findings", rules, "missed", missed);
    json_object_set_new(o, "fault", r->fault ? json_string(r->fault->name) : json_null());
    print_line(o);
}

/* Rules that no fault names; after --all: that no fault has made fail.  Returns their number. */
static int print_idle_rules(const struct selftest *s, bool json)
{
    json_t *list = json_array();
    int n = 0, at = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++, at++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            if (s->all ? s->rule_failed[at] : selftest_names(r))
                continue;
            n++;
            if (json)
                json_array_append_new(list, json_sprintf("%s/%s", r->suite, r->name));
            else if (s->all)
                printf("%s/%s: no fault makes it fail\n", r->suite, r->name);
            else
                printf("%s/%s: no fault names it; add it to the RULES() of one that makes it fail, "
                       "or add such a fault (sim/faulty/*_faults.c, sim/device/faults.c)\n",
                       r->suite, r->name);
        }
    if (json)
        print_line(json_pack("{s:o}", "idle_rules", list));
    else
        json_decref(list);
    return n;
}

/* ---- the run */

struct counts {
    int n, ends[3];
    const char *clean; /* the device without a fault: what the summary says */
    bool has_findings; /* it has */
};

static int run_row(struct selftest *s, const struct fault *f, struct counts *c, struct why *w)
{
    struct selftest_row row;
    int rc = selftest_fault(s, f, &row, w);

    if (rc == 0) {
        (s->options->json ? print_json : print_row)(&row);
        c->ends[row.end] += f != NULL;
        c->n += f != NULL;
        if (!f) {
            c->has_findings = row.end != SELFTEST_FOUND;
            c->clean = c->has_findings ? "has findings" : "has no findings";
        }
    }
    selftest_row_done(&row);
    return rc;
}

static int find_faults(const struct options *o, const struct fault *list[MAX_FAULTS], struct why *w)
{
    for (uint32_t i = 0; i < o->n_faults; i++) {
        struct suggestion s = suggest_for(o->fault[i]);
        char text[SUGGEST_TEXT];
        list[i] = fault_find(o->fault[i]);
        for (int k = 0; !list[i] && fault_at(k); k++)
            suggest_candidate(&s, fault_at(k)->name);
        REQUIRE(w, list[i], "unknown fault '%s'%s", o->fault[i],
                s.name ? suggest_text(&s, "", text) : " ('halcyon devices --faults' lists them)");
    }
    return 0;
}

static int run_all(struct selftest *s, const struct options *o, struct counts *c, struct why *w)
{
    const struct fault *list[MAX_FAULTS];
    uint64_t at = 0;

    TRY(find_faults(o, list, w));
    for (uint32_t i = 0; i < o->n_faults && !stop_signal; i++)
        TRY(run_row(s, list[i], c, w));
    if (o->n_faults)
        return 0;
    if (o->shard == 1)
        TRY(run_row(s, NULL, c, w));
    for (int i = 0; fault_at(i) && !stop_signal; i++)
        if (at++ % o->n_shards == o->shard - 1)
            TRY(run_row(s, fault_at(i), c, w));
    return 0;
}

int cmd_selftest(const struct options *o)
{
    struct selftest s = { .options = o,
                          .budget = o->budget > 0 ? o->budget
                                    : o->all      ? 600
                                                  : 120,
                          .all = o->all,
                          .stop = &stop_signal };
    struct counts c = { .clean = "was not run" };
    struct why why = { 0 };

    if (options_expect(o, 0, 0, "argument", &why) < 0)
        return print_error(o, &why);
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    devices_isolate(ISOLATE_NONE, false, 0); /* the workers are processes of their own */
    int rc = selftest_begin(&s, &why), idle = 0;
    if (rc == 0)
        rc = run_all(&s, o, &c, &why);
    if (rc == 0 && !o->n_faults && !stop_signal)
        idle = print_idle_rules(&s, o->json);
    selftest_end_run(&s);
    if (rc < 0)
        return print_error(o, &why);
    if (!o->json) {
        printf("%d faults: %d found, %d missed; ", c.n, c.ends[SELFTEST_FOUND],
               c.ends[SELFTEST_MISSED]);
        if (!o->n_faults)
            printf("%d of %d rules without a fault; ", idle, s.n_rules);
        printf("the device without a fault %s; %.1f s\n", c.clean, console_now() - o->begun);
    }
    if (stop_signal)
        return 128 + (int) stop_signal;
    return !c.has_findings && !idle && c.ends[SELFTEST_FOUND] == c.n ? EXIT_CONFORMING
                                                                     : EXIT_NOT_CONFORMING;
}
