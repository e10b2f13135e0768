/* halcyon replay: one case again, alone, with an explanation of every output. */
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/commands/commands.h"
#include "harness/conform/conform_cases.h"
#include "harness/run/campaign.h"
#include "harness/run/debugger.h"
#include "harness/run/devices.h"

/* A case to replay, and where it was found. */
struct replay {
    const struct options *o;
    struct options effective; /* o, completed by the recorded options and targets */
    struct cases cases;
    struct recorded_case found;
    bool in_database;
};

/* ---- the database */

static int look_up(struct replay *p, const char *name, struct why *w)
{
    const struct options *o = p->o;
    if (!o->db_given && access(o->db, F_OK) != 0)
        return 0;
    struct results *r;
    struct why why;
    if (results_open(o->db, RESULTS_READ, &r, &why) < 0) {
        if (o->db_given) {
            *w = why;
            return -1;
        }
        return 0; /* an unreadable default database counts as none */
    }
    int found = results_find_case(r, name, &p->found, w);
    results_close(r);
    p->in_database = found == 1;
    return found < 0 ? -1 : 0;
}

/* How the case was run: by which rule it was judged, and on which targets it did not conform. */
static int use_recorded_options(struct replay *p, struct why *w)
{
    json_error_t error;
    json_t *j = json_loads(p->found.options, 0, &error);
    REQUIRE(w, j, "%s: recorded options: %s", p->o->db, error.text);
    const char *judge = json_string_value(json_object_get(j, "judge"));
    if (p->o->judge == JUDGE_AUTO && judge && strcmp(judge, "auto"))
        p->effective.judge = !strcmp(judge, "cts") ? JUDGE_CTS : JUDGE_BOUND;
    json_decref(j);
    for (uint32_t t = 0; !p->o->n_targets && t < p->found.n_targets; t++)
        p->effective.target[p->effective.n_targets++] = p->found.target[t];
    return 0;
}

static void print_use(const struct replay *p, const char *name)
{
    text_put(stderr, TEXT_TERMINAL, name, 0);
    fprintf(stderr, ": using the spec stored by run %lld in ", (long long) p->found.run);
    text_put(stderr, TEXT_TERMINAL, p->o->db, 0);
    putc('\n', stderr);
}

/* Loads the spec stored in the database, through a temporary file. */
static int load_stored(struct replay *p, const char *name, struct why *w)
{
    char path[] = "/tmp/halcyon-XXXXXX.mod.py";
    int fd = mkstemps(path, 7);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return why_fail(w, WHY_SYSTEM, "cannot create a temporary file in /tmp");
    fputs(p->found.spec, file);
    int failed = fclose(file) == 0 ? cases_load(&p->cases, path, NULL, w)
                                   : why_fail(w, WHY_SYSTEM, "%s: cannot be written", path);
    unlink(path);
    if (failed < 0)
        return why_prefix(w, "%s: stored spec of %s", p->o->db, name);
    REQUIRE(w, p->cases.n == 1, "%s: stored spec of %s: expected 1 example, found %llu", p->o->db,
            name, (unsigned long long) p->cases.n);
    if (p->o->verbosity >= 0)
        print_use(p, name);
    p->cases.spec[0].example.name = name;
    p->cases.spec[0].file = NULL;
    return 0;
}

/* ---- where the case comes from */

static int load_file(struct replay *p, struct why *w)
{
    const struct options *o = p->o;
    const char *what = o->argument[0];
    TRY(cases_load(&p->cases, what, o->case_glob, w));
    REQUIRE(w, p->cases.n || p->cases.n_unloaded, "%s: no case in it matches --case '%s'", what,
            o->case_glob);
    return 0;
}

/* A case that is not recorded, or recorded without its spec: its name is enough to generate it. */
static int generate(struct replay *p, struct why *w)
{
    const char *what = p->o->argument[0];
    struct randgraph_options graphs;
    uint64_t seed, index;
    REQUIRE(w, p->in_database || !strncmp(what, "random/", 7),
            "expected a file, the name of a random case, such as random/v%d/s7/i123, or of a case "
            "in %s, found '%s'",
            RANDGRAPH_VERSION, p->o->db, what);
    if (randgraph_parse_name(what, &graphs, &seed, &index, w) < 0)
        return p->in_database ? why_prefix(w, "%s: has no spec of this case", p->o->db) : -1;
    p->cases = cases_random(&graphs, seed, index, 1);
    return 0;
}

static int find_case(struct replay *p, struct why *w)
{
    const char *what = p->o->argument[0];

    if (access(what, F_OK) == 0)
        return load_file(p, w);
    TRY(look_up(p, what, w));
    if (p->in_database)
        TRY(use_recorded_options(p, w));
    if (p->found.spec)
        return load_stored(p, what, w);
    if (!p->found.file)
        return generate(p, w);
    TRY(cases_load(&p->cases, p->found.file, what, w));
    REQUIRE(w, p->cases.n, "%s: the file no longer has the case '%s'", p->found.file, what);
    return 0;
}

/* A rule of `halcyon conform`: its name is enough, and the database knows where it did not hold. */
static int replay_rule(struct replay *p, struct why *w)
{
    const struct options *o = p->o;
    struct conform_case c;
    TRY(conform_parse_name(o->argument[0], &c, w));
    TRY(look_up(p, o->argument[0], w));
    if (p->in_database)
        TRY(use_recorded_options(p, w));
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
static int prepare_debugging(struct replay *p, struct why *w)
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

static int run_again(struct replay *p, struct why *w)
{
    struct options *o = &p->effective;
    REQUIRE(w, o->n_targets, "no target given; expected -d TARGET%s",
            p->in_database ? " (the recorded case conforms on all its targets)" : "");
    if (!p->cases.n && p->cases.n_unloaded)
        return why_fail(w, WHY_INVALID, "%s", p->cases.unloaded[0].why);
    TRY(prepare_debugging(p, w));
    o->verbosity = o->verbosity < 0 ? -1 : 1;
    o->jobs = 1;
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
    struct replay p = { .o = o, .effective = *o, .cases.keep_going = true };
    struct why why = { 0 };
    int status = options_expect(o, 1, 1, "CASE or FILE", &why);
    if (!status && is_rule(o->argument[0])) {
        status = replay_rule(&p, &why);
    } else if (!status) {
        status = find_case(&p, &why);
        if (!status)
            status = cases_validate(&p.cases, &why);
        if (!status)
            status = run_again(&p, &why);
    }
    cases_done(&p.cases);
    recorded_case_done(&p.found);
    return status < 0 ? print_error(o, &why) : status;
}
