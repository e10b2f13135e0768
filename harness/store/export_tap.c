/* TAP 14 (the Test Anything Protocol): a test point per case and target.  A waived failure is "not
 * ok" with the directive for expected failures; a conforming verdict without a comparison is
 * skipped.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/check/blame.h"
#include "harness/store/run_export.h"

static void begin(struct export_run *x)
{
    uint64_t n = x->n_unloaded;
    for (uint32_t t = 0; t < x->run->n_targets; t++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            n += x->totals[t].n[v];
    fprintf(x->to, "TAP version 14\n1..%llu\n", (unsigned long long) n);
}

/* A line of the YAML block: a JSON string is a YAML scalar. */
static void put_pair(FILE *to, const char *key, const char *value)
{
    char *shown = value && *value ? text_escaped(TEXT_LINES, value) : NULL;
    json_t *string = shown ? json_string(shown) : NULL;
    char *scalar = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
    if (scalar)
        fprintf(to, "  %s: %s\n", key, scalar);
    free(scalar);
    json_decref(string);
    free(shown);
}

static void put_point(struct export_run *x, bool ok, const char *first, const char *second)
{
    fprintf(x->to, "%s %llu - ", ok ? "ok" : "not ok", (unsigned long long) x->n + 1);
    text_put(x->to, TEXT_TAP, first, 0);
    fputs(": ", x->to);
    text_put(x->to, TEXT_TAP, second, 0);
}

static void put_directive(struct export_run *x, const char *directive, const char *why)
{
    fprintf(x->to, " # %s ", directive);
    text_put(x->to, TEXT_TAP, why, 0);
}

static void put_block(struct export_run *x, const struct recorded_verdict *v)
{
    char text[BLAMED_TEXT];
    fputs("  ---\n", x->to);
    put_pair(x->to, "verdict", verdict_name[v->verdict]);
    put_pair(x->to, "message", v->why);
    put_pair(x->to, "stage", v->stage);
    put_pair(x->to, "status", v->status);
    put_pair(x->to, "operation", v->operation);
    put_pair(x->to, "blamed", blamed_text(&v->blamed, text, sizeof text));
    put_pair(x->to, "replay", v->replay);
    put_pair(x->to, "confirmed", v->confirmed);
    put_pair(x->to, "printed", v->printed);
    put_pair(x->to, "backtrace", v->backtrace);
    fprintf(x->to, "  duration_ms: %.3f\n  ...\n", v->ms);
}

static void put_verdict(struct export_run *x, const struct recorded_verdict *v)
{
    static const char expected_failure[] = "TO"
                                           "DO";
    bool waived = v->verdict == VERDICT_WAIVED && v->was != VERDICT_WAIVED;
    bool conforming = verdict_conforming(v->verdict);
    put_point(x, conforming && !waived, v->target, v->name);
    if (waived)
        put_directive(x, expected_failure, v->why);
    else if (conforming && v->verdict != VERDICT_PASS)
        put_directive(x, "SKIP", *v->why ? v->why : verdict_name[v->verdict]);
    putc('\n', x->to);
    if (!conforming || waived)
        put_block(x, v);
}

static void put_unloaded(struct export_run *x, const char *file, const char *why)
{
    put_point(x, false, "load", file);
    fputs("\n  ---\n", x->to);
    put_pair(x->to, "message", why);
    fputs("  ...\n", x->to);
}

const struct export_writer export_tap = { .begin = begin,
                                          .verdict = put_verdict,
                                          .unloaded = put_unloaded };
