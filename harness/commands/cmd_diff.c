/* halcyon diff: compares the verdicts, times and errors of two runs. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/policy/run_diff.h"
#include "harness/policy/summary_diff.h"
#include "harness/server/server_url.h"
#include "harness/store/named_run.h"
#include "harness/store/summary.h"

enum { MOST_SHOWN = 20 };

struct diff_command {
    const struct options *o;
    struct diff_side a, b;
    char *path[2]; /* of the databases */
    struct arena *arena;
    bool summaries; /* both are: what their cases add up to is compared */
    struct summary_diff summary[MAX_TARGETS];
    struct target_diff target[MAX_TARGETS];
    uint32_t n_targets;          /* in either of them */
    bool paired[2][MAX_TARGETS]; /* by index of the target in A and B */
};

/* ---- what to compare */

static int open_side(struct diff_command *c, int side, const char *text, struct why *w)
{
    struct diff_side *s = side ? &c->b : &c->a;
    size_t n = strlen(text);
    TRY(server_refuse_url(text, "runs of a server are numbers, with its URL as --db", w));
    const char *at = access(text, F_OK) == 0 ? NULL : strchr(text, '@');
    if (at) {
        REQUIRE(w, at[1], "'%s': expected a target after '@'", text);
        s->filter.target = at + 1;
        n = (size_t) (at - text);
    }
    TRY(named_run_parse(text, n, c->o->db, &c->path[side], &s->filter.run, w));
    TRY(named_run_check(c->path[side], ", each with @TARGET if needed", w));
    TRY(results_open(c->path[side], RESULTS_READ, &s->results, w));
    return results_describe(s->results, &s->filter, &s->run, w);
}

static const char *shown_path(const struct diff_command *c, int side)
{
    return strcmp(c->path[side], c->o->db) ? c->path[side] : c->o->db_shown;
}

static int check_sides(const struct diff_command *c, struct why *w)
{
    const char *x = c->a.filter.target, *y = c->b.filter.target;
    bool same_target = x && y ? !strcmp(x, y) : x == y;
    REQUIRE(w,
            !same_target || c->a.filter.run != c->b.filter.run ||
                strcmp(c->path[0], c->path[1]) != 0,
            "'%s' and '%s' are the same verdicts; expected two runs, databases or targets",
            c->o->argument[0], c->o->argument[1]);
    return 0;
}

/* A summary is a run; a database of one run is that run. */
static int find_summary(struct diff_command *c, int side, bool *ret_is, struct why *w)
{
    struct diff_side *s = side ? &c->b : &c->a;
    const bool newest = !s->filter.run;
    int64_t runs;
    TRY(results_run_is_summary(s->results, s->run.run, ret_is, w));
    if (!*ret_is || !newest)
        return 0;
    TRY(results_count_runs(s->results, &runs, w));
    REQUIRE(
        w, runs == 1,
        "'%s': has %lld runs, and the newest is a summary (--summary), which has no verdicts of "
        "single cases; expected one of them, such as %s:%lld",
        c->o->argument[side], (long long) runs, shown_path(c, side), (long long) s->run.run);
    s->filter.run = s->run.run;
    return 0;
}

static int find_summaries(struct diff_command *c, struct why *w)
{
    bool is[2];
    for (int side = 0; side < 2; side++)
        TRY(find_summary(c, side, &is[side], w));
    REQUIRE(w, is[0] == is[1],
            "'%s' is a summary (--summary), which does not have the verdict of each case, and '%s' "
            "is not; expected two summaries, or two runs without --summary",
            c->o->argument[!is[0]], c->o->argument[is[0]]);
    c->summaries = is[0];
    return 0;
}

/* ---- targets */

static int compare_targets(struct diff_command *c, uint32_t i, uint32_t k, struct why *w)
{
    double threshold = c->o->threshold > 0 ? c->o->threshold : 1.5;
    c->paired[0][i] = c->paired[1][k] = true;
    if (c->summaries)
        return summary_diff(&c->a, c->a.run.target[i].uri, &c->b, c->b.run.target[k].uri,
                            &c->summary[c->n_targets++], w);
    return target_diff(&c->a, c->a.run.target[i].uri, &c->b, c->b.run.target[k].uri, threshold,
                       c->arena, &c->target[c->n_targets++], w);
}

static uint32_t next_unpaired(const struct diff_command *c, int side, uint32_t from)
{
    const struct described_run *run = side ? &c->b.run : &c->a.run;
    while (from < run->n_targets && c->paired[side][from])
        from++;
    return from;
}

static uint32_t count_unpaired(const struct diff_command *c, int side)
{
    const struct described_run *run = side ? &c->b.run : &c->a.run;
    uint32_t n = 0;
    for (uint32_t i = 0; i < run->n_targets; i++)
        n += !c->paired[side][i];
    return n;
}

/* Pairs targets of equal URIs, then, if A and B have as many others, these in their order. */
static int compare_all(struct diff_command *c, struct why *w)
{
    for (uint32_t i = 0; i < c->a.run.n_targets; i++)
        for (uint32_t k = 0; k < c->b.run.n_targets; k++)
            if (!strcmp(c->a.run.target[i].uri, c->b.run.target[k].uri))
                TRY(compare_targets(c, i, k, w));
    if (count_unpaired(c, 0) == count_unpaired(c, 1))
        for (uint32_t i = next_unpaired(c, 0, 0), k = next_unpaired(c, 1, 0);
             i < c->a.run.n_targets; i = next_unpaired(c, 0, i), k = next_unpaired(c, 1, k))
            TRY(compare_targets(c, i, k, w));
    REQUIRE(w, c->n_targets,
            "'%s' has %u targets and '%s' has %u, of other URIs; expected one of each as @TARGET",
            c->o->argument[0], c->a.run.n_targets, c->o->argument[1], c->b.run.n_targets);
    return 0;
}

/* ---- text */

static void put(const char *text)
{
    text_put(stdout, TEXT_TERMINAL, text, 0);
}

static void print_side(const char *name, const struct diff_side *s, const char *path)
{
    printf("%s  ", name);
    put(path);
    if (!s->filter.run) {
        puts(": the newest verdict of each case");
        return;
    }
    printf(": run %lld of %s, halcyon %s%s: ", (long long) s->run.run, s->run.started,
           s->run.version, *s->run.finished ? "" : ", not finished");
    put(s->run.command);
    putchar('\n');
}

static void print_class(const struct diff_case *c)
{
    const struct verdict_class *v = &c->class;
    fputs(verdict_name[v->verdict], stdout);
    if (verdict_conforming(v->verdict))
        return;
    if (!c->measured)
        printf(" stage=%s%s%s", v->stage, *v->status ? " status=" : "", v->status);
    if (*v->operation) {
        fputs(" op=", stdout);
        put(v->operation);
    }
    if (!isnan(c->ratio))
        printf(" ratio %.3g", c->ratio);
}

static void print_change(const struct case_change *x)
{
    printf("    %-8s ", change_name[x->change]);
    put(x->b ? x->b->name : x->a->name);
    fputs(": ", stdout);
    if (x->a)
        print_class(x->a);
    fputs(x->a && x->b ? " -> " : "", stdout);
    if (x->b)
        print_class(x->b);
    putchar('\n');
}

static void print_changes(const struct target_diff *d, uint64_t most)
{
    uint64_t shown = 0;
    printf("    %llu case%s in both", (unsigned long long) d->in_both, d->in_both == 1 ? "" : "s");
    for (int k = 0; k < CHANGE_KINDS; k++)
        printf("%s %llu %s", k ? "," : ":", (unsigned long long) d->n[k], change_name[k]);
    putchar('\n');
    for (uint32_t i = 0; i < d->n_changes; i++) {
        const struct case_change *x = &d->change[i];
        shown = i && d->change[i - 1].change == x->change ? shown + 1 : 0;
        if (!most || shown < most)
            print_change(x);
        else if (shown == most)
            printf("    ... %llu more %s (-v and --json list them)\n",
                   (unsigned long long) (d->n[x->change] - most), change_name[x->change]);
    }
}

static void print_quantity(enum quantity q, const struct quantity_diff *d, uint64_t most)
{
    const char *unit = q == QUANTITY_ERROR ? "" : " ms";
    if (!d->all.n)
        return;
    printf("    %s: B/A %.3g, median of %u case%s", quantity_name[q], d->all.median, d->all.n,
           d->all.n == 1 ? "" : "s");
    if (d->all.n >= SHIFT_LEAST)
        printf(" (99 %% interval %.3g to %.3g)", d->all.low, d->all.high);
    puts(d->all.shifted ? ": shifted" : "");
    for (uint32_t i = 0; i < d->n_operations && (!most || i < most); i++) {
        const struct shift *s = &d->operation[i].shift;
        fputs("        ", stdout);
        put(d->operation[i].operation);
        printf(": %.3g times the change of all (%.3g to %.3g, %u cases)\n", s->median, s->low,
               s->high, s->n);
    }
    for (uint32_t i = 0; i < d->n_cases && (!most || i < most); i++) {
        fputs("        ", stdout);
        put(d->cases[i].b->name);
        printf(": %.3g%s -> %.3g%s\n", d->cases[i].before, unit, d->cases[i].after, unit);
    }
    if (most && (d->n_operations > most || d->n_cases > most))
        puts("        ... (-v and --json list all)");
}

static void print_unpaired(const struct diff_command *c, int side)
{
    const struct described_run *run = side ? &c->b.run : &c->a.run;
    for (uint32_t i = 0; i < run->n_targets; i++)
        if (!c->paired[side][i]) {
            printf("only in %c: ", side ? 'B' : 'A');
            put(run->target[i].uri);
            putchar('\n');
        }
}

static void print_uris(const char *a, const char *b)
{
    put(a);
    if (strcmp(a, b)) {
        fputs(" -> ", stdout);
        put(b);
    }
    putchar('\n');
}

static void print_summaries(const struct diff_command *c, uint64_t most)
{
    for (uint32_t t = 0; t < c->n_targets; t++) {
        const json_t *j = c->summary[t].json;
        print_uris(json_string_value(json_object_get(j, "a")),
                   json_string_value(json_object_get(j, "b")));
        summary_diff_print(&c->summary[t], most);
    }
}

static void print_targets(const struct diff_command *c, uint64_t most)
{
    for (uint32_t t = 0; t < c->n_targets; t++) {
        const struct target_diff *d = &c->target[t];
        print_uris(d->a, d->b);
        print_changes(d, most);
        for (int q = 0; q < QUANTITIES; q++)
            print_quantity((enum quantity) q, &d->quantity[q], most);
    }
}

static void print_text(const struct diff_command *c)
{
    uint64_t most = c->o->verbosity > 0 ? 0 : MOST_SHOWN;
    print_side("A", &c->a, shown_path(c, 0));
    print_side("B", &c->b, shown_path(c, 1));
    if (c->summaries)
        print_summaries(c, most);
    else
        print_targets(c, most);
    print_unpaired(c, 0);
    print_unpaired(c, 1);
}

/* ---- JSON */

/* null where JSON has no number. */
static json_t *real_json(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *side_json(const struct diff_side *s, const char *path)
{
    json_t *j = json_object();
    json_object_set_new(j, "database", json_value_text(path));
    json_object_set_new(j, "run",
                        s->filter.run ? json_integer((json_int_t) s->run.run) : json_null());
    json_object_set_new(j, "command", json_value_text(s->run.command));
    json_object_set_new(j, "started", json_value_text(s->run.started));
    json_object_set_new(j, "finished", json_boolean(*s->run.finished));
    json_object_set_new(j, "version", json_value_text(s->run.version));
    return j;
}

static json_t *case_json(const struct diff_case *c)
{
    if (!c)
        return json_null();
    json_t *j = json_object();
    json_object_set_new(j, "verdict", json_string(verdict_name[c->class.verdict]));
    json_object_set_new(j, "stage", json_value_text(c->class.stage));
    json_object_set_new(j, "status", json_value_text(c->class.status));
    json_object_set_new(j, "operation",
                        *c->class.operation ? json_value_text(c->class.operation) : json_null());
    json_object_set_new(j, "ms", real_json(c->ms));
    json_object_set_new(j, "ratio", real_json(c->ratio));
    return j;
}

static json_t *changes_json(const struct target_diff *d, enum change kind)
{
    json_t *all = json_array();
    for (uint32_t i = 0; i < d->n_changes; i++) {
        const struct case_change *x = &d->change[i];
        if (x->change != kind)
            continue;
        json_t *j = json_object();
        json_object_set_new(j, "case", json_value_text(x->b ? x->b->name : x->a->name));
        json_object_set_new(j, "a", case_json(x->a));
        json_object_set_new(j, "b", case_json(x->b));
        json_array_append_new(all, j);
    }
    return all;
}

static json_t *shift_json(const struct shift *s)
{
    json_t *j = json_object();
    json_object_set_new(j, "cases", json_integer(s->n));
    json_object_set_new(j, "median", real_json(s->median));
    json_object_set_new(j, "low", real_json(s->low));
    json_object_set_new(j, "high", real_json(s->high));
    json_object_set_new(j, "shifted", json_boolean(s->shifted));
    return j;
}

static json_t *quantity_json(const struct quantity_diff *d)
{
    json_t *j = shift_json(&d->all), *operations = json_array(), *cases = json_array();
    for (uint32_t i = 0; i < d->n_operations; i++) {
        json_t *x = shift_json(&d->operation[i].shift);
        json_object_set_new(x, "operation", json_value_text(d->operation[i].operation));
        json_array_append_new(operations, x);
    }
    for (uint32_t i = 0; i < d->n_cases; i++) {
        json_t *x = json_object();
        json_object_set_new(x, "case", json_value_text(d->cases[i].b->name));
        json_object_set_new(x, "a", real_json(d->cases[i].before));
        json_object_set_new(x, "b", real_json(d->cases[i].after));
        json_array_append_new(cases, x);
    }
    json_object_set_new(j, "operations", operations);
    json_object_set_new(j, "far_cases", cases);
    return j;
}

static json_t *target_json(const struct target_diff *d)
{
    json_t *j = json_object();
    json_object_set_new(j, "a", json_value_text(d->a));
    json_object_set_new(j, "b", json_value_text(d->b));
    json_object_set_new(j, "in_both", json_integer((json_int_t) d->in_both));
    for (int k = 0; k < CHANGE_KINDS; k++)
        json_object_set_new(j, change_name[k], changes_json(d, (enum change) k));
    for (int q = 0; q < QUANTITIES; q++)
        json_object_set_new(j, quantity_name[q], quantity_json(&d->quantity[q]));
    return j;
}

static json_t *unpaired_json(const struct diff_command *c, int side)
{
    const struct described_run *run = side ? &c->b.run : &c->a.run;
    json_t *all = json_array();
    for (uint32_t i = 0; i < run->n_targets; i++)
        if (!c->paired[side][i])
            json_array_append_new(all, json_value_text(run->target[i].uri));
    return all;
}

static void print_json(const struct diff_command *c)
{
    json_t *j = json_object(), *targets = json_array();
    json_object_set_new(j, "a", side_json(&c->a, shown_path(c, 0)));
    json_object_set_new(j, "b", side_json(&c->b, shown_path(c, 1)));
    for (uint32_t t = 0; t < c->n_targets; t++)
        json_array_append_new(targets, c->summaries ? json_incref(c->summary[t].json)
                                                    : target_json(&c->target[t]));
    json_object_set_new(j, "targets", targets);
    json_object_set_new(j, "only_in_a", unpaired_json(c, 0));
    json_object_set_new(j, "only_in_b", unpaired_json(c, 1));
    json_dumpf(j, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(j);
}

/* ---- the command */

static int run_diff(struct diff_command *c, struct why *w)
{
    TRY(options_expect(c->o, 2, 2, "A and B", w));
    for (int side = 0; side < 2; side++)
        TRY(open_side(c, side, c->o->argument[side], w));
    TRY(check_sides(c, w));
    TRY(find_summaries(c, w));
    c->arena = arena_new(0);
    if (!c->arena)
        return why_no_memory(w);
    TRY(compare_all(c, w));
    if (c->o->json)
        print_json(c);
    else
        print_text(c);
    for (uint32_t t = 0; t < c->n_targets; t++) {
        if (c->summary[t].is_worse)
            return EXIT_NOT_CONFORMING;
        for (int k = 0; k < CHANGE_KINDS; k++)
            if (change_breaks((enum change) k) && c->target[t].n[k])
                return EXIT_NOT_CONFORMING;
    }
    return EXIT_CONFORMING;
}

int cmd_diff(const struct options *o)
{
    struct diff_command c = { .o = o };
    struct why why = { 0 };
    int status = run_diff(&c, &why);
    arena_free(c.arena);
    for (uint32_t t = 0; t < c.n_targets; t++)
        json_decref(c.summary[t].json);
    for (int side = 0; side < 2; side++) {
        struct diff_side *s = side ? &c.b : &c.a;
        described_run_done(&s->run);
        results_close(s->results);
        free(c.path[side]);
    }
    return status < 0 ? print_error(o, &why) : status;
}
