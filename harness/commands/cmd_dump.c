/* halcyon dump: a model as a graph, a specification or a corpus line; the difference of two. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/cases/drawn_for.h"
#include "harness/cases/found_case.h"
#include "harness/check/buffer.h"
#include "harness/check/cases.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/dump/dump_notes.h"
#include "harness/run/devices.h"
#include "reports/graph/graph_diff.h"
#include "reports/graph/graph_layout.h"
#include "reports/reports.h"
#include "specs/specs.h"

/* A dump in progress. */
struct dump {
    struct found_case *found;
    const struct options *o;
    const char *format;
    struct plan_devices devices; /* of --plan */
};

/* Prints a line on stderr about what is written. */
__attribute__((format(printf, 1, 2))) static void print_note(const char *fmt, ...)
{
    struct buffer b = { 0 };
    va_list args;
    va_start(args, fmt);
    buffer_vprintf(&b, fmt, args);
    va_end(args);
    fputs("halcyon dump: ", stderr);
    text_put(stderr, TEXT_TERMINAL, buffer_text(&b), 0);
    putc('\n', stderr);
    buffer_done(&b);
}

/* ---- formats */

/* Names of outputs and their formats; the first ending of a format is that of the files that are
 * written to a folder. */
static const struct {
    const char *ending, *format;
} endings[] = {
    { ".svg", "svg" },    { ".png", "png" },          { ".pdf", "pdf" },
    { ".dot", "dot" },    { ".gv", "dot" },           { ".mod.py", "spec" },
    { ".jsonl", "json" }, { ".graph.json", "graph" }, { ".json", "graph" },
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && !strcmp(text + n - m, end);
}

static const char *format_of(const char *output)
{
    for (int i = 0; output && i < COUNT(endings); i++)
        if (ends_with(output, endings[i].ending))
            return endings[i].format;
    return NULL;
}

/* A name with an ending has one that says what to write. */
static int check_ending(const char *output, struct why *w)
{
    const char *slash = strrchr(output, '/'), *base = slash ? slash + 1 : output,
               *dot = strrchr(base, '.');
    struct buffer known = { 0 };
    if (format_of(output) || !dot || dot == base)
        return 0;
    for (int i = 0; i < COUNT(endings); i++)
        buffer_printf(&known, "%s%s", i ? ", " : "", endings[i].ending);
    why_fail(w, WHY_INVALID, "%s: unknown ending %s; expected %s, or --format", output, dot,
             buffer_text(&known));
    buffer_done(&known);
    return -1;
}

static const char *ending_of(const char *format)
{
    for (int i = 0; i < COUNT(endings); i++)
        if (!strcmp(endings[i].format, format))
            return endings[i].ending;
    return "";
}

static bool is_picture(const char *format, enum graph_image *ret_image)
{
    *ret_image = !strcmp(format, "png")   ? GRAPH_PNG
                 : !strcmp(format, "pdf") ? GRAPH_PDF
                                          : GRAPH_SVG;
    return *ret_image != GRAPH_SVG || !strcmp(format, "svg");
}

static bool is_graph(const char *format)
{
    return strcmp(format, "spec") != 0 && strcmp(format, "json") != 0;
}

static int put_picture(const struct model *m, const char *name,
                       const struct graph_dump_options *options, enum graph_image image, FILE *to,
                       struct why *w)
{
    struct graph_picture picture;
    char *dot = NULL;
    int failed = graph_dump_text(m, name, options, &dot, w);
    if (!failed)
        failed = graph_layout_draw(dot, image, &picture, w);
    free(dot);
    if (failed)
        return why_prefix(w, "%s", name);
    if (*picture.remark)
        print_note("%s: %s", name, picture.remark);
    fwrite(picture.data, 1, picture.length, to);
    free(picture.data);
    return 0;
}

static int put_model(const char *format, const struct model *m, const char *name,
                     const struct graph_dump_options *options, FILE *to, struct why *w)
{
    enum graph_image image;
    if (is_picture(format, &image))
        return put_picture(m, name, options, image, to, w);
    return !strcmp(format, "graph") ? graph_dump_json(m, name, options, to, w)
                                    : graph_dump_dot(m, name, options, to, w);
}

/* ---- what the graph shows beside the model */

/* Of a case of the database that does not conform, the target is the recorded one. */
static const char *chosen_target(const struct dump *d)
{
    const struct options *o = &d->found->effective;
    return d->o->show_plan || !o->n_targets ? NULL : o->target[0];
}

static int note_target(const struct dump *d, struct dump_notes *n, const char *uri, struct why *w)
{
    struct dump_run run = { .ways = d->found->effective.ways, .values = d->o->values };
    struct why why;
    int failed = device_open(uri, d->o->timeout, &run.target, &why);
    if (failed && !d->o->n_targets) {
        print_note("%s: showing what the database has: %s", n->e->name, why.text);
        return dump_notes_recorded(n, d->o->db, n->e->name, uri, w);
    }
    if (failed) {
        *w = why;
        return -1;
    }
    failed = dump_notes_run(n, &run, w);
    target_free(run.target);
    return failed;
}

static int add_notes(const struct dump *d, struct dump_notes *n, struct why *w)
{
    const char *uri = chosen_target(d);
    struct why why;
    if (d->o->values && dump_notes_values(n, &why) < 0)
        print_note("%s: no values: %s", n->e->name, why.text);
    if (uri)
        TRY(note_target(d, n, uri, w));
    return d->o->show_plan ? dump_notes_plan(n, &d->devices, w) : 0;
}

static void set_style(const struct dump *d, struct graph_dump_options *options)
{
    options->fold = !d->o->unfold;
    if (d->o->style && !strcmp(d->o->style, "android"))
        options->style = GRAPH_STYLE_ANDROID;
}

static int put_graph(const struct dump *d, const struct example *e, FILE *to, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct dump_notes notes;
    if (!arena)
        return why_no_memory(w);
    int failed = dump_notes_begin(&notes, e, arena, w);
    if (!failed)
        failed = add_notes(d, &notes, w);
    if (!failed) {
        set_style(d, &notes.options);
        failed = put_model(d->format, &e->model, e->name, &notes.options, to, w);
    }
    arena_free(arena);
    return failed;
}

static int put_example(const struct dump *d, const struct example *e, FILE *to, struct why *w)
{
    if (is_graph(d->format))
        return put_graph(d, e, to, w);
    if (!strcmp(d->format, "spec"))
        return specs_write_modpy(e, NULL, to, w);
    TRY(specs_write_json(e, to, w));
    fputs("\n", to);
    return 0;
}

/* ---- cases */

/* Applies --for-level: converts the model to that feature level.  Its results, and so the expected
 * outputs, stay the same. */
static int express(const struct options *o, struct example *e, struct arena *a, struct why *w)
{
    struct conversion c;

    if (!o->for_level)
        return 0;
    if (model_convert(&e->model, o->for_level, a, &c, w) < 0)
        return why_prefix(w, "%s: not representable at feature level %d", e->name, o->for_level);
    for (uint32_t i = 0; i < c.n_notes; i++)
        print_note("%s: %s%s", e->name, c.note[i].lost ? "lost: " : "", c.note[i].text);
    e->model = c.model;
    return 0;
}

/* A file can hold several examples only as JSON lines; in other formats the first one is written.
 */
static int choose(const struct dump *d, struct cases *c, struct why *w)
{
    const char *what = d->o->argument[0];
    REQUIRE(w, c->n, "%s: no case to write: expected a file that can be loaded", what);
    if (c->n == 1 || !strcmp(d->format, "json"))
        return 0;
    char first[CASE_NAME], second[CASE_NAME];
    cases_name(c, 0, first);
    cases_name(c, 1, second);
    print_note(
        "%s: writing only the first of %llu examples, %s; --case selects another, such as %s", what,
        (unsigned long long) c->n, first, second);
    c->n = 1;
    return 0;
}

static int put_case(const struct dump *d, uint64_t i, FILE *to, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    if (!arena)
        return why_no_memory(w);
    int failed = cases_get(&d->found->cases, i, arena, &e, w);
    if (!failed)
        failed = express(d->o, &e, arena, w);
    if (!failed)
        failed = put_example(d, &e, to, w);
    arena_free(arena);
    return failed;
}

/* Writes the cases from..end to a file, complete or not at all; path NULL: to stdout. */
static int write_cases(const struct dump *d, uint64_t from, uint64_t end, const char *path,
                       struct why *w)
{
    char *text = NULL;
    size_t length = 0;
    int failed = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    for (uint64_t i = from; !failed && i < end; i++)
        failed = put_case(d, i, memory, w);
    if (fclose(memory) != 0 && !failed)
        failed = why_no_memory(w);
    if (!failed)
        failed = output_file_write(path, text, length, w);
    free(text);
    return failed;
}

/* ---- a folder */

static bool is_folder(const char *path)
{
    struct stat s;
    return path && stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

/* Makes the folders of a path. */
static int make_folders(char *path, struct why *w)
{
    for (char *at = path + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        int failed = mkdir(path, 0777) < 0 && errno != EEXIST ? why_file(w, path, errno) : 0;
        *at = '/';
        if (failed)
            return -1;
    }
    return 0;
}

/* A file for each case, named as it is: FOLDER/V1_2/add/add_2.svg.  One that cannot be drawn is
 * reported, and the others follow. */
static int write_folder(const struct dump *d, int *ret_status, struct why *w)
{
    uint64_t written = 0;
    REQUIRE(w, d->found->cases.n || d->found->cases.n_unloaded, "%s: no model in it",
            d->o->argument[0]);
    for (uint64_t i = 0; i < d->found->cases.n; i++) {
        char name[CASE_NAME], *path = NULL;
        struct why why = { 0 };
        cases_name(&d->found->cases, i, name);
        const char *short_name = strncmp(name, "spec/", 5) ? name : name + 5;
        if (asprintf(&path, "%s/%s%s", d->o->output, short_name, ending_of(d->format)) < 0)
            return why_no_memory(w);
        int failed = make_folders(path, &why);
        if (!failed)
            failed = write_cases(d, i, i + 1, path, &why);
        if (failed) {
            int status = print_error(d->o, &why);
            *ret_status = status > *ret_status ? status : *ret_status;
        }
        written += !failed;
        free(path);
    }
    print_note("wrote %llu of %llu models to %s", (unsigned long long) written,
               (unsigned long long) d->found->cases.n, d->o->output);
    return 0;
}

/* ---- two models */

static int get_one(struct cases *c, const struct options *o, const char *what, struct arena *a,
                   struct example *ret, struct why *w)
{
    TRY(cases_open(c, what, o->case_glob, w));
    TRY(cases_validate(c, w));
    REQUIRE(w, c->n == 1, "%s: expected one model, found %llu (--case selects one)", what,
            (unsigned long long) c->n);
    TRY(cases_get(c, 0, a, ret, w));
    return express(o, ret, a, w);
}

/* The text, to stdout unless that is where the graph goes; the graph to the file of -o. */
static int write_difference(const struct dump *d, const struct graph_difference *diff,
                            const char *name, struct arena *a, struct why *w)
{
    struct graph_dump_options options;
    struct model merged;
    char *text = NULL;
    size_t length = 0;
    if (!d->o->output && !d->o->format) {
        graph_diff_print(diff, stdout);
        return 0;
    }
    TRY(graph_diff_merge(diff, a, &merged, &options, w));
    set_style(d, &options);
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    int failed = put_model(d->format, &merged, name, &options, memory, w);
    if (fclose(memory) != 0 && !failed)
        failed = why_no_memory(w);
    if (!failed)
        failed = output_file_write(d->o->output, text, length, w);
    free(text);
    if (!failed && d->o->output)
        graph_diff_print(diff, stdout);
    return failed;
}

static int compare(const struct dump *d, int *ret_status, struct why *w)
{
    struct cases cases[2] = { { 0 }, { 0 } };
    struct example e[2];
    struct graph_difference diff;
    struct arena *a = arena_new(0);
    char *name = NULL;
    int failed = a ? 0 : why_no_memory(w);
    for (int i = 0; !failed && i < 2; i++)
        failed = get_one(&cases[i], d->o, d->o->argument[i], a, &e[i], w);
    if (!failed)
        failed = graph_diff(&e[0].model, &e[1].model, a, &diff, w);
    if (!failed) {
        name = arena_printf(a, "A: %s, B: %s", e[0].name, e[1].name);
        failed = name ? write_difference(d, &diff, name, a, w) : why_no_memory(w);
    }
    if (!failed && diff.is_different)
        *ret_status = EXIT_NOT_CONFORMING;
    cases_done(&cases[0]);
    cases_done(&cases[1]);
    arena_free(a);
    return failed;
}

/* ---- the command */

/* A name that is no file is looked up in the database of --db, for the targets on which it failed.
 * Without the file of --from, a mutation is read from the specification in the database. */
static int open_cases(struct found_case *p, struct why *w)
{
    const struct options *o = p->o;
    const char *what = o->argument[0];
    if (o->db_given && access(what, F_OK) != 0) {
        TRY(found_case_look_up(p, what, w));
        if (p->in_database && strncmp(what, "random/", 7) != 0) {
            recorded_case_done(&p->found);
            return found_case_find(p, w);
        }
        if (p->in_database)
            TRY(found_case_use_options(p, w));
    }
    TRY(cases_open(&p->cases, what, o->case_glob, w));
    if (!p->cases.graphs.from_digest || o->from.n)
        return drawn_for_name(o, &p->cases, w);
    cases_done(&p->cases);
    recorded_case_done(&p->found);
    p->effective.n_targets = o->n_targets;
    return found_case_find(p, w);
}

static int check_options(const struct dump *d, bool to_folder, struct why *w)
{
    const struct options *o = d->o;
    const bool notes = o->n_targets || o->show_plan || o->values;
    TRY(options_expect(o, 1, 2, "PATH", w));
    REQUIRE(w, !o->show_plan || o->n_targets, "--plan: missing option -d TARGET");
    REQUIRE(w, o->show_plan || o->n_targets < 2,
            "-d: expected one target to run the operations on, found %u (--plan takes several)",
            o->n_targets);
    REQUIRE(w, !notes || is_graph(d->format),
            "%s: the format %s has the model only; expected dot, svg, png, pdf or graph",
            o->show_plan ? "--plan"
            : o->values  ? "--values"
                         : "-d",
            d->format);
    REQUIRE(w, (!o->style && !o->unfold) || (is_graph(d->format) && strcmp(d->format, "graph")),
            "%s: the format %s is not drawn; expected dot, svg, png or pdf",
            o->style ? "--style" : "--unfold", d->format);
    REQUIRE(w, !notes || o->n_arguments == 1,
            "-d, --plan and --values: expected one PATH, found two, which are compared");
    REQUIRE(w, o->n_arguments == 1 || is_graph(d->format),
            "two models are compared: expected the format dot, svg, png, pdf or graph, found %s",
            d->format);
    REQUIRE(w, !to_folder || o->output,
            "%s: a folder; expected -o FOLDER, for a file of each model", o->argument[0]);
    REQUIRE(w,
            o->output || !isatty(STDOUT_FILENO) ||
                (strcmp(d->format, "png") != 0 && strcmp(d->format, "pdf") != 0),
            "%s on a terminal; expected -o FILE", d->format);
    return 0;
}

static int dump(struct dump *d, int *ret_status, struct why *w)
{
    const struct options *o = d->o;
    const char *what = o->n_arguments ? o->argument[0] : NULL;
    const bool as_lines = o->format && !strcmp(o->format, "json");
    const bool to_folder =
        !as_lines && o->n_arguments == 1 &&
        (is_folder(what) || is_folder(o->output) || (o->output && ends_with(o->output, "/")));
    if (o->output && !o->format && !to_folder)
        TRY(check_ending(o->output, w));
    d->format = o->format              ? o->format
                : to_folder            ? "svg"
                : format_of(o->output) ? format_of(o->output)
                                       : "dot";
    TRY(check_options(d, to_folder, w));
    if (o->n_arguments == 2)
        return compare(d, ret_status, w);
    TRY(open_cases(d->found, w));
    console_unloaded(&d->found->cases, stderr);
    if (o->show_plan)
        TRY(plan_devices_open(o->target, o->n_targets, o->timeout, &d->devices, w));
    if (to_folder)
        return write_folder(d, ret_status, w);
    TRY(choose(d, &d->found->cases, w));
    return write_cases(d, 0, d->found->cases.n, o->output, w);
}

int cmd_dump(const struct options *o)
{
    struct found_case p = { .o = o, .effective = *o };
    struct dump d = { .found = &p, .o = o };
    struct why why = { 0 };
    int status = EXIT_CONFORMING;
    int failed = dump(&d, &status, &why);
    plan_devices_close(&d.devices);
    if (failed < 0)
        status = print_error(o, &why);
    else if (o->n_arguments == 1)
        status = unloaded_status(o, &p.cases, status);
    found_case_done(&p);
    return status;
}
