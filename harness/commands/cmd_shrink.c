/* halcyon shrink: a failing case, made as small and plain as it can be. */
#include <stdlib.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/cases/found_case.h"
#include "harness/check/buffer.h"
#include "harness/cli/console.h"
#include "harness/commands/commands.h"
#include "harness/run/devices.h"
#include "harness/shrink/shrink.h"

/* Prints a line on stderr, without what could control a terminal. */
__attribute__((format(printf, 2, 3))) static void print_line(const struct options *o,
                                                             const char *fmt, ...)
{
    struct buffer b = { 0 };
    va_list args;
    va_start(args, fmt);
    buffer_vprintf(&b, fmt, args);
    va_end(args);
    if (o->verbosity >= 0) {
        text_put(stderr, TEXT_TERMINAL, buffer_text(&b), 0);
        putc('\n', stderr);
    }
    buffer_done(&b);
}

static void print_result(const struct options *o, const struct shrunk *s)
{
    static const char *const because[] = {
        [SHRINK_COMPLETE] = "nothing can be reduced any more",
        [SHRINK_EXECUTIONS] = "the executions are used up (--executions)",
        [SHRINK_SECONDS] = "the time is over (--seconds): another run may end with another case",
        [SHRINK_STOPPED] = "interrupted",
    };
    print_line(o, "%u operation%s, %zu element%s in the largest operand: %s", s->n_operations,
               s->n_operations == 1 ? "" : "s", s->n_elements, s->n_elements == 1 ? "" : "s",
               s->structure);
    print_line(o, "%llu executions, %llu deaths of the driver's process, %.1f s: %s",
               (unsigned long long) s->executions, (unsigned long long) s->deaths, s->seconds,
               because[s->end]);
}

/* Writes the complete text, so that a failure leaves no partial file. */
static int write_shrunk(const struct options *o, const struct shrunk *s,
                        const struct shrink_request *request, struct why *w)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (!memory)
        return why_no_memory(w);
    int failed = shrunk_write(s, request, request->example->name, o->output, memory, w);
    if (fclose(memory) != 0 && !failed)
        failed = why_no_memory(w);
    if (!failed)
        failed = output_file_write(o->output, text, length, w);
    free(text);
    return failed;
}

static int shrink(struct found_case *p, const struct example *e, struct why *w)
{
    const struct options *o = &p->effective;
    struct device_facts facts;
    struct shrunk s;
    struct shrink_request request = { .example = e,
                                      .judge = o->judge,
                                      .ways = o->ways,
                                      .target = o->target[0],
                                      .timeout = o->timeout,
                                      .executions = o->executions,
                                      .seconds = o->seconds };
    TRY(device_probe(o->target[0], o->timeout, &facts, w));
    int failed = shrink_case(&request, &s, w);
    if (failed > 0)
        failed = why_fail(w, WHY_INVALID,
                          "%s: on %s, alone, the verdict is %s%s%.300s; expected a "
                          "case that fails",
                          e->name, o->target[0], verdict_name[s.first.verdict],
                          s.first.why[0] ? ": " : "", s.first.why);
    else if (failed == 0)
        failed = write_shrunk(o, &s, &request, w);
    if (failed == 0)
        print_result(o, &s);
    shrunk_done(&s);
    return failed;
}

static int find(struct found_case *p, struct why *w)
{
    const struct options *o = &p->effective;
    TRY(options_expect(o, 1, 1, "CASE or FILE", w));
    if (o->output)
        TRY(output_file_check(o->output, w));
    TRY(found_case_find(p, w));
    if (!p->cases.n && p->cases.n_unloaded)
        return why_fail(w, WHY_INVALID, "%s", p->cases.unloaded[0].why);
    TRY(cases_validate(&p->cases, w));
    if (!p->cases.n && p->cases.n_unloaded)
        return why_fail(w, WHY_INVALID, "%s", p->cases.unloaded[0].why);
    REQUIRE(w, p->cases.n == 1, "%s: expected one case, found %llu (--case NAME selects one)",
            o->argument[0], (unsigned long long) p->cases.n);
    REQUIRE(w, o->n_targets == 1, "expected one target, found %u (-d TARGET selects one)",
            o->n_targets);
    return 0;
}

int cmd_shrink(const struct options *o)
{
    struct found_case p = { .o = o, .effective = *o, .cases.keep_going = true };
    struct arena *arena = arena_new(0);
    struct example e;
    struct why why = { 0 };
    int failed = arena ? find(&p, &why) : why_no_memory(&why);
    if (failed == 0)
        failed = cases_get(&p.cases, 0, arena, &e, &why);
    if (failed == 0)
        failed = shrink(&p, &e, &why);
    found_case_done(&p);
    arena_free(arena);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
