/* halcyon replay: one case again, alone, with an explanation of every output. */
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "harness/cases/found_case.h"
#include "harness/commands/commands.h"
#include "harness/conform_run/conform_cases.h"
#include "harness/run/campaign.h"
#include "harness/run/debugger.h"
#include "harness/run/devices.h"

/* A rule of `halcyon conform`: its name is enough, and the database knows where it did not hold. */
static int replay_rule(struct found_case *p, struct why *w)
{
    const struct options *o = p->o;
    struct conform_case c;
    TRY(conform_parse_name(o->argument[0], &c, w));
    TRY(found_case_look_up(p, o->argument[0], w));
    if (p->in_database)
        TRY(found_case_use_options(p, w));
    REQUIRE(w, !o->version, "--hal: the name of a rule has its HAL version");
    REQUIRE(w, !o->gdb,
            "--gdb: the driver of a rule is in the process that checks it; expected "
            "gdb --args halcyon replay --in-process");
    REQUIRE(w, p->effective.n_targets, "no target given; expected -d TARGET%s",
            p->in_database ? " (the recorded rule holds on all its targets)" : "");
    return conform_replay(&p->effective, o->argument[0]);
}

static bool is_rule(const char *what)
{
    return strncmp(what, conform_case_prefix, strlen(conform_case_prefix)) == 0 &&
           access(what, F_OK) != 0;
}

/* ---- running it */

/* With --gdb: the case runs in this process, which has the terminal, and the driver in its own. */
static int prepare_debugging(struct found_case *p, struct why *w)
{
    struct options *o = &p->effective;
    char path[PATH_MAX];
    if (!o->gdb)
        return 0;
    REQUIRE(w, o->n_targets == 1, "--gdb: expected one target, found %u", o->n_targets);
    REQUIRE(w, p->cases.n == 1, "--gdb: expected one case, found %llu (--case NAME selects one)",
            (unsigned long long) p->cases.n);
    REQUIRE(w, target_is_isolated(o->target[0], harness_host.isolation),
            "--gdb: the driver of %s has no process of its own (see --isolate)", o->target[0]);
    TRY(debugger_find(path, w));
    o->in_process = true;
    o->timeout = 0;
    return 0;
}

static int run_again(struct found_case *p, struct why *w)
{
    struct options *o = &p->effective;
    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET%s",
            p->in_database ? " (the recorded case conforms on all its targets)" : "");
    if (!p->cases.n && p->cases.n_unloaded)
        return why_fail(w, WHY_INVALID, "%s", p->cases.unloaded[0].why);
    TRY(prepare_debugging(p, w));
    o->verbosity = o->verbosity < 0 ? -1 : 1;
    o->jobs = 1;
    p->cases.ways = o->ways;
    struct campaign c = { .options = o,
                          .cases = &p->cases,
                          .judge = o->judge,
                          .details = true,
                          .target = o->target,
                          .n_targets = o->n_targets };
    for (uint32_t t = 0; t < o->n_targets; t++) {
        struct device_facts facts;
        TRY(device_probe(o->target[t], p->o->timeout, &facts, w));
        campaign_set_fault(&c, t, &facts, w);
    }
    int r = campaign_run(&c, NULL, w);
    struct summary s = { .target = c.target,
                         .totals = c.totals,
                         .n_targets = c.n_targets,
                         .n_cases = c.n_items,
                         .seconds = console_now() - o->begun,
                         .note = c.note,
                         .n_notes = c.n_notes,
                         .cases = c.cases };
    if (r == 0)
        console_summary(&c.console, &s);
    uint64_t failures = campaign_failures(&c);
    campaign_done(&c);
    if (r < 0)
        return -1;
    return failures ? EXIT_NOT_CONFORMING : EXIT_CONFORMING;
}

int cmd_replay(const struct options *o)
{
    struct found_case p = { .o = o, .effective = *o, .cases.keep_going = true };
    struct why why = { 0 };
    int status = options_expect(o, 1, 1, "CASE or FILE", &why);
    if (!status && is_rule(o->argument[0])) {
        status = replay_rule(&p, &why);
    } else if (!status) {
        status = found_case_find(&p, &why);
        if (!status)
            status = cases_validate(&p.cases, &why);
        if (!status)
            status = run_again(&p, &why);
    }
    found_case_done(&p);
    return status < 0 ? print_error(o, &why) : status;
}
