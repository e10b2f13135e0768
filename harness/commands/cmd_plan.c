/* halcyon plan: how the runtime would partition a model over devices. */
#include <stdlib.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "harness/cases/drawn_for.h"
#include "harness/check/cases.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/plan/shown_plan.h"
#include "reports/graph/graph_layout.h"

/* The plan as DOT, malloced. */
static int plan_dot(const struct shown_plan *p, struct arena *a, char **ret_text, struct why *w)
{
    size_t length;
    FILE *to = open_memstream(ret_text, &length);
    if (!to)
        return why_no_memory(w);
    int failed = shown_plan_print_dot(p, a, to, w);
    if (fclose(to) && !failed)
        failed = why_no_memory(w);
    return failed;
}

static int draw(const struct options *o, const struct shown_plan *p, struct arena *a, struct why *w)
{
    char *dot = NULL, *svg = NULL;
    int failed = plan_dot(p, a, &dot, w);
    if (!failed && o->svg)
        failed = graph_layout_svg(dot, -1, NULL, &svg, w);
    if (!failed && o->dot)
        failed = output_file_write(o->dot, dot, strlen(dot), w);
    if (!failed && o->svg)
        failed = output_file_write(o->svg, svg, strlen(svg), w);
    free(dot);
    free(svg);
    return failed;
}

static int show(const struct options *o, const struct cases *c, uint64_t i,
                const struct plan_devices *devices, bool *is_first, int *ret_status, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    struct shown_plan p;
    char name[CASE_NAME];

    if (!arena)
        return why_no_memory(w);
    cases_name(c, i, name);
    int failed = cases_get(c, i, arena, &e, w);
    if (!failed && shown_plan_make(name, &e.model, devices, o->preference, arena, &p, w) < 0)
        failed = why_prefix(w, "%s", name);
    bool is_planned = !failed && p.result == ANEURALNETWORKS_NO_ERROR;
    if (!failed && (o->dot || o->svg) && !is_planned)
        failed = why_fail(w, WHY_INVALID, "%s: nothing to draw: %s", name, p.why.text);
    else if (!failed && (o->dot || o->svg))
        failed = draw(o, &p, arena, w);
    if (!failed && o->json) {
        shown_plan_print_json(&p, stdout);
    } else if (!failed) {
        fputs(*is_first ? "" : "\n", stdout);
        shown_plan_print(&p, stdout);
        *is_first = false;
    }
    if (!failed && p.result == ANEURALNETWORKS_BAD_DATA)
        *ret_status = EXIT_NOT_CONFORMING;
    arena_free(arena);
    return failed;
}

/* Models that break a rule are reported, and set *ret_status; the others follow. */
static int plan(const struct options *o, struct cases *c, struct plan_devices *devices,
                int *ret_status, struct why *w)
{
    char first[CASE_NAME];
    bool is_first = true;

    TRY(options_expect(o, 1, 1, "PATH", w));
    REQUIRE(w, o->n_targets, "missing option -d TARGET");
    TRY(cases_open(c, o->argument[0], o->case_glob, w));
    TRY(drawn_for_name(o, c, w));
    if (c->n > 1)
        cases_name(c, 0, first);
    REQUIRE(w, c->n == 1 || !(o->dot || o->svg),
            "%s: %llu examples, of which one can be drawn: --case selects it, such as %s",
            o->argument[0], (unsigned long long) c->n, c->n ? first : "none");
    TRY(plan_devices_open(o->target, o->n_targets, o->timeout, devices, w));
    for (uint64_t i = 0; i < c->n; i++) {
        struct why why = { 0 };
        if (show(o, c, i, devices, &is_first, ret_status, &why) < 0)
            *ret_status = print_error(o, &why);
    }
    fflush(stdout);
    console_unloaded(c, stderr);
    *ret_status = unloaded_status(o, c, *ret_status);
    return 0;
}

int cmd_plan(const struct options *o)
{
    struct cases cases = { 0 };
    struct plan_devices devices = { 0 };
    struct why why = { 0 };
    int status = EXIT_CONFORMING;
    int failed = plan(o, &cases, &devices, &status, &why);

    plan_devices_close(&devices);
    cases_done(&cases);
    return failed < 0 ? print_error(o, &why) : status;
}
