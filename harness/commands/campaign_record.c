#include "harness/commands/campaign_record.h"

#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/array.h"
#include "harness/check/buffer.h"
#include "harness/run/devices.h"
#include "harness/shards/canaries.h"
#include "harness/store/merge.h"
#include "harness/store/run_export.h"
#include "harness/store/shard_rows.h"
#include "harness/store/summary.h"
#include "reports/database.h"
#include "sim/hal/hal_convert.h"

/* ---- what identifies a campaign */

static bool is_command(const struct options *o, const char *name)
{
    return strcmp(o->command, name) == 0;
}

static json_t *strings_json(char *const *text, int n)
{
    json_t *list = json_array();
    for (int i = 0; i < n; i++)
        json_array_append_new(list, json_string(text[i]));
    return list;
}

static void put_random_json(const struct options *o, json_t *j)
{
    struct buffer graphs = { 0 };
    options_put_graphs(&graphs, &o->graphs);
    json_object_set_new(j, "seed", json_sprintf("%llu", (unsigned long long) o->seed));
    json_object_set_new(j, "count", json_integer((json_int_t) o->count));
    json_object_set_new(j, "graphs", json_string(buffer_text(&graphs)));
    json_object_set_new(j, "generator", json_integer(RANDGRAPH_VERSION));
    buffer_done(&graphs);
}

static const char *hal_text(const struct options *o)
{
    return o->all_versions ? "all" : o->version ? hal_version_name(o->version) : NULL;
}

static void put_rules_json(const struct options *o, json_t *j)
{
    const char *hal = hal_text(o);
    json_object_set_new(j, "suites", strings_json((char *const *) o->suite, (int) o->n_suites));
    json_object_set_new(j, "hal", hal ? json_string(hal) : json_null());
    json_object_set_new(j, "seed", json_sprintf("%llu", (unsigned long long) o->seed));
    json_object_set_new(j, "stress", json_real(o->stress));
    json_object_set_new(j, "threads", json_integer((json_int_t) o->threads));
    json_object_set_new(j, "processes", json_integer((json_int_t) o->processes));
    json_object_set_new(j, "models", o->models ? json_string(o->models) : json_null());
}

/* The options that determine the cases and how they are judged: --resume compares them, replay
 * reads the judge. */
static char *options_json(const struct chosen_cases *chosen)
{
    const struct options *o = &chosen->options;
    json_t *j = json_object();
    char ways[VARIATION_TEXT];
    if (is_command(o, "random"))
        put_random_json(o, j);
    else if (is_command(o, "conform"))
        put_rules_json(o, j);
    else
        json_object_set_new(j, "paths", strings_json(o->argument, o->n_arguments));
    if (o->version && !is_command(o, "conform"))
        json_object_set_new(j, "entry", json_string(hal_version_name(o->version)));
    chosen_cases_put_json(chosen, j);
    if (ways_any(&o->ways))
        json_object_set_new(j, "ways",
                            o->ways.is_given ? json_string(ways_text(&o->ways, ways))
                                             : json_real(o->ways.share));
    if (o->rerun)
        json_object_set_new(j, "rerun", json_integer(o->rerun));
    if (o->memory_limit)
        json_object_set_new(j, "memory_limit", json_integer((json_int_t) o->memory_limit));
    json_object_set_new(j, "shard", json_sprintf("%u/%u", o->shard, o->n_shards));
    json_object_set_new(j, "judge", json_string(judge_name[o->judge]));
    char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(j);
    return text;
}

static char *command_line(const struct chosen_cases *chosen)
{
    const struct options *o = &chosen->options;
    struct buffer b = { 0 };
    char ways[VARIATION_TEXT];
    buffer_printf(&b, "halcyon %s", o->command);
    for (int i = 0; i < o->n_arguments; i++) {
        buffer_puts(&b, " ");
        buffer_put_quoted(&b, o->argument[i]);
    }
    if (is_command(o, "random"))
        buffer_printf(&b, " --seed %llu --count %llu", (unsigned long long) o->seed,
                      (unsigned long long) o->count);
    options_put_graphs(&b, &o->graphs);
    for (uint32_t t = 0; t < o->n_targets; t++) {
        buffer_puts(&b, " -d ");
        buffer_put_quoted(&b, o->target[t]);
    }
    options_put_rules(&b, o);
    chosen_cases_put_command(chosen, &b);
    if (ways_any(&o->ways))
        buffer_printf(&b, " --ways %s", ways_text(&o->ways, ways));
    if (o->rerun)
        buffer_printf(&b, " --rerun %u", o->rerun);
    options_put_memory_limit(&b, o);
    if (o->judge != JUDGE_AUTO)
        buffer_printf(&b, " --judge %s", judge_name[o->judge]);
    if (o->n_shards > 1)
        buffer_printf(&b, " --shard %u/%u", o->shard, o->n_shards);
    return b.data;
}

/* ---- the database */

static int start_or_resume(struct campaign *c, const struct run_row *run,
                           const struct target_row *targets,
                           int (*load_done)(struct campaign *c, struct why *w), struct why *w)
{
    const struct options *o = c->options;
    if (!o->resume)
        return results_start_run(c->results, run, targets, c->n_targets, w);
    int found = results_resume_run(c->results, run, targets, c->n_targets, w);
    TRY(found);
    if (found)
        return load_done(c, w);
    fprintf(stderr,
            "halcyon %s: no unfinished run with these options and targets: starting a new one\n",
            o->command);
    return results_start_run(c->results, run, targets, c->n_targets, w);
}

/* Records the members that the target's HAL version has; the others are 0. */
static int record_performance(struct campaign *c, uint32_t target, const struct device_facts *f,
                              struct why *w)
{
    const struct {
        const char *what;
        const struct hal_performance *p;
    } others[] = { { "relaxed scalar", &f->relaxed_scalar },
                   { "relaxed tensor", &f->relaxed_tensor },
                   { "IF", &f->if_performance },
                   { "WHILE", &f->while_performance } };
    for (uint32_t i = 0; i < f->n_operands && i < MAX_PERFORMANCE; i++) {
        const struct hal_operand_performance *p = &f->operand[i];
        const struct dtype_info *type = dtype_find(p->type);
        if (type && p->info.exec_time != 0)
            TRY(results_set_performance(c->results, target, type->name, (double) p->info.exec_time,
                                        (double) p->info.power_usage, w));
    }
    for (int i = 0; i < COUNT(others); i++)
        if (others[i].p->exec_time != 0)
            TRY(results_set_performance(c->results, target, others[i].what,
                                        (double) others[i].p->exec_time,
                                        (double) others[i].p->power_usage, w));
    return 0;
}

/* The database of the options; with --atomic the part of it.  1: the shard is there already. */
static int open_database(struct campaign *c, struct why *w)
{
    const struct options *o = c->options;
    if (!o->atomic)
        return results_open(o->db, RESULTS_WRITE, &c->results, w);
    if (access(o->db, F_OK) == 0)
        return shard_key_open(&c->key, o->db, o->summary, &c->results, w) < 0 ? -1 : 1;
    TRY(shard_file_begin(o->db, &c->file, w));
    TRY(canaries_check(w));
    return results_open(c->file.part, RESULTS_PART, &c->results, w);
}

static int start_run(struct campaign *c, const struct run_row *run,
                     const struct device_facts *facts,
                     int (*load_done)(struct campaign *c, struct why *w), struct why *w)
{
    const struct options *o = c->options;
    struct target_row targets[MAX_TARGETS];
    for (uint32_t t = 0; t < c->n_targets; t++)
        targets[t] = (struct target_row){ .uri = o->target[t],
                                          .name = facts[t].name,
                                          .version = facts[t].version,
                                          .type = facts[t].type,
                                          .hal = facts[t].hal };
    TRY(start_or_resume(c, run, targets, load_done, w));
    TRY(shard_key_record(&c->key, c->results, o->atomic, w));
    for (uint32_t t = 0; t < c->n_targets; t++)
        TRY(record_performance(c, t, &facts[t], w));
    return 0;
}

int campaign_open_results(struct campaign *c, const struct chosen_cases *chosen,
                          const struct device_facts *facts,
                          int (*load_done)(struct campaign *c, struct why *w), struct why *w)
{
    const struct options *o = c->options;
    char *command = command_line(chosen), *options = options_json(chosen);
    const char *judge = is_command(o, "conform") ? judge_name[JUDGE_RULES]
                        : o->judge != JUDGE_AUTO ? judge_name[o->judge]
                        : is_command(o, "run")   ? judge_name[JUDGE_CTS]
                                                 : judge_name[JUDGE_BOUND];
    struct run_row run = { .kind = o->command,
                           .command = command,
                           .options = options,
                           .judge = judge,
                           .n_cases = campaign_shard(o, c->cases->n),
                           .unloaded = c->cases->unloaded,
                           .n_unloaded = c->cases->n_unloaded };
    int failed = command && options ? 0 : why_no_memory(w);
    if (!failed)
        failed = shard_key_make(o, options, c->cases, &c->key, w);
    if (!failed)
        failed = open_database(c, w);
    if (!failed)
        failed = start_run(c, &run, facts, load_done, w);
    free(command);
    free(options);
    return failed;
}

/* ---- the end */

static volatile sig_atomic_t stop_signal;

static void on_signal(int number)
{
    stop_signal = number;
}

const volatile sig_atomic_t *campaign_catch_signals(void)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return &stop_signal;
}

/* From now on a signal ends the process; one that has come during the last case ends a run that
 * would be complete as an interrupted one, which --resume finishes. */
static void release_signals(struct campaign *c)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (stop_signal)
        c->end = CAMPAIGN_STOPPED;
}

static const char *const ended[] = {
    [CAMPAIGN_COMPLETE] = NULL,
    [CAMPAIGN_STOPPED] = "interrupted",
    [CAMPAIGN_FAILURES] = "ended by --max-failures",
    [CAMPAIGN_TIME] = "ended by --for",
};

static void set_compared(uint32_t target, uint64_t compared, void *user)
{
    struct campaign *c = user;
    if (target < c->n_targets)
        c->totals[target].compared = compared;
}

static void print_summary(struct campaign *c, const struct chosen_cases *chosen,
                          void (*print)(const struct summary *s, void *user), void *user)
{
    const struct options *o = c->options;
    struct summary s = { .target = c->target,
                         .totals = c->totals,
                         .n_targets = c->n_targets,
                         .n_cases = c->n_planned,
                         .not_run = c->n_items - c->done,
                         .ended = ended[c->end],
                         .seconds = console_now() - o->begun,
                         .run = results_run(c->results),
                         .db = o->db,
                         .key = c->results ? c->key.key : NULL,
                         .campaign = c->key.campaign,
                         .shard = o->shard,
                         .n_shards = o->n_shards,
                         .entry = o->version,
                         .note = c->note,
                         .n_notes = c->n_notes,
                         .bucket = c->bucket,
                         .n_buckets = c->n_buckets,
                         .unsupported = c->unsupported,
                         .n_unsupported = c->n_unsupported,
                         .baselines = o->json ? expectations_json(c->expectations) : NULL,
                         .drawn_for = o->json ? drawn_for_json(&chosen->drawn, c->target) : NULL,
                         .cases = c->cases };
    if (print && !o->json)
        print(&s, user);
    else
        console_summary(&c->console, &s);
    if (!o->json)
        expectations_print(c->expectations, stdout, o->verbosity > 0 ? 0 : MOST_FINDINGS);
}

/* Keeps the most frequent ones. */
static int add_unsupported(const struct unsupported_row *u, void *user, struct why *w)
{
    enum { MOST_SIGNATURES = 1000 };
    struct campaign *c = user;
    if (c->n_unsupported == MOST_SIGNATURES)
        return 0;
    struct bucket_count *larger = array_room(c->unsupported, c->n_unsupported, sizeof *larger);
    if (!larger)
        return why_no_memory(w);
    c->unsupported = larger;
    struct bucket_count *b = &larger[c->n_unsupported++];
    *b = (struct bucket_count){
        .bucket = strdup(u->signature), .target = u->target, .n = u->n, .first = strdup(u->name)
    };
    return b->bucket && b->first ? 0 : why_no_memory(w);
}

/* Whether a note is what an earlier process, which had the verdicts, found against baselines. */
static bool is_finding(const struct target_note *n)
{
    return !strncmp(n->text, FINDING_NOTE, strlen(FINDING_NOTE));
}

/* The exit status of what was run. */
static int status_of(struct campaign *c)
{
    bool found = expectations_fail(c->expectations);
    for (uint32_t i = 0; i < c->n_notes; i++)
        found |= is_finding(&c->note[i]);
    return unloaded_status(c->options, c->cases,
                           campaign_failures(c) || found ? EXIT_NOT_CONFORMING : EXIT_CONFORMING);
}

static void take_total(uint32_t target, enum verdict v, uint64_t n, uint64_t checked, void *user)
{
    struct campaign *c = user;
    if (target >= c->n_targets)
        return;
    c->totals[target].n[v] += n;
    c->totals[target].compared += checked;
}

static int add_note(uint32_t target, const char *text, void *user, struct why *w)
{
    struct campaign *c = user;
    return results_add_note(c->results, target, text, w);
}

/* Of a database that can only be read. */
static int keep_finding(uint32_t target, const char *text, void *user, struct why *w)
{
    struct campaign *c = user;
    struct target_note *note = array_room(c->note, c->n_notes, sizeof *note);
    struct target_note n = { target, (char *) (uintptr_t) text };
    if (!note)
        return why_no_memory(w);
    c->note = note;
    if (!is_finding(&n))
        return 0;
    if (!(n.text = strdup(text)))
        return why_no_memory(w);
    note[c->n_notes++] = n;
    return 0;
}

int campaign_show_recorded(struct campaign *c, const struct chosen_cases *chosen, struct why *w)
{
    const struct options *o = c->options;
    struct recorded_filter filter = { .run = results_run(c->results) };
    c->console = console_start(o, 0);
    c->n_planned = campaign_shard(o, c->cases->n);
    c->n_items = c->done = 0;
    fprintf(stderr, "halcyon %s: %s: is complete, with the key %s; nothing is run\n", o->command,
            o->db, c->key.key);
    TRY(results_each_total(c->results, take_total, c, w));
    if (o->summary) /* its verdicts were held against them when it was made */
        TRY(results_each_note(c->results, keep_finding, c, w));
    else
        TRY(expectations_check(c->expectations, c->results, &filter, true, w));
    print_summary(c, chosen, NULL, NULL);
    TRY(export_write(c->results, o, filter.run, NULL, w));
    return status_of(c);
}

static int write_small(const char *from, const char *to, struct why *w)
{
    struct merge_counts counts;
    TRY(results_merge(&from, 1, to, &counts, w));
    free(counts.missing); /* the other shards */
    return database_pack(to, w);
}

/* The part gets its name.  Another process may have been first with the same shard. */
static int publish(struct campaign *c, struct why *w)
{
    const struct options *o = c->options;
    results_close(c->results);
    c->results = NULL;
    if (o->summary)
        TRY(shard_file_shorten(&c->file, write_small, w));
    int exists = shard_file_publish(&c->file, w);
    TRY(exists);
    if (exists)
        TRY(shard_key_open(&c->key, o->db, o->summary, &c->results, w));
    return 0;
}

int campaign_end_record(struct campaign *c, const struct chosen_cases *chosen,
                        void (*print)(const struct summary *s, void *user), void *user,
                        struct why *w)
{
    const struct options *o = c->options;
    int64_t run = results_run(c->results);
    release_signals(c);
    if (o->atomic)
        TRY(canaries_check(w));
    /* The database has those of a resumed run's first part, too, and not those of amended cases. */
    TRY(results_each_target(c->results, set_compared, c, w));
    TRY(results_each_unsupported(c->results, add_unsupported, c, w));
    if (c->end == CAMPAIGN_COMPLETE)
        TRY(results_finish_run(c->results, console_now() - o->begun, w));
    struct recorded_filter filter = { .run = run };
    bool partial = c->end != CAMPAIGN_COMPLETE || o->n_shards > 1 || options_choose_part(o);
    TRY(expectations_check(c->expectations, c->results, &filter, partial, w));
    print_summary(c, chosen, print, user);
    char host[HOST_NAME_MAX + 1] = "";
    TRY(export_write(c->results, o, run, gethostname(host, sizeof host - 1) == 0 ? host : NULL, w));
    if (c->end == CAMPAIGN_COMPLETE && o->summary)
        TRY(expectations_each_note(c->expectations, add_note, c, w));
    if (c->end == CAMPAIGN_COMPLETE && o->summary)
        TRY(results_summarise(c->results, o->keep, SUMMARY_LISTED, w));
    if (c->end == CAMPAIGN_COMPLETE && o->atomic)
        TRY(publish(c, w));
    else if (c->end != CAMPAIGN_COMPLETE && o->atomic)
        fprintf(stderr, "halcyon %s: %s; %s is not written\n", o->command, ended[c->end], o->db);
    else if (c->end != CAMPAIGN_COMPLETE)
        fprintf(stderr, "halcyon %s: %s; the same command with --resume continues the run\n",
                o->command, ended[c->end]);
    return c->end == CAMPAIGN_STOPPED ? 128 + (int) stop_signal : status_of(c);
}

int campaign_exit(struct campaign *c, int status, const struct why *w)
{
    const struct options *o = c->options;
    if (status < 0)
        status = print_error(o, w);
    if (status == EXIT_OURS && !o->atomic && c->results && results_run(c->results))
        fprintf(stderr, "halcyon %s: the same command with --resume continues run %lld\n",
                o->command, (long long) results_run(c->results));
    campaign_done(c);
    results_close(c->results);
    shard_file_done(&c->file);
    shard_key_done(&c->key);
    expectations_free(c->expectations);
    return status;
}
