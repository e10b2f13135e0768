/* halcyon probe: what a target supports, as a file that random graphs can be drawn for. */
#include <stdio.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "harness/cli/options.h"
#include "harness/commands/commands.h"
#include "harness/run/devices.h"
#include "harness/run/support_probe.h"

static int probe(const struct options *o, struct support_probe *p, struct why *w)
{
    const struct support_probe_options options = { o->timeout, o->jobs, o->in_process };
    struct device_facts facts;
    TRY(options_expect(o, 1, 1, "TARGET", w));
    const char *uri = o->argument[0];
    if (o->output)
        TRY(output_file_check(o->output, w));
    if (device_probe(uri, o->timeout, &facts, w) != 0)
        return -1;
    TRY(support_probe(uri, &options, p, w));
    if (!p->set)
        return why_fail(w, WHY_INVALID, "%s: %s", uri, p->note);
    uint32_t ops, rows;
    randgraph_support_count(p->set, &ops, &rows);
    text_put(stderr, TEXT_TERMINAL, uri, 0);
    fprintf(stderr,
            ": support set %016llx: %u operations, %u of %u combinations of form and types; %llu "
            "models in %.2f s\n",
            (unsigned long long) randgraph_support_digest(p->set), ops, rows,
            randgraph_probe_rows(), (unsigned long long) p->asked, p->seconds);
    if (p->note[0])
        fprintf(stderr, "  %s\n", p->note);
    const char *text = randgraph_support_text(p->set);
    return output_file_write(o->output, text, strlen(text), w);
}

int cmd_probe(const struct options *o)
{
    struct support_probe p = { .set = NULL };
    struct why why = { 0 };
    int failed = probe(o, &p, &why);
    randgraph_support_free(p.set);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
