/* JUnit XML, which CI servers read: a testsuite per target. */
#include <jansson.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/check/blame.h"
#include "harness/store/run_export.h"

static void put_escaped(FILE *to, const char *text)
{
    text_put(to, TEXT_XML, text, 0);
}

static void put_attribute(FILE *to, const char *name, const char *text)
{
    fprintf(to, " %s=\"", name);
    put_escaped(to, text);
    putc('"', to);
}

/* What JUnit makes of a verdict: conforming ones without a comparison are skipped. */
enum junit_kind { PASSED, SKIPPED, FAILURE, ERROR, N_KINDS };

static enum junit_kind kind_of(enum verdict v)
{
    if (v == VERDICT_PASS)
        return PASSED;
    if (verdict_conforming(v))
        return SKIPPED;
    return v == VERDICT_FAIL || v == VERDICT_VIOLATION || v == VERDICT_FLAKY ? FAILURE : ERROR;
}

/* ---- suites */

static void put_counts(FILE *to, const uint64_t n[N_KINDS], double seconds)
{
    fprintf(to, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"%llu\" time=\"%.6f\"",
            (unsigned long long) (n[PASSED] + n[SKIPPED] + n[FAILURE] + n[ERROR]),
            (unsigned long long) n[FAILURE], (unsigned long long) n[ERROR],
            (unsigned long long) n[SKIPPED], seconds);
}

static void add_counts(const struct totals *totals, uint64_t n[N_KINDS])
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        n[kind_of((enum verdict) v)] += totals->n[v];
}

static void begin(struct export_run *x)
{
    uint64_t n[N_KINDS] = { [ERROR] = x->n_unloaded };
    double seconds = 0;
    for (uint32_t t = 0; t < x->run->n_targets; t++) {
        add_counts(&x->totals[t], n);
        seconds += x->seconds[t];
    }
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"halcyon\"", x->to);
    put_counts(x->to, n, seconds);
    fputs(">\n", x->to);
}

static void put_property(FILE *to, const char *name, const char *value)
{
    if (!value || !*value)
        return;
    fputs("      <property", to);
    put_attribute(to, "name", name);
    put_attribute(to, "value", value);
    fputs("/>\n", to);
}

static void put_properties(const struct export_run *x, const struct described_target *t)
{
    char number[24];
    char compared[24];
    json_t *options = json_loads(x->run->options, 0, NULL);
    snprintf(number, sizeof number, "%lld", (long long) x->run->run);
    snprintf(compared, sizeof compared, "%llu", (unsigned long long) x->totals[x->target].compared);
    fputs("    <properties>\n", x->to);
    put_property(x->to, "target", t->uri);
    put_property(x->to, "driver", t->name);
    put_property(x->to, "driver version", t->version);
    put_property(x->to, "device type", t->type);
    put_property(x->to, "HAL version", t->hal);
    put_property(x->to, "halcyon version", x->run->version);
    put_property(x->to, "run", number);
    put_property(x->to, "command", x->run->command);
    put_property(x->to, "options", x->run->options);
    put_property(x->to, "seed", json_string_value(json_object_get(options, "seed")));
    put_property(x->to, "judge", x->run->judge);
    put_property(x->to, "elements compared", compared);
    fputs("    </properties>\n", x->to);
    json_decref(options);
}

static void begin_target(struct export_run *x)
{
    const struct described_target *t = &x->run->target[x->target];
    uint64_t n[N_KINDS] = { 0 };
    add_counts(&x->totals[x->target], n);
    fputs("  <testsuite", x->to);
    put_attribute(x->to, "name", t->uri);
    put_counts(x->to, n, x->seconds[x->target]);
    fprintf(x->to, " timestamp=\"%.19s\"", x->run->started); /* without fractions and zone: UTC */
    if (x->host)
        put_attribute(x->to, "hostname", x->host);
    fputs(">\n", x->to);
    put_properties(x, t);
}

static void end_target(struct export_run *x)
{
    fputs("  </testsuite>\n", x->to);
}

/* ---- cases */

static void put_output(FILE *to, const char *element, const char *text)
{
    if (!text)
        return;
    fprintf(to, "      <%s>", element);
    put_escaped(to, text);
    fprintf(to, "</%s>\n", element);
}

static void put_result(FILE *to, enum junit_kind kind, const struct recorded_verdict *v)
{
    static const char *const elements[N_KINDS] = {
        [SKIPPED] = "skipped",
        [FAILURE] = "failure",
        [ERROR] = "error",
    };
    fprintf(to, "      <%s message=\"%s: ", elements[kind], verdict_name[v->verdict]);
    put_escaped(to, v->why);
    putc('"', to);
    if (kind != SKIPPED) /* which has no type in the schemas of CI servers */
        put_attribute(to, "type", verdict_name[v->verdict]);
    putc('>', to);
    put_escaped(to, v->replay);
    char blamed[BLAMED_TEXT];
    if (kind != SKIPPED && *blamed_text(&v->blamed, blamed, sizeof blamed)) {
        fputs("&#10;blamed: ", to);
        put_escaped(to, blamed);
    }
    if (v->confirmed) {
        fputs("&#10;run again: ", to);
        put_escaped(to, v->confirmed);
    }
    fprintf(to, "</%s>\n", elements[kind]);
}

static void put_verdict(struct export_run *x, const struct recorded_verdict *v)
{
    enum junit_kind kind = kind_of(v->verdict);
    fputs("    <testcase", x->to);
    put_attribute(x->to, "name", v->name);
    put_attribute(x->to, "classname", v->target);
    fprintf(x->to, " time=\"%.6f\"", v->ms * 1e-3);
    if (kind == PASSED) {
        fputs("/>\n", x->to);
        return;
    }
    fputs(">\n", x->to);
    put_result(x->to, kind, v);
    put_output(x->to, "system-out", v->printed);
    put_output(x->to, "system-err", v->backtrace);
    fputs("    </testcase>\n", x->to);
}

/* ---- files that could not be loaded: a suite of its own, after those of the targets */

static void put_unloaded(struct export_run *x, const char *file, const char *why)
{
    uint64_t n[N_KINDS] = { [ERROR] = x->n_unloaded };
    if (x->target != MAX_TARGETS) {
        fputs("  <testsuite name=\"files that could not be loaded\"", x->to);
        put_counts(x->to, n, 0);
        fputs(">\n", x->to);
    }
    x->target = MAX_TARGETS;
    fputs("    <testcase", x->to);
    put_attribute(x->to, "name", file);
    fputs(" classname=\"load\" time=\"0\">\n      <error type=\"load\"", x->to);
    put_attribute(x->to, "message", why);
    fputs("/>\n    </testcase>\n", x->to);
}

static void end(struct export_run *x)
{
    if (x->n_unloaded)
        end_target(x);
    fputs("</testsuites>\n", x->to);
}

const struct export_writer export_junit = { begin,      begin_target, put_verdict,
                                            end_target, put_unloaded, end };
