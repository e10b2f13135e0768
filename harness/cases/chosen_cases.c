#include "harness/cases/chosen_cases.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cases/mutated.h"
#include "harness/check/nearest_case.h"
#include "harness/run/devices.h"
#include "randgraph/coverage.h"
#include "sim/hal/hal_convert.h"

/* ---- the run that --failed repeats */

static int use_paths(struct chosen_cases *c, const json_t *paths, struct why *w)
{
    size_t n = json_array_size(paths);
    c->paths = calloc(n + 1, sizeof *c->paths);
    if (!c->paths)
        return why_no_memory(w);
    c->options.argument = c->paths;
    for (size_t i = 0; i < n; i++) {
        const char *path = json_string_value(json_array_get(paths, i));
        if (!(c->paths[i] = strdup(path ? path : "")))
            return why_no_memory(w);
        c->options.n_arguments = (int) i + 1;
    }
    return 0;
}

/* Sets o->graphs to the generator's options of a recorded run, which options_put_graphs() wrote.
 * *ret_words, to be freed, has the words that they point to, also after a failure. */
static int recorded_graphs(struct options *o, const char *graphs, char **ret_words, struct why *w)
{
    enum { MAX_WORDS = 32 };
    char *argv[MAX_WORDS + 1], *rest = *ret_words = strdup(graphs), *word;
    int argc = 0;
    argv[argc++] = (char *) "random";
    while (rest && argc < MAX_WORDS && (word = strsep(&rest, " ")))
        if (*word)
            argv[argc++] = word;
    argv[argc] = NULL;
    static const struct command random = { .name = "random", .bit = CMD_RANDOM };
    struct options recorded;
    if (options_parse(&random, argc, argv, &recorded, w) != 0)
        return why_prefix(w, "%s: recorded options", o->db);
    o->graphs = recorded.graphs;
    return 0;
}

/* digests: a list of strings and nulls, or NULL. */
static void use_supports(struct drawn_for *d, const json_t *digests)
{
    d->is_recorded = true;
    d->n = 0;
    for (size_t i = 0; i < json_array_size(digests) && i < MAX_TARGETS; i++) {
        const char *digest = json_string_value(json_array_get(digests, i));
        snprintf(d->digest[d->n++], SET_DIGEST, "%s", digest ? digest : "");
    }
}

void recorded_entry(const json_t *options, struct options *o)
{
    const char *entry = json_string_value(json_object_get(options, "entry"));
    if (!o->version && entry)
        devices_enter(o->version = hal_version_by_name(entry));
}

static const char *keep_text(struct chosen_cases *c, size_t at, const json_t *text)
{
    return c->paths[at] = strdup(json_string_value(text) ? json_string_value(text) : "");
}

/* The examples of the recorded run, of the same files unless others are given. */
static int use_from(struct chosen_cases *c, const json_t *from, struct why *w)
{
    struct options *o = &c->options;
    const json_t *paths = json_object_get(from, "paths");
    const char *digest = json_string_value(json_object_get(from, "digest"));
    REQUIRE(w, from || !o->from.n,
            "--failed: the random graphs of run %lld are not mutations: "
            "--from cannot be given",
            (long long) c->repeated.run);
    if (!from)
        return 0;
    c->from_digest = digest ? strtoull(digest, NULL, 16) : 0;
    if (o->from.n)
        return 0;
    c->paths = calloc(json_array_size(paths) + 1, sizeof *c->paths);
    if (!c->paths)
        return why_no_memory(w);
    for (uint32_t i = 0; i < json_array_size(paths) && i < MAX_NAMES; i++)
        if (!(o->from.name[o->from.n++] = keep_text(c, i, json_array_get(paths, i))))
            return why_no_memory(w);
    return 0;
}

int chosen_cases_check_from(struct chosen_cases *c, const struct cases *cases, struct why *w)
{
    const uint64_t digest = mutated_digest(cases);
    REQUIRE(w, !c->from_digest || c->from_digest == digest,
            "--failed: the examples of --from are not those of run %lld: a file is another one or "
            "has changed",
            (long long) c->repeated.run);
    c->from_digest = digest;
    return 0;
}

static int use_graphs(struct chosen_cases *c, const json_t *j, struct why *w)
{
    struct options *o = &c->options;
    const char *seed = json_string_value(json_object_get(j, "seed"));
    const char *graphs = json_string_value(json_object_get(j, "graphs"));
    json_int_t count = json_integer_value(json_object_get(j, "count"));
    REQUIRE(w, !o->plan_given && !o->graphs_given && !o->support_file && !o->no_probe && !o->steer,
            "--failed: the random graphs are those of run %lld; --seed, --count, --steer and "
            "options of the generator cannot be given",
            (long long) c->repeated.run);
    REQUIRE(w, seed && graphs && count > 0, "%s: run %lld has no options of random graphs", o->db,
            (long long) c->repeated.run);
    REQUIRE(w, json_integer_value(json_object_get(j, "generator")) == RANDGRAPH_VERSION,
            "--failed: run %lld is of another version of the generator; this one is v%d",
            (long long) c->repeated.run, RANDGRAPH_VERSION);
    use_supports(&c->drawn, json_object_get(j, "for"));
    TRY(use_from(c, json_object_get(j, "from"), w));
    drawn_for_use_steering(&c->drawn, json_object_get(j, "cov"));
    o->seed = strtoull(seed, NULL, 10);
    o->count = (uint64_t) count;
    return recorded_graphs(o, graphs, &c->words, w);
}

static int use_rules(struct chosen_cases *c, const json_t *j, struct why *w)
{
    struct options *o = &c->options;
    const json_t *suites = json_object_get(j, "suites"), *models = json_object_get(j, "models");
    const char *seed = json_string_value(json_object_get(j, "seed"));
    const char *hal = json_string_value(json_object_get(j, "hal"));
    size_t n = json_array_size(suites);
    REQUIRE(w,
            !o->plan_given && !o->n_suites && !o->version && !o->all_versions && !o->models &&
                !o->stress_given,
            "--failed: the rules are those of run %lld; --suite, --hal, --seed, --stress, "
            "--threads, --processes and --models cannot be given",
            (long long) c->repeated.run);
    REQUIRE(w, seed && n <= MAX_SUITES, "%s: run %lld has no options of rules", o->db,
            (long long) c->repeated.run);
    c->paths = calloc(n + 2, sizeof *c->paths);
    if (!c->paths)
        return why_no_memory(w);
    for (size_t i = 0; i < n; i++)
        if (!(o->suite[o->n_suites++] = keep_text(c, i, json_array_get(suites, i))))
            return why_no_memory(w);
    if (json_is_string(models) && !(o->models = keep_text(c, n, models)))
        return why_no_memory(w);
    o->all_versions = hal && !strcmp(hal, "all");
    o->version = hal && !o->all_versions ? hal_version_by_name(hal) : 0;
    o->seed = strtoull(seed, NULL, 10);
    o->stress = json_number_value(json_object_get(j, "stress"));
    if (json_object_get(j, "threads")) { /* earlier runs do not have them */
        o->threads = (uint64_t) json_integer_value(json_object_get(j, "threads"));
        o->processes = (uint64_t) json_integer_value(json_object_get(j, "processes"));
    }
    return 0;
}

void recorded_ways(const json_t *options, struct ways *ret)
{
    const json_t *ways = json_object_get(options, "ways");
    struct why why;
    *ret = (struct ways){ .share = json_number_value(ways) };
    if (json_is_string(ways) && ways_parse(json_string_value(ways), ret, &why) < 0)
        *ret = (struct ways){ 0 };
}

static int use_options(struct chosen_cases *c, const json_t *j, struct why *w)
{
    struct options *o = &c->options;
    const char *judge = json_string_value(json_object_get(j, "judge"));
    for (int i = JUDGE_CTS; o->judge == JUDGE_AUTO && judge && i <= JUDGE_BOUND; i++)
        if (!strcmp(judge, judge_name[i]))
            o->judge = (enum judge_kind) i;
    if (!ways_any(&o->ways))
        recorded_ways(j, &o->ways);
    for (uint32_t t = 0; !o->n_targets && t < c->repeated.n_targets; t++)
        o->target[t] = c->repeated.target[t];
    if (!o->n_targets)
        o->n_targets = c->repeated.n_targets;
    recorded_entry(j, o);
    if (!strcmp(o->command, "random"))
        return use_graphs(c, j, w);
    if (!strcmp(o->command, "conform"))
        return use_rules(c, j, w);
    return o->n_arguments ? 0 : use_paths(c, json_object_get(j, "paths"), w);
}

static int add_failed(const char *name, void *user, struct why *w)
{
    struct chosen_cases *c = user;
    return case_choice_add(c->choice, CHOICE_FAILED, name, w);
}

static int read_run(struct chosen_cases *c, struct results *r, struct why *w)
{
    struct options *o = &c->options;
    int64_t run = !strcmp(o->failed, "last") ? 0 : strtoll(o->failed, NULL, 10);
    json_error_t error;
    int found = results_find_run(r, run, o->command, &c->repeated, w);
    TRY(found);
    REQUIRE(w, found || run, "%s: has no run of 'halcyon %s'", o->db, o->command);
    if (!found)
        return results_check_run(r, run, w);
    REQUIRE(w, !strcmp(c->repeated.kind, o->command),
            "%s: run %lld is one of 'halcyon %s', which repeats it", o->db, (long long) run,
            c->repeated.kind);
    TRY(results_each_failed_case(r, c->repeated.run, add_failed, c, w));
    json_t *j = json_loads(c->repeated.options, 0, &error);
    REQUIRE(w, j, "%s: run %lld: recorded options: %s", o->db, (long long) c->repeated.run,
            error.text);
    int failed = use_options(c, j, w);
    json_decref(j);
    return failed;
}

/* 1: the run has no failures. */
static int repeat_run(struct chosen_cases *c, struct why *w)
{
    struct options *o = &c->options;
    struct results *r;
    uint64_t unused;
    REQUIRE(w, !o->resume || strcmp(o->failed, "last") != 0,
            "--failed last with --resume: the interrupted run is the last one; name the run that "
            "it repeats by its number");
    TRY(results_look_for(o->db, w));
    TRY(results_open(o->db, RESULTS_READ, &r, w));
    int failed = read_run(c, r, w);
    results_close(r);
    if (failed || case_choice_count(c->choice, CHOICE_FAILED, &unused))
        return failed;
    fprintf(stderr, "halcyon %s: run %lld has no failures to repeat\n", o->command,
            (long long) c->repeated.run);
    return 1;
}

/* ---- choosing */

int chosen_cases_begin(struct chosen_cases *c, const struct options *o, struct why *w)
{
    *c = (struct chosen_cases){ .options = *o, .choice = case_choice_new() };
    if (!c->choice)
        return why_no_memory(w);
    for (uint32_t i = 0; i < o->only.n; i++)
        TRY(case_choice_add(c->choice, CHOICE_ONLY, o->only.name[i], w));
    for (uint32_t i = 0; i < o->lists.n; i++)
        if (case_choice_read(c->choice, o->lists.name[i], w) < 0)
            return why_prefix(w, "--cases");
    for (uint32_t i = 0; i < o->exclude.n; i++)
        TRY(case_choice_add(c->choice, CHOICE_EXCLUDE, o->exclude.name[i], w));
    return o->failed ? repeat_run(c, w) : 0;
}

bool options_choose_part(const struct options *o)
{
    return o->only.n || o->lists.n || o->exclude.n || o->failed || o->n_suites ||
           (o->version && !strcmp(o->command, "conform")); /* other commands run every case */
}

int chosen_cases_select(struct chosen_cases *c, struct cases *cases, const char *hint,
                        struct why *w)
{
    const struct options *o = &c->options;
    uint64_t missing, n = case_choice_count(c->choice, CHOICE_FAILED, &missing);
    if (!options_choose_part(o))
        return 0;
    TRY(cases_select(cases, case_choice_takes, c->choice, w));
    char near[NEAREST_CASE_TEXT] = "";
    if (case_choice_unused(c->choice))
        cases_nearest(cases, case_choice_unused(c->choice), near);
    TRY(case_choice_check(c->choice, *near ? near : hint, w));
    case_choice_count(c->choice, CHOICE_FAILED, &missing);
    if (missing)
        fprintf(stderr,
                "halcyon %s: %llu of the %llu cases that failed in run %lld %s not among "
                "these cases\n",
                o->command, (unsigned long long) missing, (unsigned long long) n,
                (long long) c->repeated.run, missing == 1 ? "is" : "are");
    REQUIRE(w, cases->n || cases->n_unloaded, "no case is left to run%s",
            o->exclude.n ? " without those that --exclude names" : "");
    return 0;
}

void chosen_cases_done(struct chosen_cases *c)
{
    case_choice_free(c->choice);
    drawn_for_done(&c->drawn);
    recorded_run_done(&c->repeated);
    free(c->words);
    for (char **path = c->paths; path && *path; path++)
        free(*path);
    free(c->paths);
}

/* ---- what identifies a campaign */

static json_t *names_json(const struct option_names *names)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < names->n; i++)
        json_array_append_new(list, json_string(names->name[i]));
    return list;
}

/* What the graphs are drawn for: digests, null for any driver. */
static void put_supports(const struct drawn_for *d, json_t *object)
{
    json_t *list = json_array();
    bool any = false;
    for (uint32_t t = 0; t < d->n; t++) {
        any |= d->use[t] != NULL;
        json_array_append_new(
            list, d->use[t] ? json_sprintf("%016llx",
                                           (unsigned long long) randgraph_support_digest(d->use[t]))
                            : json_null());
    }
    if (any)
        json_object_set(object, "for", list);
    json_decref(list);
}

/* What they are drawn by, likewise. */
static void put_steering(const struct drawn_for *d, json_t *object)
{
    json_t *list = d->n_steering ? json_array() : NULL;
    for (uint32_t t = 0; t < d->n_steering; t++)
        json_array_append_new(
            list, d->steering[t]
                      ? json_sprintf("%016llx",
                                     (unsigned long long) randgraph_steering_digest(d->steering[t]))
                      : json_null());
    if (list)
        json_object_set_new(object, "cov", list);
}

/* "case" is null or a string where it was given once at most, as it always was before it could be
 * repeated. */
void chosen_cases_put_json(const struct chosen_cases *c, struct json_t *object)
{
    const struct options *o = &c->options;
    uint64_t unused;
    put_supports(&c->drawn, object);
    if (c->from_digest)
        json_object_set_new(
            object, "from",
            json_pack("{s:o, s:o}", "paths", names_json(&o->from), "digest",
                      json_sprintf("%016llx", (unsigned long long) c->from_digest)));
    put_steering(&c->drawn, object);
    if (o->only.n > 1)
        json_object_set_new(object, "case", names_json(&o->only));
    else if (o->only.n)
        json_object_set_new(object, "case", json_string(o->only.name[0]));
    else if (strcmp(o->command, "random") != 0)
        json_object_set_new(object, "case", json_null());
    if (o->exclude.n)
        json_object_set_new(object, "exclude", names_json(&o->exclude));
    if (o->lists.n)
        json_object_set_new(
            object, "cases",
            json_sprintf("%llu names, %016llx",
                         (unsigned long long) case_choice_count(c->choice, CHOICE_ONLY, &unused) -
                             o->only.n,
                         (unsigned long long) case_choice_digest(c->choice)));
    if (c->repeated.run)
        json_object_set_new(object, "failed", json_integer(c->repeated.run));
}

static void put_names(struct buffer *b, const char *option, const struct option_names *names)
{
    for (uint32_t i = 0; i < names->n; i++) {
        buffer_printf(b, " %s ", option);
        buffer_put_quoted(b, names->name[i]);
    }
}

void chosen_cases_put_command(const struct chosen_cases *c, struct buffer *b)
{
    if (c->options.no_probe)
        buffer_puts(b, " --no-probe");
    if (c->options.steer)
        buffer_puts(b, " --steer");
    if (c->options.support_file) {
        buffer_puts(b, " --support ");
        buffer_put_quoted(b, c->options.support_file);
    }
    put_names(b, "--from", &c->options.from);
    put_names(b, "--case", &c->options.only);
    put_names(b, "--cases", &c->options.lists);
    put_names(b, "--exclude", &c->options.exclude);
    if (c->repeated.run)
        buffer_printf(b, " --failed %lld", (long long) c->repeated.run);
}
