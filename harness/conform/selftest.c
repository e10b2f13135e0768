#include "harness/conform/selftest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/campaign.h"

const char selftest_random[] = "random";

/* One target, with or without a fault. */
struct trial {
    struct selftest *s;
    struct selftest_row *row;
    char uri[128];
    double begun;
    volatile sig_atomic_t stop; /* after the first finding */
    bool until_first;
};

static bool is_over(struct trial *t)
{
    t->row->is_over_budget =
        t->row->fault && console_now() - t->begun > t->s->budget; /* without a fault: all rules */
    return t->row->is_over_budget || (t->s->stop && *t->s->stop);
}

static uint64_t total(const struct selftest_row *row)
{
    uint64_t n = 0;

    for (int s = 0; s <= conform_n_suites; s++)
        n += row->findings[s];
    return n;
}

/* ---- conformance suites */

static int suite_index(const char *name)
{
    int s = 0;

    while (s < conform_n_suites && strcmp(conform_suites[s].name, name))
        s++;
    return s;
}

static int rule_index(const struct conform_rule *r)
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
    if (!total(t->row)) {
        snprintf(t->row->rule, sizeof t->row->rule, "%s/%s at HAL %s", i->rule->suite,
                 i->rule->name, hal_version_name(i->version));
        snprintf(t->row->text, sizeof t->row->text, "%s", i->result.finding[0]);
    }
    t->row->findings[suite_index(i->rule->suite)]++;
    t->s->rule_failed[rule_index(i->rule)] = true;
    if (t->until_first)
        t->stop = 1;
    return 0;
}

/* One suite (NULL: all; one that does not exist has no findings) through the entry points of one
 * version (0: all). */
static int run_suite(struct trial *t, const char *suite, enum hal_version version, struct why *w)
{
    const struct conform_target target = { t->uri, HAL_FL8, HAL_1_0 }; /* sim:cpu */
    const struct conform_options options = { .target = &target,
                                             .n_targets = 1,
                                             .suite = &suite,
                                             .n_suites = suite ? 1 : 0,
                                             .version = version,
                                             .all_versions = !version,
                                             .jobs = t->s->options->jobs,
                                             .timeout = t->s->options->timeout,
                                             .stop = &t->stop };
    struct conform_run run = { 0 };

    if (suite && suite_index(suite) == conform_n_suites)
        return 0;
    int rc = conform_plan(&options, &run, w);
    if (rc == 0)
        rc = conform_run(&options, &run, take_item, t, w);
    conform_run_done(&run);
    return rc < 0 ? -1 : 0;
}

/* The versions in which most faults show themselves first. */
static const enum hal_version versions[] = { HAL_FL8, HAL_1_3, HAL_1_2, HAL_1_1, HAL_1_0 };

static int run_until_found(struct trial *t, const char *suite, struct why *w)
{
    for (size_t v = 0; v < COUNT(versions) && !total(t->row) && !is_over(t); v++)
        TRY(run_suite(t, suite, versions[v], w));
    return 0;
}

/* ---- random graphs */

enum { CHUNK = 48, MOST_GRAPHS = 960 };

static int run_graphs(struct trial *t, const char *only, uint64_t first, struct why *w)
{
    struct options o = *t->s->options;
    struct randgraph_options graphs = randgraph_default;

    o.verbosity = -1;
    o.json = false;
    o.n_targets = 1;
    o.target[0] = t->uri;
    graphs.only = only;
    struct cases cases = cases_random(&graphs, 1, first, CHUNK);
    struct campaign c = {
        .options = &o, .cases = &cases, .judge = JUDGE_AUTO, .target = o.target, .n_targets = 1
    };
    int rc = campaign_run(&c, t->s->stop, w);
    t->row->random_cases += CHUNK;
    t->row->findings[conform_n_suites] += campaign_failures(&c);
    campaign_done(&c);
    cases_done(&cases);
    return rc < 0 ? -1 : 0;
}

/* The operation that the description of a fault begins with; NULL: none. */
static const char *op_of(const struct fault *f)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int) strcspn(f->doc, " ,:"), f->doc);
    const struct op *op = op_by_name(name);
    return op ? op->name : NULL;
}

static bool is_random(const struct fault *f)
{
    return strcmp(f->suite, selftest_random) == 0;
}

static int run_random(struct trial *t, const struct fault *f, struct why *w)
{
    const char *only = f ? op_of(f) : NULL;

    for (uint64_t i = 0; i < MOST_GRAPHS && !is_over(t); i += CHUNK) {
        if (t->until_first && t->row->findings[conform_n_suites])
            break;
        TRY(run_graphs(t, only, i, w));
    }
    if (t->row->findings[conform_n_suites] && !t->row->rule[0])
        snprintf(t->row->rule, sizeof t->row->rule, "random, %llu graphs%s%s",
                 (unsigned long long) t->row->random_cases, only ? " of " : "", only ? only : "");
    return 0;
}

/* ---- one fault */

static int run_trial(struct trial *t, const struct fault *f, struct why *w)
{
    if (!f || t->s->all) {
        TRY(run_suite(t, NULL, 0, w));
        return run_random(t, f, w);
    }
    TRY(is_random(f) ? run_random(t, f, w) : run_until_found(t, f->suite, w));
    if (total(t->row) || is_over(t))
        return 0;
    TRY(run_until_found(t, NULL, w));
    return is_random(f) || total(t->row) ? 0 : run_random(t, f, w);
}

static enum selftest_end end_of(const struct trial *t, const struct fault *f)
{
    if (t->s->stop && *t->s->stop)
        return SELFTEST_STOPPED;
    if (!f)
        return total(t->row) ? SELFTEST_MISSED : SELFTEST_FOUND;
    if (t->row->findings[is_random(f) ? conform_n_suites : suite_index(f->suite)])
        return SELFTEST_FOUND;
    return total(t->row) ? SELFTEST_ELSEWHERE : SELFTEST_MISSED;
}

int selftest_fault(struct selftest *s, const struct fault *f, struct selftest_row *ret_row,
                   struct why *w)
{
    struct trial t = { .s = s, .row = ret_row, .begun = console_now() };

    *ret_row = (struct selftest_row){ .fault = f };
    ret_row->findings = calloc((size_t) conform_n_suites + 1, sizeof *ret_row->findings);
    if (!ret_row->findings)
        return why_no_memory(w);
    t.until_first = f && !s->all;
    snprintf(t.uri, sizeof t.uri, "sim:cpu%s%s", f ? "?fault=" : "", f ? f->name : "");
    TRY(run_trial(&t, f, w));
    ret_row->end = end_of(&t, f);
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
    s->rule_failed = calloc((size_t) s->n_rules + 1, sizeof *s->rule_failed);
    return s->rule_failed ? 0 : why_no_memory(w);
}

void selftest_end_run(struct selftest *s)
{
    free(s->rule_failed);
    s->rule_failed = NULL;
}
