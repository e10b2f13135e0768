/* halcyon bench: latency, memory and accuracy of models on targets. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "harness/bench/bench_base.h"
#include "harness/bench/bench_list.h"
#include "harness/bench/bench_print.h"
#include "harness/bench/bench_record.h"
#include "harness/bench/bench_run.h"
#include "harness/check/json_value.h"
#include "harness/cli/console.h"
#include "harness/commands/campaign_record.h"
#include "harness/commands/commands.h"
#include "harness/run/devices.h"
#include "reports/reports.h"

struct benching {
    const struct options *o;
    struct bench_options how;
    struct bench_list list;
    struct bench_model *model; /* of each entry */
    struct device_facts facts[MAX_TARGETS];
    struct bench_end broken[MAX_TARGETS]; /* PASS: the target can be opened */
    uint64_t totals[VERDICT_COUNT];
    bool *is_done; /* [model * n_targets + target]: recorded by the run that is resumed */
    const volatile sig_atomic_t *stop;
    struct results *results;
    int64_t run;
    struct bench_base base; /* --against */
    uint64_t n_slower, n_faster;
    struct output_file csv; /* to NULL: none */
};

/* ---- before the first measurement */

static struct bench_options options_of(const struct options *o)
{
    return (struct bench_options){
        .warm_up = o->warm_up,
        .seconds = o->iterations && !o->bench_seconds_given ? INFINITY : o->bench_seconds,
        .iterations = o->iterations,
        .no_latency = o->no_latency,
        .no_accuracy = o->no_accuracy,
        .no_compile = o->no_compile,
        .no_reference = o->no_reference,
        .relaxed = o->relaxed,
        .samples = (uint32_t) o->samples,
        .jobs = o->jobs,
        .timeout = o->timeout,
    };
}

/* Every model and its data can be read: bad input is reported before anything runs. */
static int load(struct benching *b, struct why *w)
{
    const struct specs_options limits = { .timeout = b->o->load_timeout,
                                          .memory_limit = b->o->load_memory << 20 };

    TRY(bench_list_read(b->o->argument[0], b->o->data.name, b->o->data.n, &b->list, w));
    b->model = arena_alloc(b->list.arena, b->list.n, sizeof(*b->model));
    if (!b->model)
        return why_no_memory(w);
    for (uint32_t i = 0; i < b->list.n; i++) {
        struct bench_data data;
        TRY(bench_model_load(&b->list.entry[i], b->how.relaxed, &limits, &b->model[i], w));
        if (bench_data_open(&b->list.entry[i], &b->model[i], b->how.samples, &data, w) < 0)
            return why_prefix(w, "%s: model %s", b->o->argument[0], b->list.entry[i].name);
        bench_data_done(&data);
    }
    return 0;
}

/* A driver that dies while it is opened, or does not describe itself, has that verdict on every
 * model. */
static int probe(struct benching *b, struct why *w)
{
    const struct options *o = b->o;

    devices_isolate(o->isolate, o->allow_devices, o->memory_limit);
    for (uint32_t t = 0; t < o->n_targets; t++) {
        struct why why = { 0 };
        const int rc = device_probe(o->target[t], o->timeout, &b->facts[t], &why);
        if (rc < 0) {
            *w = why;
            return -1;
        }
        b->broken[t].verdict = rc ? b->facts[t].fault : VERDICT_PASS;
        snprintf(b->broken[t].why, sizeof b->broken[t].why, "%.350s", why.text);
    }
    return 0;
}

/* ---- the record */

static char *command_line(const struct options *o)
{
    struct buffer b = { 0 };

    buffer_puts(&b, "halcyon bench ");
    buffer_put_quoted(&b, o->argument[0]);
    for (uint32_t i = 0; i < o->data.n; i++) {
        buffer_puts(&b, " --data ");
        buffer_put_quoted(&b, o->data.name[i]);
    }
    for (uint32_t t = 0; t < o->n_targets; t++) {
        buffer_puts(&b, " -d ");
        buffer_put_quoted(&b, o->target[t]);
    }
    if (o->iterations)
        buffer_printf(&b, " --iterations %llu", (unsigned long long) o->iterations);
    if (o->samples)
        buffer_printf(&b, " --samples %llu", (unsigned long long) o->samples);
    buffer_printf(&b, "%s%s%s%s%s", o->relaxed ? " --relaxed" : "",
                  o->no_latency ? " --no-latency" : "", o->no_accuracy ? " --no-accuracy" : "",
                  o->no_compile ? " --no-compile" : "", o->no_reference ? " --no-reference" : "");
    return b.data;
}

/* What decides the results: --resume compares it. */
static char *options_json(const struct benching *b)
{
    const struct options *o = b->o;
    json_t *models = json_array(), *data = json_array();

    for (uint32_t i = 0; i < b->list.n; i++)
        json_array_append_new(models, json_value_text(b->list.entry[i].name));
    for (uint32_t i = 0; i < o->data.n; i++)
        json_array_append_new(data, json_value_text(o->data.name[i]));
    json_t *j =
        json_pack("{s:o, s:o, s:o, s:I, s:I, s:f, s:b, s:b, s:b, s:b, s:b, s:b, s:f}", "list",
                  json_value_text(o->argument[0]), "models", models, "data", data, "iterations",
                  (json_int_t) o->iterations, "samples", (json_int_t) o->samples, "warm_up",
                  o->warm_up, "relaxed", o->relaxed, "no_latency", o->no_latency, "no_accuracy",
                  o->no_accuracy, "no_compile", o->no_compile, "no_reference", o->no_reference,
                  "realtime", o->realtime, "timeout", o->timeout);
    if (isfinite(b->how.seconds))
        json_object_set_new(j, "seconds", json_real(b->how.seconds));
    char *text = json_dumps(j, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(j);
    return text;
}

/* A result that this process has, or that the run that is resumed has recorded. */
static int count_result(struct benching *b, const char *model, uint32_t target,
                        const struct bench_result *r, struct bench_time_changes *ret_changed,
                        struct why *w)
{
    struct bench_time_changes changed = { 0 };

    b->totals[r->verdict]++;
    if (b->base.results)
        TRY(bench_base_compare(&b->base, model, b->o->target[target], r, &changed, w));
    for (uint32_t i = 0; i < changed.n; i++) {
        b->n_slower += changed.row[i].change == BENCH_SLOWER;
        b->n_faster += changed.row[i].change == BENCH_FASTER;
    }
    if (b->csv.to)
        bench_csv_line(model, b->o->target[target], r, b->csv.to);
    *ret_changed = changed;
    return 0;
}

static int take_recalled(uint32_t target, uint64_t ordinal, const char *model,
                         const struct bench_result *r, void *user, struct why *w)
{
    struct benching *b = user;
    struct bench_time_changes ignored;

    if (ordinal >= b->list.n || target >= b->o->n_targets)
        return 0;
    b->is_done[ordinal * b->o->n_targets + target] = true;
    return count_result(b, model, target, r, &ignored, w);
}

static int resume_run(struct benching *b, const struct run_row *run,
                      const struct target_row *targets, struct why *w)
{
    const int found = results_resume_run(b->results, run, targets, b->o->n_targets, w);

    TRY(found);
    if (found)
        return bench_recall(b->results, b->list.arena, take_recalled, b, w);
    fputs("halcyon bench: no unfinished run with these options and targets: starting a new one\n",
          stderr);
    return results_start_run(b->results, run, targets, b->o->n_targets, w);
}

static int start_run(struct benching *b, struct why *w)
{
    const struct options *o = b->o;
    struct target_row targets[MAX_TARGETS];
    char *command = command_line(o), *options = options_json(b);
    struct run_row run = { .kind = "bench",
                           .command = command ? command : "",
                           .options = options ? options : "{}",
                           .judge = judge_name[JUDGE_BOUND] };

    for (uint32_t t = 0; t < o->n_targets; t++)
        targets[t] = (struct target_row){ .uri = o->target[t],
                                          .name = b->facts[t].name,
                                          .version = b->facts[t].version,
                                          .type = b->facts[t].type,
                                          .hal = b->facts[t].hal };
    b->is_done = arena_alloc(b->list.arena, (size_t) b->list.n * o->n_targets, sizeof(bool));
    int failed = command && options && b->is_done ? 0 : why_no_memory(w);
    if (!failed)
        failed = results_open(o->db, RESULTS_WRITE, &b->results, w);
    if (!failed)
        failed = o->resume ? resume_run(b, &run, targets, w)
                           : results_start_run(b->results, &run, targets, o->n_targets, w);
    if (!failed)
        b->run = results_run(b->results);
    free(command);
    free(options);
    return failed;
}

/* ---- the report */

/* Starts a program on a page; its output goes to stderr, for stdout may be JSON.  Returns its exit
 * status, 0 while it still runs after two seconds: a browser may; -1: it cannot be started. */
static int start_browser(const char *program, const char *page)
{
    char *const arguments[] = { (char *) (uintptr_t) program, (char *) (uintptr_t) page, NULL };
    posix_spawn_file_actions_t actions;
    pid_t pid, ended = 0;
    int status = 0;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    errno = posix_spawnp(&pid, program, &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (errno)
        return -1;
    for (int i = 0; i < 100 && ended == 0; i++) {
        ended = waitpid(pid, &status, WNOHANG);
        if (!ended)
            usleep(20 * 1000);
    }
    return ended == pid ? status : 0;
}

/* Shows a page by $BROWSER, else by xdg-open. */
static void open_page(const char *path)
{
    const char *browser = getenv("BROWSER"), *program = browser && *browser ? browser : "xdg-open";
    char whole[PATH_MAX];
    const int status = start_browser(program, realpath(path, whole) ? whole : path);

    if (status)
        fprintf(stderr, "halcyon bench: %s cannot show %s%s%s\n", program, path,
                status < 0 ? ": " : "", status < 0 ? strerror(errno) : "");
}

static int write_report(const struct benching *b, struct why *w)
{
    const char *folder = b->o->output ? b->o->output : "halcyon-report";
    const struct report_options options = { .run = b->run,
                                            .against = b->base.path,
                                            .against_run = b->base.run };
    char page[4096];

    if (!b->o->output && !b->o->open_report)
        return 0;
    TRY(report_write(b->o->db, folder, &options, w));
    snprintf(page, sizeof page, "%s/index.html", folder);
    if (!b->o->json)
        printf("%s\n", page);
    fflush(stdout);
    if (b->o->open_report)
        open_page(page);
    return 0;
}

/* ---- the models */

static void print_json(const struct benching *b, const char *model, const char *target,
                       const struct bench_result *r, const struct bench_time_changes *changed)
{
    json_t *j = bench_json(model, target, r);

    if (b->base.results)
        json_object_set_new(j, "against", bench_changes_json(&b->base, changed));
    console_json_line(j);
}

static int take(struct benching *b, uint32_t model, uint32_t target, const struct bench_result *r,
                struct why *w)
{
    const struct options *o = b->o;
    const char *name = b->list.entry[model].name;

    struct bench_time_changes changed;

    TRY(count_result(b, name, target, r, &changed, w));
    if (o->json)
        print_json(b, name, o->target[target], r, &changed);
    else if (o->verbosity >= 0)
        bench_print(name, o->target[target], r, stdout);
    if (!o->json && o->verbosity >= 0 && b->base.results)
        bench_changes_print(&b->base, &changed, stdout);
    fflush(stdout);
    TRY(results_heartbeat(b->results, w));
    return bench_record(b->results, target, model, name, r, w);
}

static int run_model(struct benching *b, uint32_t i, const struct bench_data *data,
                     const struct bench_scores *reference, struct why *w)
{
    const struct options *o = b->o;

    for (uint32_t t = 0; t < o->n_targets && !*b->stop; t++) {
        struct bench_result r = { .verdict = b->broken[t].verdict };
        if (b->is_done[i * o->n_targets + t])
            continue;
        snprintf(r.why, sizeof r.why, "%s", b->broken[t].why);
        if (r.verdict == VERDICT_PASS)
            TRY(bench_run(o->target[t], &b->model[i], data, reference, &b->how, &r, w));
        TRY(take(b, i, t, &r, w));
    }
    return 0;
}

static bool is_whole(const struct benching *b, uint32_t model)
{
    uint32_t n = 0;

    for (uint32_t t = 0; t < b->o->n_targets; t++)
        n += b->is_done[model * b->o->n_targets + t];
    return n == b->o->n_targets;
}

static int bench_model(struct benching *b, uint32_t i, struct why *w)
{
    struct bench_scores reference = { 0 };
    struct bench_data data;

    if (is_whole(b, i))
        return 0;
    TRY(bench_data_open(&b->list.entry[i], &b->model[i], b->how.samples, &data, w));
    int failed = 0;
    if (!b->how.no_accuracy && !b->how.no_reference)
        failed = bench_run_reference(&b->model[i], &data, &b->how, &reference, w);
    if (!failed)
        failed = run_model(b, i, &data, reference.score ? &reference : NULL, w);
    bench_scores_done(&reference);
    bench_data_done(&data);
    return failed ? why_prefix(w, "model %s", b->list.entry[i].name) : 0;
}

static int exit_status(const struct benching *b)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (b->totals[v] && !verdict_conforming((enum verdict) v))
            return EXIT_NOT_CONFORMING;
    return EXIT_CONFORMING;
}

static void summarise(const struct benching *b)
{
    json_t *o = b->o->json ? json_object() : NULL;

    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (o)
            json_object_set_new(o, verdict_name[v], json_integer((json_int_t) b->totals[v]));
        else if (b->totals[v])
            printf("%llu %s  ", (unsigned long long) b->totals[v], verdict_name[v]);
    }
    const double seconds = console_now() - b->o->begun;
    if (o && b->base.results) {
        json_object_set_new(o, "slower", json_integer((json_int_t) b->n_slower));
        json_object_set_new(o, "faster", json_integer((json_int_t) b->n_faster));
    } else if (b->base.results) {
        printf("%llu of the times slower, %llu faster than in run %lld  ",
               (unsigned long long) b->n_slower, (unsigned long long) b->n_faster,
               (long long) b->base.run);
    }
    if (o) {
        json_object_set_new(o, "seconds", json_real(seconds));
        console_json_line(json_pack("{s:o}", "summary", o));
    } else {
        printf("in %.1f s\n", seconds);
    }
}

static int report_stop(const struct benching *b, int *ret_status, struct why *w)
{
    summarise(b);
    fputs("halcyon bench: interrupted; the same command with --resume continues the run\n", stderr);
    *ret_status = 128 + (int) *b->stop;
    return results_commit(b->results, w);
}

static int bench(struct benching *b, int *ret_status, struct why *w)
{
    const struct options *o = b->o;

    TRY(options_expect(o, 1, 1, "LIST", w));
    REQUIRE(w, o->n_targets, "missing option -d TARGET");
    if (o->against)
        TRY(bench_base_open(o->against, o->db, &b->base, w));
    TRY(probe(b, w));
    TRY(load(b, w));
    if (o->csv) {
        TRY(output_file_open(o->csv, &b->csv, w));
        bench_csv_head("Halcyon " HALCYON_VERSION, b->csv.to);
    }
    TRY(start_run(b, w));
    b->stop = campaign_catch_signals(); /* a second signal ends the process */
    for (uint32_t i = 0; i < b->list.n && !*b->stop; i++)
        TRY(bench_model(b, i, w));
    if (*b->stop)
        return report_stop(b, ret_status, w);
    TRY(results_finish_run(b->results, console_now() - o->begun, w));
    TRY(write_report(b, w));
    summarise(b);
    *ret_status = exit_status(b);
    return 0;
}

int cmd_bench(const struct options *o)
{
    struct benching *b = calloc(1, sizeof(*b));
    struct why why = { 0 };
    int status = EXIT_CONFORMING;

    if (!b) {
        why_no_memory(&why);
        return print_error(o, &why);
    }
    b->o = o;
    b->how = options_of(o);
    int failed = bench(b, &status, &why);
    const bool keep = failed == 0 && !(b->stop && *b->stop);
    if (b->csv.to && output_file_close(&b->csv, keep, failed ? NULL : &why) < 0)
        failed = -1;
    results_close(b->results);
    bench_base_close(&b->base);
    for (uint32_t i = 0; b->model && i < b->list.n; i++)
        bench_model_done(&b->model[i]);
    bench_list_done(&b->list);
    free(b);
    return failed < 0 ? print_error(o, &why) : status;
}
