/* halcyon campaign: a campaign as many shards, which an engine runs somewhere. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/campaigns/sharded_corpus.h"
#include "harness/campaigns/sharded_estimate.h"
#include "harness/campaigns/sharded_result.h"
#include "harness/cases/chosen_cases.h"
#include "harness/cases/drawn_for.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"
#include "harness/commands/campaign_record.h"
#include "harness/commands/commands.h"
#include "harness/policy/expectations.h"
#include "harness/store/merge.h"
#include "reports/reports.h"

/* ---- --dry-run */

static void print_shards(const struct sharded_plan *p, bool all)
{
    enum { FIRST = 2 };
    for (uint64_t i = 1; i <= p->n_shards; i++) {
        struct buffer b = { 0 };
        if (!all && i > FIRST && i < p->n_shards) {
            printf("... (%llu more; -v prints them all)\n",
                   (unsigned long long) (p->n_shards - FIRST - 1));
            i = p->n_shards;
        }
        sharded_plan_put_command(p, i, &b);
        puts(buffer_text(&b));
        buffer_done(&b);
    }
}

static void print_plan(const struct options *o, const struct sharded_plan *p, uint64_t n_done)
{
    const struct sharded_estimate e = sharded_estimate_make(p, p->n_shards - n_done);
    printf("campaign  halcyon %s, ", p->command->name);
    if (p->n_cases)
        printf("%llu cases in %llu shards of %llu\n", (unsigned long long) p->n_cases,
               (unsigned long long) p->n_shards,
               (unsigned long long) ((p->n_cases - 1) / p->n_shards + 1));
    else
        printf("%llu shards\n", (unsigned long long) p->n_shards);
    printf("engine    %s: %llu at a time, %llu s and %llu attempts for each\n", p->engine,
           (unsigned long long) p->jobs, (unsigned long long) p->seconds,
           (unsigned long long) p->retries + 1);
    printf("folder    %s: %llu shards are done, %llu are missing\n", p->output,
           (unsigned long long) n_done, (unsigned long long) (p->n_shards - n_done));
    sharded_estimate_print(&e, stdout);
    print_shards(p, o->verbosity > 0);
}

static json_t *plan_json(const struct sharded_plan *p, uint64_t n_done)
{
    const struct sharded_estimate e = sharded_estimate_make(p, p->n_shards - n_done);
    struct buffer first = { 0 };
    json_t *j = json_object(), *line = json_object();
    sharded_plan_put_command(p, 1, &first);
    json_object_set_new(j, "command", json_string(p->command->name));
    if (p->n_cases)
        json_object_set_new(j, "cases", json_integer((json_int_t) p->n_cases));
    json_object_set_new(j, "shards", json_integer((json_int_t) p->n_shards));
    json_object_set_new(j, "done", json_integer((json_int_t) n_done));
    json_object_set_new(j, "engine", json_value_text(p->engine));
    json_object_set_new(j, "jobs", json_integer((json_int_t) p->jobs));
    json_object_set_new(j, "shard_seconds", json_integer((json_int_t) p->seconds));
    json_object_set_new(j, "attempts", json_integer((json_int_t) p->retries + 1));
    json_object_set_new(j, "output", json_value_text(p->output));
    json_object_set_new(j, "first", json_value_text(buffer_text(&first)));
    json_object_set_new(j, "estimate", sharded_estimate_json(&e));
    json_object_set_new(line, "plan", j);
    buffer_done(&first);
    return line;
}

static int dry_run(const struct options *o, const struct sharded_plan *p, struct why *w)
{
    struct sharded_state s;
    TRY(sharded_state_begin(p, true, &s, w));
    if (o->json)
        console_json_line(plan_json(p, s.set.n_done));
    else
        print_plan(o, p, s.set.n_done);
    sharded_state_done(&s);
    return EXIT_CONFORMING;
}

/* ---- the support set */

/* Asks the only target what it supports, once for all shards, which then need not ask before they
 * begin.  Where it is not possible here they do. */
static void ask_once(const struct sharded_plan *p)
{
    const struct options *o = p->options;
    struct buffer b = { 0 };
    char path[PATH_MAX];
    sharded_folder_path(p, "support", path);
    if (strcmp(p->command->name, "random") != 0 || o->n_targets != 1 || o->no_probe ||
        o->support_file || o->from.n || o->version || target_needs_no_probe(o->target[0]) ||
        access(path, F_OK) == 0)
        return;
    buffer_puts(&b, "cd ");
    buffer_put_quoted(&b, p->home);
    buffer_puts(&b, " && exec ");
    buffer_put_quoted(&b, p->self);
    buffer_printf(&b, " probe --timeout %.17g%s --output ", o->timeout,
                  o->in_process ? " --in-process" : "");
    buffer_put_quoted(&b, path);
    buffer_puts(&b, " ");
    buffer_put_quoted(&b, o->target[0]);
    buffer_puts(&b, " </dev/null >/dev/null 2>&1");
    fflush(NULL);
    if (b.failed || system(buffer_text(&b)) != 0) {
        fputs("halcyon campaign: ", stderr);
        text_put(stderr, TEXT_TERMINAL, o->target[0], 0);
        fputs(" cannot be asked here what it supports ('halcyon probe'): each shard asks it\n",
              stderr);
    }
    buffer_done(&b);
}

/* ---- the result */

/* With what a reader that was killed has left beside it. */
static int remove_database(const char *path, struct why *w)
{
    static const char *const beside[] = { "-wal", "-shm", "" };
    char name[PATH_MAX + 8];
    for (int i = 0; i < COUNT(beside); i++) {
        snprintf(name, sizeof name, "%s%s", path, beside[i]);
        if (unlink(name) < 0 && errno != ENOENT)
            return why_file(w, name, errno);
    }
    return 0;
}

static int merge_shards(const struct sharded_state *s, const char *out, struct why *w)
{
    const struct sharded_plan *p = s->plan;
    const size_t size = strlen(p->output) + 40;
    const char **path = calloc(s->set.n_done, sizeof *path);
    char *text = calloc(s->set.n_done, size);
    struct merge_counts counts;
    size_t n = 0;
    int failed = path && text ? 0 : why_no_memory(w);
    for (uint64_t i = 1; !failed && i <= p->n_shards; i++) {
        if (!s->set.done[i])
            continue;
        path[n] = text + n * size;
        snprintf(text + n++ * size, size, "%s/shards/%llu.db", p->output, (unsigned long long) i);
    }
    if (!failed)
        failed = remove_database(out, w);
    if (!failed)
        failed = results_merge(path, n, out, &counts, w);
    if (!failed)
        free(counts.missing); /* the campaign reports them */
    free(path);
    free(text);
    return failed;
}

/* "complete", "ended by stop.for" */
static void put_end(enum sharded_end end, FILE *to)
{
    const bool stopped = end != SHARDED_COMPLETE && end != SHARDED_MISSING;
    fprintf(to, "%s%s: ", stopped ? "ended by " : "", sharded_end_name[end]);
}

static void print_end(const struct sharded_state *s, enum sharded_end end, const char *merged)
{
    put_end(end, stdout);
    printf("%llu of %llu shards, %llu cases, %llu verdicts not conforming in %zu buckets\n",
           (unsigned long long) s->set.n_done, (unsigned long long) s->plan->n_shards,
           (unsigned long long) s->n_cases, (unsigned long long) s->n_failures,
           json_object_size(s->buckets));
    text_put(stdout, TEXT_TERMINAL, merged, 0);
    putchar('\n');
    text_put(stdout, TEXT_TERMINAL, s->plan->output, 0);
    puts("/report/index.html");
}

/* What was found against baselines when there were verdicts: of shards that are summaries. */
static void print_findings(const json_t *findings)
{
    for (size_t i = 0; i < json_array_size(findings); i++) {
        text_put(stdout, TEXT_TERMINAL, json_string_value(json_array_get(findings, i)), 0);
        putchar('\n');
    }
}

/* Holds the verdicts of all shards against the baselines: what shows only in the whole, too. */
static int hold(const struct sharded_plan *p, const char *merged, enum sharded_end end,
                struct expectations *x, struct why *w)
{
    const struct recorded_filter all = { 0 };
    struct results *r;
    if (!x || p->summary)
        return 0;
    TRY(results_open(merged, RESULTS_READ, &r, w));
    int failed = expectations_check(x, r, &all,
                                    end != SHARDED_COMPLETE || options_choose_part(p->options), w);
    results_close(r);
    return failed;
}

/* As the command without shards would end. */
static int status_of(const struct sharded_state *s, const struct sharded_result *r,
                     const struct expectations *x)
{
    if (r->end == SHARDED_MISSING)
        return sharded_missing_status(s);
    const bool good = !s->n_failures && !r->known.failing && !json_array_size(r->findings) &&
                      !expectations_fail(x);
    return unloaded_status(s->plan->options, &r->files,
                           good ? EXIT_CONFORMING : EXIT_NOT_CONFORMING);
}

static int write_merged(struct sharded_state *s, struct sharded_result *r, struct expectations *x,
                        bool json, struct why *w)
{
    const struct sharded_plan *p = s->plan;
    char merged[PATH_MAX], report[PATH_MAX];
    struct why why;
    sharded_folder_path(p, "merged.db", merged);
    sharded_folder_path(p, "report", report);
    TRY(merge_shards(s, merged, w));
    if (p->corpus && sharded_corpus_add(p, merged, &why) < 0)
        fprintf(stderr, "halcyon campaign: warning: nothing is added to the corpus: %s\n",
                why.text);
    TRY(report_write_site(merged, report, w));
    TRY(sharded_result_read(p, merged, r, w));
    TRY(hold(p, merged, r->end, x, w));
    if (json)
        return 0;
    TRY(report_print_summary(merged, stdout, w));
    expectations_print(p->summary ? NULL : x, stdout, MOST_FINDINGS);
    print_findings(r->findings);
    print_end(s, r->end, merged);
    return 0;
}

static int write_result(struct sharded_state *s, struct sharded_result *r, struct expectations *x,
                        bool json, struct why *w)
{
    TRY(sharded_state_update(s, 1e9, w));
    if (r->end == SHARDED_MISSING) {
        fprintf(stderr, "halcyon campaign: %llu shards are missing:\n",
                (unsigned long long) (s->plan->n_shards - s->set.n_done));
        sharded_print_missing(s);
    }
    if (s->set.n_done) {
        TRY(write_merged(s, r, x, json, w));
        return status_of(s, r, x);
    }
    fputs("halcyon campaign: ", stderr);
    put_end(r->end, stderr);
    fputs("no shard is done\n", stderr);
    return r->end == SHARDED_MISSING ? sharded_missing_status(s) : EXIT_OURS;
}

/* ---- the command */

static int run_shards(struct sharded_state *s, struct sharded_result *r, struct expectations *x,
                      bool json, struct why *w)
{
    const volatile sig_atomic_t *stop = campaign_catch_signals();
    if (json && !(r->known.failures = json_array()))
        return why_no_memory(w);
    if (s->plan->corpus)
        TRY(sharded_corpus_replay(s->plan, &r->known, w));
    TRY(sharded_run(s, stop, &r->end, w));
    if (r->end != SHARDED_INTERRUPTED)
        return write_result(s, r, x, json, w);
    fprintf(stderr,
            "halcyon campaign: interrupted with %llu of %llu shards done; the same command "
            "continues\n",
            (unsigned long long) s->set.n_done, (unsigned long long) s->plan->n_shards);
    return 128 + (int) *stop;
}

static int run_state(struct sharded_state *s, bool json, struct why *w)
{
    const struct sharded_plan *p = s->plan;
    struct sharded_result r = { 0 };
    struct expectations *x;
    TRY(expectations_load(p->baseline, p->options->n_baselines, p->options->target,
                          p->options->n_targets, p->n_cases > 0, &x, w));
    int status = run_shards(s, &r, x, json, w);
    if (status >= 0 && json)
        console_json_line(
            sharded_result_json(s, &r, r.targets && !p->summary ? expectations_json(x) : NULL));
    sharded_result_done(&r);
    expectations_free(x);
    return status;
}

static int run_plan(const struct options *o, const struct sharded_plan *p, struct why *w)
{
    struct sharded_state s;
    int lock;
    if (o->dry_run)
        return dry_run(o, p, w);
    TRY(sharded_folder_open(p, &lock, w));
    int status = sharded_state_begin(p, o->verbosity < 0, &s, w);
    if (!status) {
        if (s.n_begun && o->verbosity >= 0)
            fprintf(stderr, "halcyon campaign: continues: %llu of %llu shards are done\n",
                    (unsigned long long) s.n_begun, (unsigned long long) p->n_shards);
        ask_once(p);
        status = run_state(&s, o->json, w);
        sharded_state_done(&s);
    }
    sharded_folder_close(lock);
    return status;
}

int cmd_campaign(const struct options *o)
{
    struct why why = { 0 };
    struct sharded_plan plan;
    if (options_expect(o, 1, 1, "FILE.toml", &why) < 0 ||
        sharded_plan_read(o->argument[0], &plan, &why) < 0)
        return print_error(o, &why);
    int status = run_plan(o, &plan, &why);
    sharded_plan_done(&plan);
    return status < 0 ? print_error(o, &why) : status;
}
