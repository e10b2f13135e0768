/* halcyon levels: the feature level that models need, and the lowest they can be converted to. */
#include <jansson.h>

#include "golden/base/text_escape.h"
#include "harness/cases/drawn_for.h"
#include "harness/check/cases.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"

/* The levels of one model. */
struct finding {
    int need;
    struct why because;       /* why the level below does not suffice */
    struct conversion lowest; /* the model at the lowest level that it can be converted to */
    struct why bottom;        /* why it cannot be converted to the level below that */
};

static int find_levels(const struct model *m, struct arena *a, struct finding *ret, struct why *w)
{
    struct finding f = { 0 };

    f.need = model_prepare(m, NULL, w);
    TRY(f.need);
    if (f.need > 1)
        model_complies(m, f.need - 1, &f.because);
    int level = 1;
    for (; level <= f.need; level++) {
        struct why why = { 0 };
        if (model_convert(m, level, a, &f.lowest, &why) == 0)
            break;
        if (why.code != WHY_UNSUPPORTED) {
            *w = why;
            return -1;
        }
        f.bottom = why;
    }
    *ret = f;
    return 0;
}

static void print_line(const char *title, const char *text)
{
    fputs(title, stdout);
    text_put(stdout, TEXT_TERMINAL, text, 0);
    putchar('\n');
}

static void print_text(const char *name, const struct finding *f)
{
    const struct conversion *c = &f->lowest;

    text_put(stdout, TEXT_TERMINAL, name, 0);
    printf(": feature level %d (%s)\n", f->need, level_name(f->need));
    if (f->because.text[0])
        print_line("    ", f->because.text);
    if (c->level == f->need)
        return;
    printf("    can be converted to level %d (%s):\n", c->level, level_name(c->level));
    for (uint32_t i = 0; i < c->n_notes; i++)
        print_line(c->note[i].lost ? "        lost: " : "        ", c->note[i].text);
    if (f->bottom.text[0])
        print_line("    not to a lower one: ", f->bottom.text);
}

static void print_json(const char *name, const struct finding *f)
{
    const struct conversion *c = &f->lowest;
    json_t *notes = json_array();

    for (uint32_t i = 0; i < c->n_notes; i++)
        json_array_append_new(
            notes, json_pack("{s:b, s:s}", "lost", c->note[i].lost, "change", c->note[i].text));
    json_t *o = json_pack("{s:s, s:i, s:s, s:i, s:o}", "case", name, "level", f->need, "why",
                          f->because.text, "lowest", c->level, "changes", notes);
    json_dumpf(o, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(o);
}

static int show(const struct options *o, const struct cases *c, uint64_t i, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    struct finding f;
    char name[CASE_NAME];

    if (!arena)
        return why_no_memory(w);
    cases_name(c, i, name);
    int failed = cases_get(c, i, arena, &e, w);
    if (!failed && find_levels(&e.model, arena, &f, w) < 0)
        failed = why_prefix(w, "%s", name);
    if (!failed && o->json)
        print_json(name, &f);
    else if (!failed)
        print_text(name, &f);
    arena_free(arena);
    return failed;
}

/* Models without a level are reported, and set *ret_status; the others follow. */
static int levels(const struct options *o, struct cases *c, int *ret_status, struct why *w)
{
    TRY(options_expect(o, 1, 1, "PATH", w));
    TRY(cases_open(c, o->argument[0], o->case_glob, w));
    TRY(drawn_for_name(o, c, w));
    for (uint64_t i = 0; i < c->n; i++) {
        struct why why = { 0 };
        if (show(o, c, i, &why) == 0)
            continue;
        *ret_status = print_error(o, &why);
    }
    fflush(stdout);
    console_unloaded(c, stderr);
    *ret_status = unloaded_status(o, c, *ret_status);
    return 0;
}

int cmd_levels(const struct options *o)
{
    struct cases cases = { 0 };
    struct why why = { 0 };
    int status = EXIT_CONFORMING;
    int failed = levels(o, &cases, &status, &why);

    cases_done(&cases);
    return failed < 0 ? print_error(o, &why) : status;
}
