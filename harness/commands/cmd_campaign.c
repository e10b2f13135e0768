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
#include "harness/campaigns/sharded_run.h"
#include "harness/check/buffer.h"
#include "harness/commands/campaign_record.h"
#include "harness/commands/commands.h"
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

static int dry_run(const struct options *o, const struct sharded_plan *p, struct why *w)
{
    struct sharded_state s;
    TRY(sharded_state_begin(p, true, &s, w));
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
           (unsigned long long) s.set.n_done, (unsigned long long) (p->n_shards - s.set.n_done));
    sharded_estimate_print(p, p->n_shards - s.set.n_done, stdout);
    print_shards(p, o->verbosity > 0);
    sharded_state_done(&s);
    return EXIT_CONFORMING;
}

/* ---- the result */

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
    if (!failed && unlink(out) < 0 && errno != ENOENT)
        failed = why_file(w, out, errno);
    if (!failed)
        failed = results_merge(path, n, out, &counts, w);
    if (!failed)
        free(counts.missing); /* the campaign reports them */
    free(path);
    free(text);
    return failed;
}

static const char *const ended[] = {
    [SHARDED_COMPLETE] = "complete",
    [SHARDED_MISSING] = "incomplete",
    [SHARDED_TIME] = "ended by stop.for",
    [SHARDED_BUCKETS] = "ended by stop.max_buckets",
    [SHARDED_COVERAGE] = "ended by stop.coverage",
    [SHARDED_INTERRUPTED] = "interrupted",
};

static void print_end(const struct sharded_state *s, enum sharded_end end, const char *merged)
{
    printf("%s: %llu of %llu shards, %llu cases, %llu verdicts not conforming in %zu buckets\n",
           ended[end], (unsigned long long) s->set.n_done, (unsigned long long) s->plan->n_shards,
           (unsigned long long) s->n_cases, (unsigned long long) s->n_failures,
           json_object_size(s->buckets));
    text_put(stdout, TEXT_TERMINAL, merged, 0);
    putchar('\n');
    text_put(stdout, TEXT_TERMINAL, s->plan->output, 0);
    puts("/report/index.html");
}

static int write_result(struct sharded_state *s, enum sharded_end end,
                        const struct corpus_counts *known, struct why *w)
{
    char merged[PATH_MAX], report[PATH_MAX];
    TRY(sharded_state_update(s, 1e9, w));
    if (end == SHARDED_MISSING)
        fprintf(stderr, "halcyon campaign: %llu shards are missing:\n",
                (unsigned long long) (s->plan->n_shards - s->set.n_done));
    if (end == SHARDED_MISSING)
        sharded_print_missing(s);
    if (!s->set.n_done) {
        fprintf(stderr, "halcyon campaign: %s: no shard is done\n", ended[end]);
        return EXIT_OURS;
    }
    sharded_folder_path(s->plan, "merged.db", merged);
    sharded_folder_path(s->plan, "report", report);
    TRY(merge_shards(s, merged, w));
    struct why why;
    if (s->plan->corpus && sharded_corpus_add(s->plan, merged, &why) < 0)
        fprintf(stderr, "halcyon campaign: warning: nothing is added to the corpus: %s\n",
                why.text);
    TRY(report_write_site(merged, report, w));
    TRY(report_print_summary(merged, stdout, w));
    print_end(s, end, merged);
    return end == SHARDED_MISSING            ? EXIT_OURS
           : s->n_failures || known->failing ? EXIT_NOT_CONFORMING
                                             : EXIT_CONFORMING;
}

/* ---- the command */

static int run_state(struct sharded_state *s, struct why *w)
{
    const volatile sig_atomic_t *stop = campaign_catch_signals();
    struct corpus_counts known = { 0 };
    enum sharded_end end;
    if (s->plan->corpus)
        TRY(sharded_corpus_replay(s->plan, &known, w));
    TRY(sharded_run(s, stop, &end, w));
    if (end == SHARDED_INTERRUPTED) {
        fprintf(stderr,
                "halcyon campaign: interrupted with %llu of %llu shards done; the same command "
                "continues\n",
                (unsigned long long) s->set.n_done, (unsigned long long) s->plan->n_shards);
        return 128 + (int) *stop;
    }
    return write_result(s, end, &known, w);
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
        status = run_state(&s, w);
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
