/* halcyon explain: what a driver computed instead of the right results of a case. */
#include <jansson.h>
#include <stdio.h>

#include "golden/base/text_escape.h"
#include "harness/cases/found_case.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/explain/explain.h"
#include "harness/run/devices.h"

static int explain_on(const struct options *o, const struct example *e, const char *uri,
                      bool *ret_conforms, struct why *w)
{
    struct explain_options options = { .judge = o->judge,
                                       .ways = o->ways,
                                       .values = o->values,
                                       .element = o->element,
                                       .json = o->json ? json_object() : NULL };
    struct target *t = NULL;
    struct buffer text = { 0 };
    struct check_result r;
    int failed = device_open(uri, o->timeout, &t, w);

    if (!failed && o->second_opinion)
        failed = device_open(o->second_opinion, o->timeout, &options.second, w);
    if (!failed)
        failed = explain_case(e, t, &options, &text, &r, w);
    if (!failed) {
        if (!o->json)
            text_put(stdout, TEXT_LINES, buffer_text(&text), 0);
        else
            console_json_line(json_incref(options.json));
        *ret_conforms = *ret_conforms && verdict_conforming(r.verdict);
        if (r.verdict == VERDICT_ERROR)
            failed = why_fail(w, WHY_SYSTEM, "%s", r.why);
    }
    json_decref(options.json);
    buffer_done(&text);
    target_free(options.second);
    target_free(t);
    return failed;
}

static int explain_all(struct found_case *p, bool *ret_conforms, struct why *w)
{
    const struct options *o = &p->effective;
    struct arena *a = arena_new(0);
    struct example e;
    int failed = 0;

    if (!a)
        return why_no_memory(w);
    for (uint64_t i = 0; !failed && i < p->cases.n; i++) {
        failed = cases_get(&p->cases, i, a, &e, w);
        for (uint32_t t = 0; !failed && t < o->n_targets; t++) {
            if ((i || t) && !o->json)
                putchar('\n');
            failed = explain_on(o, &e, o->target[t], ret_conforms, w);
        }
    }
    arena_free(a);
    return failed;
}

static int explain(struct found_case *p, bool *ret_conforms, struct why *w)
{
    TRY(options_expect(p->o, 1, 1, "CASE or FILE", w));
    TRY(found_case_find(p, w));
    TRY(cases_validate(&p->cases, w));
    REQUIRE(w, p->effective.n_targets, "no target given; expected -d TARGET%s",
            p->in_database ? " (the recorded case conforms on all its targets)" : "");
    if (!p->cases.n && p->cases.n_unloaded)
        return why_fail(w, WHY_INVALID, "%s", p->cases.unloaded[0].why);
    return explain_all(p, ret_conforms, w);
}

int cmd_explain(const struct options *o)
{
    struct found_case p = { .o = o, .effective = *o, .cases.keep_going = true };
    struct why why = { 0 };
    bool conforms = true;
    int failed = explain(&p, &conforms, &why);

    found_case_done(&p);
    if (failed < 0)
        return print_error(o, &why);
    return conforms ? EXIT_CONFORMING : EXIT_NOT_CONFORMING;
}
