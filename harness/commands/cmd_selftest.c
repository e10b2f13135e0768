/* halcyon selftest: whether the suites find the planted faults. */
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/conform/selftest.h"
#include "harness/run/devices.h"

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

static const char *const end_name[] = { "found", "elsewhere", "missed", "stopped" };

static const char *suite_name(int s)
{
    return s < conform_n_suites ? conform_suites[s].name : selftest_random;
}

/* ---- output */

static const char *name_of(const struct selftest_row *r)
{
    return r->fault ? r->fault->name : "(no fault)";
}

static void print_row(const struct selftest_row *r)
{
    const char *end = r->fault ? end_name[r->end] : r->end == SELFTEST_FOUND ? "clean" : "findings";

    printf("%-28s %-14s %-9s %5.1f s ", name_of(r), r->fault ? r->fault->suite : "", end,
           r->seconds);
    for (int s = 0; s <= conform_n_suites; s++)
        if (r->findings[s])
            printf(" %s:%llu", suite_name(s), (unsigned long long) r->findings[s]);
    printf("%s\n", r->is_over_budget ? " (time over)" : "");
    if (r->rule[0])
        printf("    %s%s%s\n", r->rule, r->text[0] ? ": " : "", r->text);
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
    json_t *suites = json_object();

    for (int s = 0; s <= conform_n_suites; s++)
        if (r->findings[s])
            json_object_set_new(suites, suite_name(s), json_integer((json_int_t) r->findings[s]));
    json_t *o = json_pack("{s:s, s:f, s:b, s:s, s:s, s:o}", "end", end_name[r->end], "seconds",
                          r->seconds, "time_over", r->is_over_budget, "rule", r->rule, "finding",
                          r->text, "findings", suites);
    json_object_set_new(o, "fault", r->fault ? json_string(r->fault->name) : json_null());
    json_object_set_new(o, "suite", r->fault ? json_string(r->fault->suite) : json_null());
    print_line(o);
}

/* Which rules of the suites no fault has made fail. */
static void print_idle_rules(const struct selftest *s, bool json)
{
    json_t *list = json_array();
    int n = 0, at = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++, at++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            if (s->rule_failed[at])
                continue;
            if (json)
                json_array_append_new(list, json_sprintf("%s/%s", r->suite, r->name));
            else
                printf("%s%s/%s", n ? ", " : "no fault makes these rules fail: ", r->suite,
                       r->name);
            n++;
        }
    if (json)
        print_line(json_pack("{s:o}", "idle_rules", list));
    else
        printf("%s%d of %d rules\n", n ? "\n" : "", n, s->n_rules);
    if (!json)
        json_decref(list);
}

/* ---- the run */

struct counts {
    int n, ends[4];
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
    int rc = selftest_begin(&s, &why);
    if (rc == 0)
        rc = run_all(&s, o, &c, &why);
    if (rc == 0 && o->all)
        print_idle_rules(&s, o->json);
    selftest_end_run(&s);
    if (rc < 0)
        return print_error(o, &why);
    if (!o->json)
        printf("%d faults: %d found, %d found only by other suites, %d missed; the device without "
               "a fault %s; %.1f s\n",
               c.n, c.ends[SELFTEST_FOUND], c.ends[SELFTEST_ELSEWHERE], c.ends[SELFTEST_MISSED],
               c.clean, console_now() - o->begun);
    if (stop_signal)
        return 128 + (int) stop_signal;
    return !c.has_findings && c.ends[SELFTEST_FOUND] == c.n ? EXIT_CONFORMING : EXIT_NOT_CONFORMING;
}
