/* halcyon calibrate: performance of a driver as a profile has it, from measurements. */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "harness/bench/bench_list.h"
#include "harness/bench/profile_edit.h"
#include "harness/bench/profile_write.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/plan/shown_plan.h"
#include "harness/run/devices.h"
#include "harness/run/support_probe.h"
#include "sim/device/profile.h"

enum { DRAWN = 6, DEFAULT_ITERATIONS = 20 };

struct calibrating {
    const struct options *o;
    struct device_facts facts;
    struct bench_list list; /* n 0: none */
    struct bench_model *model;
    struct calibration found;
    struct buffer profile; /* the new text of the file */
};

/* ---- the models */

static int load(struct calibrating *c, struct why *w)
{
    const struct options *o = c->o;
    const struct specs_options limits = { .timeout = o->load_timeout,
                                          .memory_limit = o->load_memory << 20 };

    if (!o->n_arguments)
        return 0;
    TRY(bench_list_read(o->argument[0], o->data.name, o->data.n, &c->list, w));
    c->model = arena_alloc(c->list.arena, c->list.n, sizeof(*c->model));
    if (!c->model)
        return why_no_memory(w);
    for (uint32_t i = 0; i < c->list.n; i++) {
        TRY(bench_model_load(&c->list.entry[i], false, &limits, &c->model[i], w));
        REQUIRE(w, c->model[i].n_data, "%s: the model has no input for data",
                c->list.entry[i].path);
    }
    return 0;
}

/* ---- the profile */

static int read_text(const char *path, struct buffer *to, struct why *w)
{
    char part[4096];
    size_t n;
    FILE *file = fopen(path, "re");

    if (!file)
        return why_file(w, path, errno);
    while ((n = fread(part, 1, sizeof part, file)) > 0)
        buffer_printf(to, "%.*s", (int) n, part);
    const bool failed = ferror(file);
    fclose(file);
    REQUIRE(w, !failed, "%s: cannot be read", path);
    return to->failed ? why_no_memory(w) : 0;
}

/* A new profile is that of sim:cpu with the driver's name. */
static int make_text(const struct calibrating *c, struct buffer *to, struct why *w)
{
    const char *shipped = profile_shipped("cpu");
    json_t *profile = shipped ? json_loads(shipped, 0, NULL) : NULL;

    if (!profile)
        return why_no_memory(w);
    json_object_set_new(profile, "name", json_string(c->facts.name));
    json_object_set_new(profile, "version", json_string(c->facts.version));
    profile_write(profile, to);
    json_decref(profile);
    return to->failed ? why_no_memory(w) : 0;
}

/* The text to edit: the file's, or where there is none that of the target's profile. */
static int edit(struct calibrating *c, struct why *w)
{
    const char *uri = c->o->target[0];
    const size_t n = strcspn(uri, "?");
    struct buffer before = { 0 };
    char path[4096];
    int failed;

    snprintf(path, sizeof path, "%.*s", (int) (n > 4 ? n - 4 : 0), n > 4 ? uri + 4 : "");
    const char *dot = strrchr(path, '.');
    const bool is_profile = strncmp(uri, "sim:", 4) == 0 && dot && strcmp(dot, ".toml") == 0;
    if (access(c->o->output, F_OK) == 0)
        failed = read_text(c->o->output, &before, w);
    else
        failed = is_profile ? read_text(path, &before, w) : make_text(c, &before, w);
    if (!failed && profile_edit(buffer_text(&before), &c->found, &c->profile, w) < 0)
        failed = why_prefix(w, "%s", c->o->output);
    buffer_done(&before);
    return failed;
}

static int write_profile(struct calibrating *c, struct why *w)
{
    TRY(edit(c, w));
    return output_file_write(c->o->output, buffer_text(&c->profile), c->profile.length, w);
}

/* ---- output */

static void print(const struct calibrating *c)
{
    printf("execution time of %s, relative to %s\n", c->o->target[0],
           c->o->reference ? c->o->reference : "golden");
    printf("    %-32s %10s %10s %10s %9s\n", "", "time", "least", "most", "workloads");
    for (uint32_t i = 0; i < c->found.n; i++) {
        const struct calibrated *r = &c->found.row[i];
        if (!r->n) {
            printf("    %-32s %10s\n", r->key, "-");
            continue;
        }
        printf("    %-32s %10.4g %10.4g %10.4g %9u", r->key, r->ratio, r->least, r->most, r->n);
        printf(r->n_models ? "  (%u of the list)\n" : "\n", r->n_models);
    }
}

static void print_json(const struct calibrating *c)
{
    json_t *rows = json_object();

    for (uint32_t i = 0; i < c->found.n; i++) {
        const struct calibrated *r = &c->found.row[i];
        if (r->n)
            json_object_set_new(rows, r->key,
                                json_pack("{s:f, s:f, s:f, s:i, s:i}", "time", r->ratio, "least",
                                          r->least, "most", r->most, "workloads", (int) r->n,
                                          "listed", (int) r->n_models));
    }
    console_json_line(json_pack("{s:s, s:s, s:o}", "target", c->o->target[0], "reference",
                                c->o->reference ? c->o->reference : "golden", "performance", rows));
}

/* How the runtime would partition the models of the list with the new profile. */
static int show_plans(const struct calibrating *c, struct why *w)
{
    char uri[4200];
    const char *const device = uri;
    struct plan_devices devices;
    int failed = 0;

    snprintf(uri, sizeof uri, "sim:%s", c->o->output);
    TRY(plan_devices_open(&device, 1, c->o->timeout, &devices, w));
    for (uint32_t i = 0; !failed && i < c->list.n; i++) {
        struct arena *a = arena_new(0);
        struct shown_plan p;
        failed = a ? shown_plan_make(c->list.entry[i].name, &c->model[i].model, &devices,
                                     c->o->preference, a, &p, w)
                   : why_no_memory(w);
        if (!failed && c->o->json) {
            shown_plan_print_json(&p, stdout);
        } else if (!failed) {
            putchar('\n');
            shown_plan_print(&p, stdout);
        }
        arena_free(a);
    }
    plan_devices_close(&devices);
    return failed;
}

static int run(struct calibrating *c, struct why *w)
{
    const struct options *o = c->o;
    const char *uri = o->n_targets ? o->target[0] : "";
    const char *dot = o->output ? strrchr(o->output, '.') : NULL;
    const struct support_probe_options probing = { .timeout = o->timeout, .jobs = 1 };
    struct support_probe probe = { 0 };
    struct calibrate_options options = {
        .reference = o->reference ? o->reference : "golden",
        .uses_wall = strncmp(uri, "sim:", 4) != 0 || o->realtime || strstr(uri, "realtime"),
        .how = { .warm_up = o->warm_up,
                 .seconds = o->bench_seconds_given ? o->bench_seconds : INFINITY,
                 .iterations =
                     o->iterations || o->bench_seconds_given ? o->iterations : DEFAULT_ITERATIONS,
                 .no_accuracy = true,
                 .no_compile = true,
                 .jobs = 1,
                 .timeout = o->timeout },
        .drawn = DRAWN,
    };

    TRY(options_expect(o, 0, 1, "LIST", w));
    REQUIRE(w, o->n_targets == 1, "expected one target, -d TARGET");
    REQUIRE(w, !o->output || (dot && strcmp(dot, ".toml") == 0),
            "-o %s: a profile has a name that ends in .toml, so that sim:FILE.toml reads it",
            o->output);
    devices_isolate(o->isolate, o->allow_devices, o->memory_limit);
    if (device_probe(uri, o->timeout, &c->facts, w) != 0) {
        w->code = WHY_INVALID;
        return -1;
    }
    TRY(load(c, w));
    TRY(support_probe(uri, &probing, &probe, w));
    options.support = probe.set;
    const int failed = calibrate(uri, c->model, c->list.n, &options, &c->found, w);
    randgraph_support_free(probe.set);
    TRY(failed);
    if (o->json)
        print_json(c);
    else
        print(c);
    if (!o->output)
        return 0;
    TRY(write_profile(c, w));
    return show_plans(c, w);
}

int cmd_calibrate(const struct options *o)
{
    struct calibrating *c = calloc(1, sizeof(*c));
    struct why why = { 0 };

    if (!c) {
        why_no_memory(&why);
        return print_error(o, &why);
    }
    c->o = o;
    const int failed = run(c, &why);
    for (uint32_t i = 0; c->model && i < c->list.n; i++)
        bench_model_done(&c->model[i]);
    bench_list_done(&c->list);
    buffer_done(&c->profile);
    free(c);
    fflush(stdout);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
