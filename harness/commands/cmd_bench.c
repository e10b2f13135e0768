/* halcyon bench: latency, memory and accuracy of models on targets. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "golden/base/output_file.h"

#include "harness/bench/bench_list.h"
#include "harness/bench/bench_print.h"
#include "harness/bench/bench_record.h"
#include "harness/bench/bench_run.h"
#include "harness/cli/console.h"
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
    struct results *results;
    int64_t run;
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

static int start_run(struct benching *b, struct why *w)
{
    const struct options *o = b->o;
    struct target_row targets[MAX_TARGETS];
    char *command = command_line(o);
    struct run_row run = { .kind = "bench",
                           .command = command ? command : "",
                           .options = "{}",
                           .judge = judge_name[JUDGE_BOUND] };

    for (uint32_t t = 0; t < o->n_targets; t++)
        targets[t] = (struct target_row){ .uri = o->target[t],
                                          .name = b->facts[t].name,
                                          .version = b->facts[t].version,
                                          .type = b->facts[t].type,
                                          .hal = b->facts[t].hal };
    int failed = results_open(o->db, RESULTS_WRITE, &b->results, w);
    if (!failed)
        failed = results_start_run(b->results, &run, targets, o->n_targets, w);
    if (!failed)
        b->run = results_run(b->results);
    free(command);
    return failed;
}

/* ---- the report */

/* Shows a page, as far as there is a program for that. */
static void open_page(const char *path)
{
    char *const arguments[] = { "xdg-open", (char *) (uintptr_t) path, NULL };
    pid_t pid;
    int status;

    const int error = posix_spawnp(&pid, arguments[0], NULL, NULL, arguments, environ);
    if (error || waitpid(pid, &status, 0) < 0 || status != 0)
        fprintf(stderr, "halcyon bench: xdg-open cannot show %s%s%s\n", path, error ? ": " : "",
                error ? strerror(error) : "");
}

static int write_report(const struct benching *b, struct why *w)
{
    const char *folder = b->o->output ? b->o->output : "halcyon-report";
    const struct report_options options = { .run = b->run };
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

static int take(struct benching *b, uint32_t model, uint32_t target, const struct bench_result *r,
                struct why *w)
{
    const struct options *o = b->o;
    const char *name = b->list.entry[model].name;

    b->totals[r->verdict]++;
    if (o->json)
        console_json_line(bench_json(name, o->target[target], r));
    else if (o->verbosity >= 0)
        bench_print(name, o->target[target], r, stdout);
    fflush(stdout);
    if (b->csv.to)
        bench_csv_line(name, o->target[target], r, b->csv.to);
    return bench_record(b->results, target, model, name, r, w);
}

static int run_model(struct benching *b, uint32_t i, const struct bench_data *data,
                     const struct bench_scores *reference, struct why *w)
{
    const struct options *o = b->o;

    for (uint32_t t = 0; t < o->n_targets; t++) {
        struct bench_result r = { .verdict = b->broken[t].verdict };
        snprintf(r.why, sizeof r.why, "%s", b->broken[t].why);
        if (r.verdict == VERDICT_PASS)
            TRY(bench_run(o->target[t], &b->model[i], data, reference, &b->how, &r, w));
        TRY(take(b, i, t, &r, w));
    }
    return 0;
}

static int bench_model(struct benching *b, uint32_t i, struct why *w)
{
    struct bench_scores reference = { 0 };
    struct bench_data data;

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
    if (o) {
        json_object_set_new(o, "seconds", json_real(seconds));
        console_json_line(json_pack("{s:o}", "summary", o));
    } else {
        printf("in %.1f s\n", seconds);
    }
}

static int bench(struct benching *b, int *ret_status, struct why *w)
{
    const struct options *o = b->o;

    TRY(options_expect(o, 1, 1, "LIST", w));
    REQUIRE(w, o->n_targets, "missing option -d TARGET");
    TRY(probe(b, w));
    TRY(load(b, w));
    if (o->csv) {
        TRY(output_file_open(o->csv, &b->csv, w));
        bench_csv_head("Halcyon " HALCYON_VERSION, b->csv.to);
    }
    TRY(start_run(b, w));
    for (uint32_t i = 0; i < b->list.n; i++)
        TRY(bench_model(b, i, w));
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
    if (b->csv.to && output_file_close(&b->csv, failed == 0, failed ? NULL : &why) < 0)
        failed = -1;
    results_close(b->results);
    for (uint32_t i = 0; b->model && i < b->list.n; i++)
        bench_model_done(&b->model[i]);
    bench_list_done(&b->list);
    free(b);
    return failed < 0 ? print_error(o, &why) : status;
}
