/* halcyon dump: a model as a graph, a specification or a corpus line. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/cases/drawn_for.h"
#include "harness/cases/found_case.h"
#include "harness/check/buffer.h"
#include "harness/check/cases.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "reports/reports.h"
#include "specs/specs.h"

static int put_example(const char *format, const struct example *e, FILE *to, struct why *w)
{
    if (!format || !strcmp(format, "dot"))
        return graph_dump_dot(&e->model, e->name, NULL, to, w);
    if (!strcmp(format, "svg")) {
        char *svg;
        TRY(graph_dump_svg(&e->model, e->name, NULL, &svg, w));
        fputs(svg, to);
        free(svg);
        return 0;
    }
    if (!strcmp(format, "spec"))
        return specs_write_modpy(e, NULL, to, w);
    TRY(specs_write_json(e, to, w));
    fputs("\n", to);
    return 0;
}

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
static int choose(const struct options *o, struct cases *c, struct why *w)
{
    const char *what = o->argument[0];
    REQUIRE(w, c->n, "%s: no case to write: expected a file that can be loaded", what);
    if (c->n == 1 || (o->format && !strcmp(o->format, "json")))
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

static int put_cases(const struct options *o, const struct cases *c, FILE *to, struct why *w)
{
    struct arena *arena = arena_new(0);
    if (!arena)
        return why_no_memory(w);
    int failed = 0;
    for (uint64_t i = 0; !failed && i < c->n; i++) {
        struct example e;
        failed = cases_get(c, i, arena, &e, w);
        if (!failed)
            failed = express(o, &e, arena, w);
        if (!failed)
            failed = put_example(o->format, &e, to, w);
    }
    arena_free(arena);
    return failed;
}

/* Without the file of --from, a mutation is read from the specification in the database. */
static int open_cases(struct found_case *p, struct why *w)
{
    const struct options *o = p->o;
    TRY(cases_open(&p->cases, o->argument[0], o->case_glob, w));
    if (!p->cases.graphs.from_digest || o->from.n)
        return drawn_for_name(o, &p->cases, w);
    cases_done(&p->cases);
    return found_case_find(p, w);
}

static int dump(struct found_case *p, struct why *w)
{
    const struct options *o = p->o;
    struct cases *c = &p->cases;
    TRY(options_expect(o, 1, 1, "PATH", w));
    TRY(open_cases(p, w));
    console_unloaded(c, stderr);
    TRY(choose(o, c, w));
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    int failed = put_cases(o, c, memory, w);
    if (fclose(memory) != 0 && !failed)
        failed = why_no_memory(w);
    if (!failed)
        failed = output_file_write(o->output, text, length, w); /* complete, or nothing */
    free(text);
    return failed;
}

int cmd_dump(const struct options *o)
{
    struct found_case p = { .o = o, .effective = *o };
    struct why why = { 0 };
    int failed = dump(&p, &why);
    int status = failed < 0 ? print_error(o, &why) : unloaded_status(o, &p.cases, EXIT_CONFORMING);
    found_case_done(&p);
    return status;
}
