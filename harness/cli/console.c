#include "harness/cli/console.h"

#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/text_escape.h"
#include "harness/check/blame.h"
#include "harness/check/json_value.h"
#include "harness/cli/colour.h"
#include "harness/cli/screen.h"
#include "sim/hal/hal_convert.h"

double console_now(void)
{
    return (double) clock_steady_ns() * 1e-9;
}

struct console console_start(const struct options *o, uint64_t n_cases)
{
    return (struct console){ .json = o->json,
                             .shares_screen = isatty(STDOUT_FILENO) == 1,
                             .verbosity = o->verbosity,
                             .progress = progress_start(o, n_cases) };
}

void console_begin_print(const struct console *c)
{
    if (c->shares_screen)
        screen_clear();
}

/* With -v there may be thousands of lines a second, which the next tick shows the progress below.
 */
void console_end_print(struct console *c)
{
    if (!c->shares_screen)
        return;
    fflush(stdout);
    if (c->verbosity < 1)
        progress_again(&c->progress);
}

void console_progress(struct console *c, uint64_t done, const struct totals *totals,
                      uint32_t n_targets)
{
    uint64_t n[VERDICT_COUNT] = { 0 };
    for (uint32_t t = 0; t < n_targets; t++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            n[v] += totals[t].n[v];
    progress_show(&c->progress, done, n);
}

/* ---- JSON */

void console_json_line(json_t *object)
{
    json_dumpf(object, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII);
    putchar('\n');
    json_decref(object);
}

/* Sets a member unless the text is empty. */
static void set_text(json_t *o, const char *key, const char *from)
{
    if (from && *from)
        json_object_set_new(o, key, json_value_text(from));
}

/* Of quantised outputs: how the numbers become stored ones, or real ones with the judge `cts`. */
static void set_units(json_t *o, const struct element_units *u)
{
    if (u->scale != 0) {
        json_object_set_new(o, "scale", json_value_number(u->scale));
        json_object_set_new(o, "zero_point", json_value_number(u->zero));
    }
}

/* The operations that a failure comes from, and their own worst element. */
static void set_blamed(json_t *o, const struct blamed *b)
{
    json_t *blamed = json_object();
    if (b->count) {
        json_object_set_new(blamed, "operations", json_integer(b->count));
        json_object_set_new(blamed, "graph", json_integer(b->graph));
        json_object_set_new(blamed, "index", json_integer(b->operation));
        json_object_set_new(blamed, "operation", json_value_text(b->name));
        json_object_set_new(blamed, "type", json_value_text(b->type));
    }
    set_text(blamed, "why", b->why);
    if (b->count && b->output >= 0) {
        json_object_set_new(blamed, "output", json_integer(b->output));
        json_object_set_new(blamed, "place", json_string(b->place));
        json_object_set_new(blamed, "expected", json_value_number(b->expected));
        json_object_set_new(blamed, "actual", json_value_number(b->actual));
        json_object_set_new(blamed, "bound", json_value_number(b->bound));
        json_object_set_new(blamed, "ratio", json_value_number(b->ratio));
        set_units(blamed, &b->units);
    }
    if (json_object_size(blamed))
        json_object_set(o, "blamed", blamed);
    json_decref(blamed);
}

struct json_t *console_verdict_json(const char *name, const char *target,
                                    const struct check_result *r, const struct verdict_texts *texts)
{
    json_t *o = json_object();
    json_object_set_new(o, "case", json_value_text(name));
    json_object_set_new(o, "target", json_value_text(target));
    json_object_set_new(o, "verdict", json_string(verdict_name[r->verdict]));
    if (r->verdict == VERDICT_FLAKY || (r->verdict == VERDICT_WAIVED && r->was != VERDICT_WAIVED))
        json_object_set_new(o, "was", json_string(verdict_name[r->was]));
    json_object_set_new(o, "why", json_value_text(r->why));
    json_object_set_new(o, "ms", json_value_number(round(r->ms * 1e3) / 1e3));
    json_object_set_new(o, "judge", json_string(judge_name[r->judge]));
    json_object_set_new(o, "stage", json_string(r->stage));
    json_object_set_new(o, "status", json_string(r->status));
    if (r->device_ns != HAL_NO_TIME)
        json_object_set_new(o, "device_ns", json_integer((json_int_t) r->device_ns));
    json_object_set_new(o, "checked", json_integer((json_int_t) r->checked));
    json_object_set_new(o, "wrong", json_integer((json_int_t) r->wrong));
    if (r->output >= 0) {
        json_object_set_new(o, "output", json_integer(r->output));
        json_object_set_new(o, "element", json_integer((json_int_t) r->element));
        json_object_set_new(o, "place", json_string(r->place));
        json_object_set_new(o, "operation", json_value_text(r->operation));
        json_object_set_new(o, "type", json_string(r->type));
        json_object_set_new(o, "expected", json_value_number(r->expected));
        json_object_set_new(o, "actual", json_value_number(r->actual));
        json_object_set_new(o, "bound", json_value_number(r->bound));
        json_object_set_new(o, "ratio", json_value_number(r->ratio));
        set_units(o, &r->units);
    }
    set_blamed(o, &r->blamed);
    set_text(o, "replay", texts->replay);
    set_text(o, "confirmed", r->confirmed);
    if (r->attempts) {
        json_object_set_new(o, "attempts", json_integer(r->attempts));
        json_object_set_new(o, "failed_attempts", json_integer(r->failed_attempts));
    }
    set_text(o, "printed", texts->printed);
    set_text(o, "backtrace", texts->backtrace);
    return o;
}

/* ---- verdicts */

static void print_worst(const struct check_result *r)
{
    char worst[WORST_TEXT];

    if (r->wrong)
        printf("    %llu of %llu elements wrong; the worst is in output %d (%s, %s)\n",
               (unsigned long long) r->wrong, (unsigned long long) r->checked, r->output,
               r->operation[0] ? r->operation : "an input", r->type);
    printf("    %s\n", worst_text(r, worst));
}

/* Prints a title and a text on one line. */
static void print_line(const char *title, const char *text)
{
    fputs(title, stdout);
    text_put(stdout, TEXT_TERMINAL, text, 0);
    putchar('\n');
}

/* Nothing where the model is that operation, or `unsupported`: it would repeat the verdict. */
static void print_blamed(const struct check_result *r)
{
    const struct blamed *b = &r->blamed;
    char text[BLAMED_TEXT], worst_line[WORST_TEXT];
    if ((b->count && !b->graph && b->of == 1) || r->verdict == VERDICT_UNSUPPORTED)
        return;
    if (*blamed_text(b, text, sizeof text)) {
        char *worst = b->count && b->output >= 0 ? strstr(text, "; worst [") : NULL;
        if (worst) /* the next line has it */
            *worst = 0;
        print_line("    blamed: ", text);
    }
    if (b->count && b->output >= 0)
        printf("    %s\n", worst_text_of_blamed(b, worst_line));
}

/* Prints the first `most` lines of a text, indented. */
static void print_some_lines(const char *text, int most)
{
    for (; *text && most; most--) {
        size_t n = strcspn(text, "\n");
        char *line = strndup(text, n);
        fputs("    ", stdout);
        text_put(stdout, TEXT_LINES, line, 0);
        putchar('\n');
        free(line);
        text += n + (text[n] == '\n');
    }
    if (*text)
        puts("    ... (the results database and --json have the rest)");
}

static void print_lines(const char *text)
{
    print_some_lines(text, INT_MAX);
}

static void print_titled(const char *title, const char *text, int most)
{
    if (!text || !*text)
        return;
    printf("    %s:\n", title);
    print_some_lines(text, most);
}

static void print_verdict(const struct console *c, const char *name, const char *target,
                          const struct check_result *r, const struct verdict_texts *texts)
{
    enum { MOST_PRINTED = 10, MOST_BACKTRACE = 40 };
    colour_print_verdict(r->verdict, verdict_name[r->verdict], 12);
    text_put(stdout, TEXT_TERMINAL, name, 0);
    fputs("  ", stdout);
    text_put(stdout, TEXT_TERMINAL, target, 0);
    if (c->verbosity > 0)
        printf("  %.3f ms", r->ms);
    putchar('\n');
    bool is_fail = (r->verdict == VERDICT_FLAKY ? r->was : r->verdict) == VERDICT_FAIL;
    bool has_worst = !texts->detail && is_fail && r->output >= 0;
    if (r->why[0] && (r->varied || !(is_fail && (texts->detail || r->wrong))))
        print_lines(r->why);
    if (r->confirmed[0])
        print_line("    run again: ", r->confirmed);
    if (texts->detail)
        print_lines(texts->detail);
    else if (has_worst)
        print_worst(r);
    print_blamed(r);
    print_titled("printed", texts->printed, MOST_PRINTED);
    print_titled("backtrace", texts->backtrace, MOST_BACKTRACE);
    if (texts->replay)
        printf("    %s\n", texts->replay);
}

void console_verdict(struct console *c, const char *name, const char *target,
                     const struct check_result *r, const struct verdict_texts *texts)
{
    enum { MOST_FAILURES = 1000 };
    const bool conforming = verdict_conforming(r->verdict);
    const uint64_t failures = c->progress.failures + !conforming;
    if (!conforming) {
        char what[FAILURE_KIND];
        progress_failure(&c->progress, target, r->verdict, failure_kind_of(r, what), texts->replay);
    }
    c->losses += r->lost;
    if (!c->json &&
        (c->verbosity < 0 || (c->verbosity < 1 && (conforming || failures > MOST_FAILURES + 1))))
        return;
    console_begin_print(c);
    if (c->json)
        console_json_line(console_verdict_json(name, target, r, texts));
    else if (c->verbosity < 1 && failures > MOST_FAILURES)
        printf("... more than the limit of %d verdicts that do not conform; -v prints the others, "
               "too, the results database and --json have them\n",
               MOST_FAILURES);
    else
        print_verdict(c, name, target, r, texts);
    console_end_print(c);
}

/* ---- the end */

struct json_t *console_unloaded_json(const struct cases *c)
{
    json_t *list = json_array();
    for (size_t i = 0; i < c->n_unloaded; i++) {
        json_t *file = json_object();
        json_object_set_new(file, "file", json_value_text(c->unloaded[i].file));
        json_object_set_new(file, "why", json_value_text(c->unloaded[i].why));
        json_array_append_new(list, file);
    }
    return list;
}

static json_t *shrunk_json(const struct bucket_count *b)
{
    json_t *o = json_object();
    json_object_set_new(o, "operations", json_integer((json_int_t) b->n_operations));
    json_object_set_new(o, "elements", json_integer((json_int_t) b->n_elements));
    json_object_set_new(o, "executions", json_integer((json_int_t) b->executions));
    json_object_set_new(o, "seconds", json_value_number(round(b->seconds * 1e3) / 1e3));
    return o;
}

static json_t *buckets_json(const struct summary *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_buckets; i++) {
        const struct bucket_count *b = &s->bucket[i];
        json_t *o = json_object();
        json_object_set_new(o, "target", json_value_text(s->target[b->target]));
        json_object_set_new(o, "bucket", b->bucket ? json_value_text(b->bucket) : json_null());
        json_object_set_new(o, "verdicts", json_integer((json_int_t) b->n));
        if (b->bucket && b->n_not_shrunk)
            json_object_set_new(o, "not_shrunk", json_integer((json_int_t) b->n_not_shrunk));
        if (b->first)
            json_object_set_new(o, "case", json_value_text(b->first));
        if (b->n_operations)
            json_object_set_new(o, "shrunk", shrunk_json(b));
        json_array_append_new(list, o);
    }
    return list;
}

/* Signatures that a summary shows without -v. */
enum { MOST_UNSUPPORTED = 5 };

static json_t *unsupported_json(const struct summary *s)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < s->n_unsupported; i++) {
        const struct bucket_count *b = &s->unsupported[i];
        json_t *o = json_object();
        json_object_set_new(o, "target", json_value_text(s->target[b->target]));
        json_object_set_new(o, "signature", json_value_text(b->bucket));
        json_object_set_new(o, "verdicts", json_integer((json_int_t) b->n));
        json_object_set_new(o, "case", json_value_text(b->first));
        json_array_append_new(list, o);
    }
    return list;
}

static void summary_json(const struct summary *s, const struct totals *all)
{
    json_t *o = json_object();
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(o, verdict_name[v], json_integer((json_int_t) all->n[v]));
    json_object_set_new(o, "compared", json_integer((json_int_t) all->compared));
    json_object_set_new(o, "cases", json_integer((json_int_t) s->n_cases));
    json_object_set_new(o, "not_run", json_integer((json_int_t) s->not_run));
    set_text(o, "ended", s->ended);
    json_object_set_new(o, "seconds", json_value_number(round(s->seconds * 1e3) / 1e3));
    json_t *line = json_object(), *notes = json_array();
    for (uint32_t i = 0; i < s->n_notes; i++) {
        json_t *note = json_object();
        json_object_set_new(note, "target", json_value_text(s->target[s->note[i].target]));
        json_object_set_new(note, "text", json_value_text(s->note[i].text));
        json_array_append_new(notes, note);
    }
    if (s->n_notes)
        json_object_set(o, "notes", notes);
    if (s->cases->arena) /* read from files */
        json_object_set_new(o, "unloaded", console_unloaded_json(s->cases));
    json_decref(notes);
    if (s->key) {
        set_text(o, "key", s->key);
        set_text(o, "campaign", s->campaign);
        json_object_set_new(o, "shard", json_sprintf("%u/%u", s->shard, s->n_shards));
    }
    if (s->n_buckets)
        json_object_set_new(o, "buckets", buckets_json(s));
    if (s->n_unsupported)
        json_object_set_new(o, "unsupported_signatures", unsupported_json(s));
    if (s->drawn_for)
        json_object_set_new(o, "drawn_for", s->drawn_for);
    if (s->baselines)
        json_object_set_new(o, "baselines", s->baselines);
    json_object_set_new(line, "summary", o);
    console_json_line(line);
}

/* The table has columns for pass, undecided and the verdicts that occurred.  row NULL: the heading.
 */
static void print_row(const char *title, int width, const struct totals *all,
                      const struct totals *row)
{
    text_put(stdout, TEXT_TERMINAL, title, 0);
    printf("%*s", width - (int) strlen(title), "");
    for (int v = 0; v < VERDICT_COUNT; v++) {
        if (v != VERDICT_PASS && v != VERDICT_UNDECIDED && !all->n[v])
            continue;
        int column = (int) strlen(verdict_name[v]);
        column = column < 9 ? 9 : column;
        if (row)
            printf("  %*llu", column, (unsigned long long) row->n[v]);
        else
            printf("  %*s", column, verdict_name[v]);
    }
    putchar('\n');
}

static void print_table(const struct summary *s, const struct totals *all)
{
    int width = 6;
    for (uint32_t t = 0; t < s->n_targets; t++) {
        int n = (int) strlen(s->target[t]);
        width = n > width ? n : width;
    }
    print_row("target", width, all, NULL);
    for (uint32_t t = 0; t < s->n_targets; t++)
        print_row(s->target[t], width, all, &s->totals[t]);
}

void console_unloaded(const struct cases *c, FILE *to)
{
    enum { MOST_FILES = 100 };
    if (!c->n_unloaded)
        return;
    fprintf(to, "%zu file%s could not be loaded:\n", c->n_unloaded, c->n_unloaded == 1 ? "" : "s");
    for (size_t i = 0; i < c->n_unloaded && i < MOST_FILES; i++) {
        fputs("    ", to);
        text_put(to, TEXT_TERMINAL, c->unloaded[i].why, 0);
        putc('\n', to);
    }
    if (c->n_unloaded > MOST_FILES)
        fprintf(
            to,
            "    ... and %zu more (the results database and --json of 'halcyon run' list them)\n",
            c->n_unloaded - MOST_FILES);
}

int unloaded_status(const struct options *o, const struct cases *c, int status)
{
    return c->n_unloaded && !o->skip_bad ? EXIT_USAGE : status;
}

static void print_buckets(const struct summary *s)
{
    for (uint32_t i = 0; i < s->n_buckets; i++) {
        const struct bucket_count *b = &s->bucket[i];
        printf("%s%7llu  ", i ? "" : "failures by shrunk case:\n", (unsigned long long) b->n);
        print_line("", b->bucket ? b->bucket : "not shrunk");
        if (b->bucket && b->n_not_shrunk)
            printf("         %llu of these are of kinds of which no case was shrunk\n",
                   (unsigned long long) b->n_not_shrunk);
        if (!b->first)
            continue;
        struct buffer command = { 0 };
        buffer_puts(&command, "         halcyon shrink ");
        buffer_put_quoted(&command, b->first);
        buffer_puts(&command, " -d ");
        buffer_put_quoted(&command, s->target[b->target]);
        if (s->entry)
            buffer_printf(&command, " --hal %s", hal_version_name(s->entry));
        bool is_alone = !strncmp(b->first, "random/", 7) && !name_needs_more(b->first);
        if (s->db && !is_alone) { /* its name is not enough */
            buffer_puts(&command, " --db ");
            buffer_put_quoted(&command, s->db);
        }
        print_line("", buffer_text(&command));
        buffer_done(&command);
    }
}

static void print_unsupported(const struct summary *s, uint32_t most)
{
    uint32_t n = s->n_unsupported < most ? s->n_unsupported : most;
    for (uint32_t i = 0; i < n; i++) {
        const struct bucket_count *b = &s->unsupported[i];
        printf("%s%7llu  ", i ? "" : "not supported:\n", (unsigned long long) b->n);
        text_put(stdout, TEXT_TERMINAL, s->target[b->target], 0);
        print_line("  ", b->bucket);
    }
    if (s->n_unsupported > n)
        puts("         ... and others (-v, --json and 'halcyon report' show more)");
}

void console_summary(struct console *c, const struct summary *s)
{
    struct totals all = { 0 };
    for (uint32_t t = 0; t < s->n_targets; t++)
        for (int v = 0; v < VERDICT_COUNT; v++)
            all.n[v] += s->totals[t].n[v];
    for (uint32_t t = 0; t < s->n_targets; t++)
        all.compared += s->totals[t].compared;
    if (c->json) {
        summary_json(s, &all);
        return;
    }
    uint64_t bad = 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        bad += verdict_conforming((enum verdict) v) ? 0 : all.n[v];
    if (c->progress.failures && c->verbosity >= 0)
        putchar('\n');
    print_table(s, &all);
    printf("%llu case%s in %.1f s: ", (unsigned long long) s->n_cases, s->n_cases == 1 ? "" : "s",
           s->seconds);
    if (bad)
        printf("%llu not conforming", (unsigned long long) bad);
    else
        printf("all %sconforming", s->not_run ? "that ran are " : "");
    printf("; %llu element%s compared", (unsigned long long) all.compared,
           all.compared == 1 ? "" : "s");
    if (s->not_run)
        printf("; %llu not run", (unsigned long long) s->not_run);
    if (s->ended)
        printf(" (%s)", s->ended);
    if (s->cases->n_unloaded)
        printf("; %zu file%s not loaded", s->cases->n_unloaded,
               s->cases->n_unloaded == 1 ? "" : "s");
    if (s->run)
        printf("; run %lld in ", (long long) s->run);
    print_line("", s->run ? s->db : "");
    for (uint32_t i = 0; i < s->n_notes; i++) {
        fputs("note: ", stdout);
        text_put(stdout, TEXT_TERMINAL, s->target[s->note[i].target], 0);
        print_line(": ", s->note[i].text);
    }
    if (c->verbosity >= 0) {
        print_unsupported(s, c->verbosity > 0 ? UINT32_MAX : MOST_UNSUPPORTED);
        print_buckets(s);
    }
    if (c->losses && c->verbosity >= 0)
        printf("%llu verdict%s for a model that lost something in conversion to its target's HAL "
               "version (-v shows what)\n",
               (unsigned long long) c->losses, c->losses == 1 ? " is" : "s are");
    console_unloaded(s->cases, stdout);
    fflush(stdout);
}
