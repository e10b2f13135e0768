/* halcyon report: an HTML page about the results database. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/text_escape.h"
#include "harness/commands/commands.h"
#include "harness/store/run_export.h"
#include "reports/reports.h"

static int write_report(const struct options *o, struct why *w)
{
    struct results *r;
    TRY(options_expect(o, 0, 0, "", w));
    bool exports = o->junit || o->json_file || o->tap || o->csv;
    REQUIRE(w, o->output || exports,
            "missing option -o DIR, the folder to write to, or --junit, --json-file, --tap or "
            "--csv FILE");
    if (!o->db_given && access(o->db, F_OK) != 0)
        return why_fail(w, WHY_INVALID,
                        "%s: %s ('halcyon run' and 'halcyon random' write it; --db names another)",
                        o->db, strerror(errno));
    TRY(export_check(o, w));
    TRY(results_open(o->db, RESULTS_READ, &r, w)); /* also checks that it is a results database */
    int failed = export_write(r, o, o->run, NULL, w);
    results_close(r);
    if (failed || !o->output)
        return failed;
    TRY(report_write(o->db, o->output, o->run, w));
    text_put(stdout, TEXT_TERMINAL, o->output, 0);
    puts("/index.html");
    return 0;
}

int cmd_report(const struct options *o)
{
    struct why why = { 0 };
    return write_report(o, &why) < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
