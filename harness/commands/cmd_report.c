/* halcyon report: the results database as a site, a summary, and files for other programs. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/bench/bench_base.h"
#include "harness/cases/found_case.h"
#include "harness/commands/commands.h"
#include "harness/explain/hypotheses.h"
#include "harness/store/run_export.h"
#include "reports/reports.h"

enum { LOAD_SECONDS = 2 }; /* to load the specification of a bug, of which the graph is drawn */

/* Loads a stored specification, in the confined process that loads all specifications. */
static int load_spec(void *user, const char *spec, struct arena *a, struct example *ret_example,
                     struct why *w)
{
    struct cases c = { 0 };
    (void) user;
    int failed = cases_load_text(&c, spec, "a bug", w);
    if (!failed) {
        *ret_example = (struct example){ 0 };
        failed = model_copy(&c.spec[0].example.model, a, &ret_example->model);
        if (failed)
            why_no_memory(w);
    }
    cases_done(&c);
    return failed;
}

int report_write_site(const char *db, const char *folder, struct why *w)
{
    const struct report_options options = { .load = load_spec };
    cases_limit_loading(LOAD_SECONDS, 0);
    return report_write(db, folder, &options, w);
}

int report_print_summary(const char *db, FILE *to, struct why *w)
{
    const struct report_options options = { .load = load_spec };
    return report_summary(db, false, &options, to, w);
}

static int write_site(const struct options *o, const struct report_options *r, struct why *w)
{
    cases_limit_loading(LOAD_SECONDS, 0);
    TRY(report_write(o->db, o->output, r, w));
    if (o->text || o->markdown)
        return 0; /* stdout has the summary */
    text_put(stdout, TEXT_TERMINAL, o->output, 0);
    puts("/index.html");
    return 0;
}

static int write_report(const struct options *o, struct bench_base *base, struct why *w)
{
    struct report_options options = {
        .run = o->run, .load = load_spec, .meaning = hypothesis_sentence, .database = o->db_shown
    };
    struct results *r;
    TRY(options_expect(o, 0, 0, "", w));
    bool exports = o->junit || o->json_file || o->tap || o->csv;
    REQUIRE(w, o->output || exports || o->text || o->markdown,
            "missing option -o DIR, the folder to write to, or --text, --markdown, --junit, "
            "--json-file, --tap or --csv FILE");
    REQUIRE(w, !o->text || !o->markdown, "--text and --markdown exclude each other");
    if (o->against) /* checks that there are benchmarks */
        TRY(bench_base_open(o->against, o->db, base, w));
    options.against = base->path;
    options.against_run = base->run;
    TRY(results_look_for(o->db, w));
    TRY(export_check(o, w));
    TRY(results_open(o->db, RESULTS_READ, &r, w)); /* also checks that it is a results database */
    int failed = export_write(r, o, o->run, NULL, w);
    results_close(r);
    if (!failed && o->output)
        failed = write_site(o, &options, w);
    if (!failed && (o->text || o->markdown))
        failed = report_summary(o->db, o->markdown, &options, stdout, w);
    return failed;
}

int cmd_report(const struct options *o)
{
    struct why why = { 0 };
    struct bench_base base = { 0 };
    int failed = write_report(o, &base, &why);
    bench_base_close(&base);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
