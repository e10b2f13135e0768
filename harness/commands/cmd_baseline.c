/* halcyon baseline: writes, updates and checks files of expected verdicts. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/check/blame.h"
#include "harness/check/buffer.h"
#include "harness/commands/commands.h"
#include "harness/policy/expectations.h"

struct baseline_command {
    const struct options *o;
    struct results *results;
    struct described_run run;
};

/* Whether -d selects a recorded target; all if there is no -d. */
static bool is_selected(const struct options *o, const char *uri)
{
    for (uint32_t i = 0; i < o->n_targets; i++)
        if (!strcmp(o->target[i], uri))
            return true;
    return o->n_targets == 0;
}

static int check_selection(const struct baseline_command *c, struct why *w)
{
    for (uint32_t i = 0; i < c->o->n_targets; i++) {
        struct recorded_filter f = { .run = c->o->run, .target = c->o->target[i] };
        struct described_run run;
        TRY(results_check_rows(c->results, f.run, w));
        TRY(results_describe(c->results, &f, &run, w));
        described_run_done(&run);
    }
    return 0;
}

/* ---- verdicts into a baseline */

struct updating {
    const struct options *o;
    struct baseline *baseline;
    struct baseline_changes changes;
};

static void print_kept(const struct updating *u, const struct recorded_verdict *v)
{
    const struct baseline_entry *e = baseline_find(u->baseline, v->name);
    text_put(stderr, TEXT_TERMINAL, u->baseline->path, 0);
    fprintf(stderr, ":%u: not updated, because it is a waiver: the verdict of ", e->line);
    text_put(stderr, TEXT_TERMINAL, v->name, 0);
    fprintf(stderr, " is now %s\n", verdict_name[v->was]);
}

static int update_one(const struct recorded_verdict *v, void *user, struct why *w)
{
    struct updating *u = user;
    struct verdict_class c = { v->was, v->stage, v->status,
                               blamed_operation(&v->blamed, v->operation), v->first };
    uint64_t kept = u->changes.kept;
    unsigned flags = (u->o->all ? BASELINE_ALL : 0u) | (u->o->mark_flakes ? BASELINE_FLAKES : 0u);
    if (c.verdict == VERDICT_WAIVED) /* skipped: it was not run */
        return 0;
    TRY(baseline_update(u->baseline, v->name, &c, flags, &u->changes, w));
    if (u->changes.kept > kept)
        print_kept(u, v);
    return 0;
}

/* Updates a baseline by the verdicts of a target. */
static int update_from(struct baseline_command *c, struct baseline *b, const char *uri,
                       struct baseline_changes *ret_changes, struct why *w)
{
    struct updating u = { .o = c->o, .baseline = b };
    struct recorded_filter f = { .run = c->o->run, .target = uri };
    TRY(results_each_recorded(c->results, &f, update_one, &u, w));
    *ret_changes = u.changes;
    return 0;
}

/* ---- writing */

/* "sim:cpu" as sim-cpu.baseline, "lib:/home/me/mine.so" as lib-mine.so.baseline. */
static void put_file_name(struct buffer *b, const char *uri)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=+";
    size_t scheme = strcspn(uri, ":");
    const char *rest = uri[scheme] ? uri + scheme + 1 : uri + scheme;
    const char *end = rest + strcspn(rest, "?"), *base = end;
    while (base > rest && base[-1] != '/')
        base--;
    buffer_put(b, uri, scheme);
    buffer_puts(b, *rest ? "-" : "");
    for (; *base; base++)
        buffer_put(b, strchr(plain, *base) ? base : "-", 1);
    buffer_puts(b, ".baseline");
}

static bool is_folder(const char *path)
{
    struct stat s;
    size_t n = strlen(path);
    return (n && path[n - 1] == '/') || (stat(path, &s) == 0 && S_ISDIR(s.st_mode));
}

static int write_one(struct baseline_command *c, const char *path, const char *uri, struct why *w)
{
    struct stat s;
    struct baseline *b;
    struct baseline_changes changes;
    if (path && stat(path, &s) == 0 && S_ISREG(s.st_mode))
        return why_fail(w, WHY_INVALID,
                        "%s: exists; --update rewrites it and keeps its comments and waivers",
                        path);
    TRY(baseline_new(path ? path : "", uri, &b, w));
    int failed = update_from(c, b, uri, &changes, w);
    if (!failed)
        failed = path ? baseline_save(b, w) : baseline_put(stdout, b, w);
    baseline_free(b);
    if (failed || !path)
        return failed;
    text_put(stdout, TEXT_TERMINAL, path, 0);
    printf(": %llu entr%s for ", (unsigned long long) changes.added,
           changes.added == 1 ? "y" : "ies");
    text_put(stdout, TEXT_TERMINAL, uri, 0);
    putchar('\n');
    return 0;
}

/* The path of each target's file; fails if two would have the same. */
static int name_files(struct baseline_command *c, struct buffer *path, struct why *w)
{
    const char *output = c->o->output;
    for (uint32_t t = 0; t < c->run.n_targets; t++) {
        if (!is_selected(c->o, c->run.target[t].uri))
            continue;
        buffer_printf(&path[t], "%s%s", output, output[strlen(output) - 1] == '/' ? "" : "/");
        put_file_name(&path[t], c->run.target[t].uri);
        for (uint32_t i = 0; i < t; i++)
            if (path[i].data && !strcmp(buffer_text(&path[i]), buffer_text(&path[t])))
                return why_fail(w, WHY_INVALID,
                                "%s: this would be the file of %s and of %s; expected one of them "
                                "as -d TARGET, with -o FILE",
                                buffer_text(&path[t]), c->run.target[i].uri, c->run.target[t].uri);
    }
    return 0;
}

static int write_folder(struct baseline_command *c, struct why *w)
{
    struct buffer path[MAX_TARGETS] = { 0 };
    struct stat s;
    REQUIRE(w, stat(c->o->output, &s) == 0 && S_ISDIR(s.st_mode),
            "%s: is no folder that exists; expected one, for a file for each target", c->o->output);
    int failed = name_files(c, path, w);
    for (uint32_t t = 0; !failed && t < c->run.n_targets; t++)
        if (path[t].data)
            failed = write_one(c, buffer_text(&path[t]), c->run.target[t].uri, w);
    for (uint32_t t = 0; t < MAX_TARGETS; t++)
        buffer_done(&path[t]);
    return failed;
}

static int write_baselines(struct baseline_command *c, struct why *w)
{
    const char *uri = NULL;
    uint32_t n = 0;
    REQUIRE(w, !c->o->n_arguments,
            "unexpected argument '%s'; expected --update or --check before "
            "it, or -o FILE",
            c->o->argument[0]);
    REQUIRE(w, !c->o->mark_flakes, "--flakes: expected --update FILE");
    for (uint32_t t = 0; t < c->run.n_targets; t++)
        if (is_selected(c->o, c->run.target[t].uri)) {
            uri = c->run.target[t].uri;
            n++;
        }
    REQUIRE(w, n, "%s: has no target", c->o->db);
    if (c->o->output && is_folder(c->o->output))
        return write_folder(c, w);
    REQUIRE(w, n == 1, "%u targets: expected one of them as -d TARGET, or -o FOLDER, which exists",
            n);
    return write_one(c, c->o->output, uri, w);
}

/* ---- updating */

/* The one recorded target that a baseline is for. */
static int find_target(const struct baseline_command *c, const struct baseline *b,
                       const char **ret_uri, struct why *w)
{
    const char *found = NULL;
    for (uint32_t t = 0; t < c->run.n_targets; t++) {
        const char *uri = c->run.target[t].uri;
        if (!baseline_is_for(b, uri) || !is_selected(c->o, uri))
            continue;
        REQUIRE(w, !found,
                "%s: is for several targets in %s: %s, %s; expected one of them as -d "
                "TARGET",
                b->path, c->o->db, found, uri);
        found = uri;
    }
    REQUIRE(w, found, "%s: its target %s is none in %s%s", b->path, b->target ? b->target : "*",
            c->o->db, c->o->n_targets ? " that -d selects" : "");
    *ret_uri = found;
    return 0;
}

static int update_file(struct baseline_command *c, const char *path, struct why *w)
{
    struct baseline *b;
    struct baseline_changes n;
    const char *uri;
    TRY(baseline_load(path, &b, w));
    int failed = find_target(c, b, &uri, w);
    if (!failed)
        failed = update_from(c, b, uri, &n, w);
    if (!failed)
        failed = baseline_save(b, w);
    baseline_free(b);
    if (failed)
        return -1;
    text_put(stdout, TEXT_TERMINAL, path, 0);
    printf(": %llu added, %llu changed, %llu removed", (unsigned long long) n.added,
           (unsigned long long) n.changed, (unsigned long long) n.removed);
    if (n.kept)
        printf("; %llu waiver%s not updated", (unsigned long long) n.kept, n.kept == 1 ? "" : "s");
    putchar('\n');
    return 0;
}

/* ---- checking */

/* Counts and prints the failures that no baseline expects. */
struct unexpected {
    const struct expectations *expectations;
    const struct options *o;
    const char *uri[MAX_TARGETS];
    uint32_t n_targets;
    uint64_t n;
};

static int print_failure(const struct recorded_verdict *v, void *user, struct why *w)
{
    (void) w;
    struct unexpected *u = user;
    struct check_result r;
    uint32_t t = 0;
    while (t < u->n_targets && strcmp(u->uri[t], v->target) != 0)
        t++;
    if (v->was == VERDICT_WAIVED || t == u->n_targets)
        return 0;
    recorded_result(v, &r);
    r.verdict = v->was;
    r.was = v->first;
    expectations_apply(u->expectations, t, v->name, &r);
    if (verdict_conforming(r.verdict))
        return 0;
    u->n++;
    if (!u->o->json && (u->n <= MOST_FINDINGS || u->o->verbosity > 0)) {
        printf("%-11s ", verdict_name[r.verdict]);
        text_put(stdout, TEXT_TERMINAL, v->name, 0);
        fputs("  ", stdout);
        text_put(stdout, TEXT_TERMINAL, v->target, 0);
        putchar('\n');
    }
    return 0;
}

static void print_check(const struct unexpected *u)
{
    if (!u->o->json) {
        expectations_print(u->expectations, stdout, u->o->verbosity > 0 ? 0 : MOST_FINDINGS);
        printf("%llu failure%s that no baseline expects\n", (unsigned long long) u->n,
               u->n == 1 ? "" : "s");
        return;
    }
    json_t *j = json_pack("{s:I, s:o}", "unexpected_failures", (json_int_t) u->n, "baselines",
                          expectations_json(u->expectations));
    json_dumpf(j, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(j);
}

/* The exit status, or -1. */
static int check_recorded(struct baseline_command *c, struct why *w)
{
    struct recorded_filter f = { .run = c->o->run };
    struct unexpected u = { .o = c->o };
    struct expectations *x;
    for (uint32_t t = 0; t < c->run.n_targets; t++)
        if (is_selected(c->o, c->run.target[t].uri))
            u.uri[u.n_targets++] = c->run.target[t].uri;
    REQUIRE(w, u.n_targets, "%s: has no target", c->o->db);
    TRY(expectations_load((const char *const *) c->o->argument, (uint32_t) c->o->n_arguments, u.uri,
                          u.n_targets, false, &x, w));
    u.expectations = x;
    int failed = results_each_recorded(c->results, &f, print_failure, &u, w);
    if (!failed)
        failed = expectations_check(x, c->results, &f, false, w);
    if (!failed)
        print_check(&u);
    bool fails = u.n || expectations_fail(x);
    expectations_free(x);
    return failed ? -1 : fails ? EXIT_NOT_CONFORMING : EXIT_CONFORMING;
}

/* ---- the command */

static int with_files(struct baseline_command *c, struct why *w)
{
    const struct options *o = c->o;
    REQUIRE(w, o->n_arguments, "missing argument FILE");
    REQUIRE(w, o->n_arguments <= MAX_TARGETS, "more than %d files", MAX_TARGETS);
    REQUIRE(w, !o->output, "--output: not an option together with --update or --check");
    if (o->check)
        return check_recorded(c, w);
    for (int i = 0; i < o->n_arguments; i++)
        TRY(update_file(c, o->argument[i], w));
    return 0;
}

static int run_baseline(struct baseline_command *c, struct why *w)
{
    const struct options *o = c->o;
    struct recorded_filter f = { .run = o->run };
    REQUIRE(w, !(o->update && o->check), "--update and --check: expected one of them");
    TRY(results_look_for(o->db, w));
    TRY(results_open(o->db, RESULTS_READ, &c->results, w));
    TRY(results_check_rows(c->results, f.run, w));
    TRY(results_describe(c->results, &f, &c->run, w));
    TRY(check_selection(c, w));
    return o->update || o->check ? with_files(c, w) : write_baselines(c, w);
}

int cmd_baseline(const struct options *o)
{
    struct baseline_command c = { .o = o };
    struct why why = { 0 };
    int status = run_baseline(&c, &why);
    described_run_done(&c.run);
    results_close(c.results);
    return status < 0 ? print_error(o, &why) : status;
}
