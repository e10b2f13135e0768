#include "harness/conform_run/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/console.h"
#include "harness/conform/conform_models.h"
#include "harness/conform_run/selftest_service.h"

/* One target, with or without a fault. */
struct trial {
    struct selftest *s;
    struct selftest_row *row;
    char uri[128];
    double begun;
    volatile sig_atomic_t stop; /* the time is over, or the whole run is to stop */
};

static bool is_over(struct trial *t)
{
    t->row->is_over_budget =
        t->row->fault && console_now() - t->begun > t->s->budget; /* without a fault: all rules */
    return t->row->is_over_budget || (t->s->stop && *t->s->stop);
}

/* ---- rules */

static bool is_name_of(const struct conform_rule *r, const char *name)
{
    size_t n = strlen(r->suite);

    return strncmp(name, r->suite, n) == 0 && name[n] == '/' && strcmp(name + n + 1, r->name) == 0;
}

int selftest_rule(const char *name)
{
    int n = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++, n++)
            if (is_name_of(&conform_rules[f]->rule[k], name))
                return n;
    return -1;
}

bool selftest_names(const struct conform_rule *rule)
{
    for (int i = 0; fault_at(i); i++)
        for (const char *const *name = fault_at(i)->rules; *name; name++)
            if (is_name_of(rule, *name))
                return true;
    return false;
}

static int index_of(const struct conform_rule *r)
{
    int n = 0;

    for (int f = 0; f < conform_n_rules; n += conform_rules[f++]->n)
        if (r >= conform_rules[f]->rule && r < conform_rules[f]->rule + conform_rules[f]->n)
            return n + (int) (r - conform_rules[f]->rule);
    return -1;
}

static int take_item(const struct conform_item *i, void *user, struct why *w)
{
    struct trial *t = user;
    bool found = i->outcome == OUTCOME_VIOLATION || i->outcome == OUTCOME_CRASH ||
                 i->outcome == OUTCOME_HANG;

    (void) w;
    if (is_over(t))
        t->stop = 1;
    if (!found)
        return 0;
    if (!t->row->rule[0]) {
        snprintf(t->row->rule, sizeof t->row->rule, "%s/%s at HAL %s", i->rule->suite,
                 i->rule->name, hal_version_name(i->version));
        snprintf(t->row->text, sizeof t->row->text, "%s", i->result.finding[0]);
    }
    t->row->findings[index_of(i->rule)]++;
    t->s->rule_failed[index_of(i->rule)] = true;
    return 0;
}

/* n rules (0: all) through the entry points of one version (0: all). */
static int run_rules(struct trial *t, const char *uri, const char *const *rule, uint32_t n,
                     enum hal_version version, struct why *w)
{
    const struct conform_target target = { uri, HAL_FL8, HAL_1_0 }; /* sim:cpu */
    const struct conform_options options = { .target = &target,
                                             .n_targets = 1,
                                             .suite = rule,
                                             .n_suites = n,
                                             .version = version,
                                             .all_versions = !version,
                                             .jobs = t->s->options->jobs,
                                             .timeout = t->s->options->timeout,
                                             .stop = &t->stop };
    struct conform_run run = { 0 };
    int rc = conform_plan(&options, &run, w);

    if (rc == 0)
        rc = conform_run(&options, &run, take_item, t, w);
    conform_run_done(&run);
    return rc < 0 ? -1 : 0;
}

/* ---- one fault */

enum { MOST_NAMED = 32 };

/* The rules that the fault names and that have not failed; returns their number. */
static uint32_t missing(const struct trial *t, const char *ret_rule[MOST_NAMED])
{
    uint32_t n = 0;

    for (const char *const *name = t->row->fault->rules; *name && n < MOST_NAMED; name++)
        if (!t->row->findings[selftest_rule(*name)])
            ret_rule[n++] = *name;
    return n;
}

/* Rules about clients that die need a service. */
static int run_served(struct trial *t, const char *const *rule, uint32_t n, struct why *w)
{
    struct selftest_service service;
    int rc = selftest_serve(t->uri, &service, w);

    if (rc == 0)
        rc = run_rules(t, service.uri, rule, n, HAL_FL8, w);
    selftest_serve_end(&service);
    return rc;
}

static int run_named(struct trial *t, struct why *w)
{
    /* The versions in which most faults show themselves first. */
    static const enum hal_version versions[] = { HAL_FL8, HAL_1_3, HAL_1_2, HAL_1_1, HAL_1_0 };
    const char *rule[MOST_NAMED];
    uint32_t n = missing(t, rule);

    for (size_t v = 0; v < COUNT(versions) && n && !is_over(t); v++, n = missing(t, rule))
        TRY(run_rules(t, t->uri, rule, n, versions[v], w));
    return n && !is_over(t) ? run_served(t, rule, n, w) : 0;
}

static enum selftest_end end_of(const struct trial *t)
{
    const char *rule[MOST_NAMED];

    if (t->s->stop && *t->s->stop)
        return SELFTEST_STOPPED;
    if (t->row->fault ? missing(t, rule) : t->row->rule[0] != 0)
        return SELFTEST_MISSED;
    return SELFTEST_FOUND;
}

static int check_names(const struct fault *f, struct why *w)
{
    uint32_t n = 0;

    for (const char *const *name = f->rules; *name; name++, n++)
        REQUIRE(w, selftest_rule(*name) >= 0,
                "the fault %s names the rule %s, which does not exist ('halcyon conform --list' "
                "lists them)",
                f->name, *name);
    REQUIRE(w, n && n <= MOST_NAMED, "the fault %s names %u rules, expected 1 to %d", f->name, n,
            MOST_NAMED);
    return 0;
}

int selftest_fault(struct selftest *s, const struct fault *f, struct selftest_row *ret_row,
                   struct why *w)
{
    struct trial t = { .s = s, .row = ret_row, .begun = console_now() };

    *ret_row = (struct selftest_row){ .fault = f };
    if (f)
        TRY(check_names(f, w));
    ret_row->findings = calloc((size_t) s->n_rules + 1, sizeof *ret_row->findings);
    if (!ret_row->findings)
        return why_no_memory(w);
    snprintf(t.uri, sizeof t.uri, "sim:cpu%s%s", f ? "?fault=" : "", f ? f->name : "");
    if (f && !s->all)
        TRY(run_named(&t, w));
    else
        TRY(run_rules(&t, t.uri, NULL, 0, s->all ? 0 : HAL_FL8, w));
    ret_row->end = end_of(&t);
    ret_row->seconds = console_now() - t.begun;
    return 0;
}

void selftest_row_done(struct selftest_row *row)
{
    free(row->findings);
    row->findings = NULL;
}

int selftest_begin(struct selftest *s, struct why *w)
{
    for (int f = 0; f < conform_n_rules; f++)
        s->n_rules += conform_rules[f]->n;
    conform_models_draw(); /* once for all runs */
    s->rule_failed = calloc((size_t) s->n_rules + 1, sizeof *s->rule_failed);
    return s->rule_failed ? 0 : why_no_memory(w);
}

void selftest_end_run(struct selftest *s)
{
    conform_models_free();
    free(s->rule_failed);
    s->rule_failed = NULL;
}
