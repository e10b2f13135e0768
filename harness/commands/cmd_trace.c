/* halcyon trace: tables of the time in a trace, in the layout of NNAPI's parse_systrace. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "golden/model/op.h"
#include "harness/check/buffer.h"
#include "harness/check/json_value.h"
#include "harness/commands/commands.h"
#include "harness/trace/trace_export.h"
#include "harness/trace/trace_times.h"

/* Columns: phases, and values computed from them. */
enum {
    COLUMN_COMPUTE = TRACE_PHASES, /* executions without I/O and results */
    COLUMN_PERCENT                 /* executions of this layer in those of all */
};

struct column {
    int what;
    const char *title;
    int lead, width; /* blanks before, and width of, its numbers */
};

struct layout {
    int label; /* width of the names of rows */
    const struct column *column;
    int n_columns;
};

static const struct column phase_columns[] = {
    { TRACE_PI, "Initialization", 0, 9 }, { TRACE_PP, "Preparation", 4, 9 },
    { TRACE_PC, "Compilation", 4, 9 },    { TRACE_PIO, "I/O", 2, 11 },
    { COLUMN_COMPUTE, "Compute", 2, 11 }, { TRACE_PR, "Results", 3, 9 },
    { TRACE_PE, "Ex. total", 4, 9 },      { TRACE_PT, "Termination", 4, 9 },
    { TRACE_PO, "Total", 3, 9 },
};
static const struct column execution_columns[] = {
    { TRACE_PIO, "I/O", 0, 11 },
    { COLUMN_COMPUTE, "Compute", 2, 11 },
    { TRACE_PR, "Results", 3, 9 },
    { TRACE_PE, "Total", 4, 9 },
    { COLUMN_PERCENT, "Percentage", 1, 11 },
};
static const struct layout of_phases = { 19, phase_columns, COUNT(phase_columns) };
static const struct layout of_executions = { 14, execution_columns, COUNT(execution_columns) };

static const char *const row_name[] = { "Application", "Runtime", "IPC", "Driver", "CPU", "Total" };
enum { ROW_TOTAL = TRACE_ROWS };

/* One table about to be shown. */
struct view {
    const struct options *o;
    const struct trace_run *run;
    struct trace_table times[TRACE_PARTS], self[TRACE_PARTS];
    bool is_split;                   /* warm-up and benchmark have times of their own */
    const struct trace_table *whole; /* one of the tables of the whole run */
    const struct trace_table
        *shown;        /* with --per-execution of a split run: that of its benchmark */
    double executions; /* in what is shown */
};

static struct view view_of(const struct options *o, const struct trace_sections *s,
                           const struct trace_run *run)
{
    struct view v = { .o = o, .run = run };
    const unsigned *n = run->executions;

    v.is_split = trace_tables(s, run, v.times, v.self);
    v.executions = v.is_split ? n[TRACE_PBM] : n[TRACE_PO] + n[TRACE_PWU] + n[TRACE_PBM];
    return v;
}

/* The tables are in v: it has its final place. */
static void choose_tables(struct view *v)
{
    const struct trace_table *tables = v->o->total_times ? v->times : v->self;

    v->whole = &tables[TRACE_PO];
    v->shown = &tables[v->o->per_execution && v->is_split ? TRACE_PBM : TRACE_PO];
}

static double cell(const struct view *v, int row, int what)
{
    bool is_whole = what < TRACE_PHASES && what != TRACE_PE &&
                    !trace_phase_is_of_execution((enum trace_phase) what);
    const struct trace_table *table = is_whole ? v->whole : v->shown;
    const double *t = row == ROW_TOTAL ? table->total : table->of[row];
    double each = v->o->per_execution && !is_whole ? v->executions : 1;

    if (what == COLUMN_PERCENT)
        return 100 * t[TRACE_PE] / table->total[TRACE_PE];
    double ms = what == COLUMN_COMPUTE ? t[TRACE_PE] - t[TRACE_PIO] - t[TRACE_PR] : t[what];
    return each > 0 ? ms / each : NAN;
}

/* ---- text */

/* The mark behind a number: '*' where it leaves out what is missing. */
static char mark_of(const struct view *v, int row, int what)
{
    if (what == COLUMN_PERCENT)
        return '%';
    if (row == ROW_TOTAL)
        return v->o->per_execution && what == TRACE_PE ? ' ' : '*';
    return row == TRACE_LA && what == TRACE_PO ? '*' : ' ';
}

static void print_line(char *line)
{
    size_t n = strlen(line);

    while (n && line[n - 1] == ' ')
        line[--n] = 0;
    puts(line);
}

static void print_row(const struct view *v, const struct layout *l, int row)
{
    char line[256] = "", text[32];

    text_append(line, sizeof line, "%-*s", l->label, row_name[row]);
    for (int i = 0; i < l->n_columns; i++) {
        const struct column *c = &l->column[i];
        double x = cell(v, row, c->what);
        snprintf(text, sizeof text, "%.2f", x);
        if (isnan(x))
            strcpy(text, "n/a");
        else if (strcmp(text, "0.00") == 0 || strcmp(text, "-0.00") == 0)
            strcpy(text, "-");
        text_append(line, sizeof line, "%*s%c", c->lead + c->width, text, mark_of(v, row, c->what));
    }
    print_line(line);
}

/* Titles are aligned to the right, like their numbers.  Returns the width of the table. */
static int print_titles(const struct layout *l)
{
    char line[256];
    size_t end = (size_t) l->label;

    memset(line, ' ', sizeof line);
    for (int i = 0; i < l->n_columns; i++) {
        const struct column *c = &l->column[i];
        size_t n = strlen(c->title);
        end += (size_t) (c->lead + c->width);
        memcpy(line + end - n, c->title, n);
        end++;
    }
    line[end] = 0;
    print_line(line);
    return (int) end;
}

static void print_rule(int width, int c)
{
    for (int i = 0; i < width; i++)
        putchar(c);
    putchar('\n');
}

static bool has_cpu(const struct view *v)
{
    for (int phase = 0; phase < TRACE_PHASES; phase++)
        if (v->whole->of[TRACE_LC][phase] > 0)
            return true;
    return false;
}

static void print_table(const struct view *v)
{
    const struct layout *l = v->o->per_execution ? &of_executions : &of_phases;

    puts(*v->run->mark ? v->run->mark : "the whole trace");
    printf("NNAPI timing summary (%s, ms wall-clock)%s%s\n",
           v->o->total_times ? "total time" : "self-times",
           v->o->per_execution && v->is_split ? ", benchmark" : "",
           v->o->per_execution ? ", per execution" : "");
    int width = print_titles(l);
    print_rule(width, '-');
    for (int row = 0; row < TRACE_ROWS; row++)
        if (row != TRACE_LC || has_cpu(v))
            print_row(v, l, row);
    putchar('\n');
    print_row(v, l, ROW_TOTAL);
    print_rule(width, '=');
}

/* ---- detail: every section */

static void print_section(const struct section *x)
{
    int depth = 0;

    for (const struct section *p = x->parent; p; p = p->parent)
        depth++;
    printf("%*s%.3f ms  %s", 4 + 2 * depth, "", x->end - x->begin, x->name);
    if (x->is_added)
        printf(" (counted here as %s %s)", trace_layer_name[x->layer], trace_phase_name[x->phase]);
    else if (x->is_subtracted)
        printf(" (subtracted)");
    else if (x->is_detail)
        printf(" (detail)");
    if (x->moved > 0 && !x->is_detail)
        printf(" (without %.3f ms)", x->moved);
    putchar('\n');
}

static void print_sections(struct trace_sections *s, const struct trace_run *r)
{
    for (const struct trace_thread *t = s->threads; t; t = t->next) {
        size_t first, end = trace_run_sections(s, r, t, &first);
        if (first < end)
            printf("process %lld, thread %lld\n", (long long) t->process, (long long) t->thread);
        for (size_t i = first; i < end; i++)
            print_section(t->section[i]);
    }
}

/* ---- JSON: the keys of parse_systrace */

static const int main_phases[] = { TRACE_PO, TRACE_PI,  TRACE_PP,  TRACE_PC,  TRACE_PT,
                                   TRACE_PE, TRACE_PIO, TRACE_PTR, TRACE_PCO, TRACE_PR };
enum { FIRST_OF_EXECUTION = 5 }; /* of them */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_of_table(const struct trace_table *t, int first)
{
    json_t *phases = json_object();

    for (int i = first; i < COUNT(main_phases); i++) {
        json_t *layers = json_object();
        for (int layer = 0; layer < TRACE_ROWS; layer++)
            json_object_set_new(layers, trace_layer_name[layer],
                                number(t->of[layer][main_phases[i]]));
        json_object_set_new(layers, "LT", number(t->total[main_phases[i]]));
        json_object_set_new(phases, trace_phase_name[main_phases[i]], layers);
    }
    return phases;
}

static json_t *json_of_tables(const struct trace_table *tables, bool is_split)
{
    json_t *all = json_of_table(&tables[TRACE_PO], 0);

    for (int part = TRACE_PWU; is_split && part <= TRACE_PBM; part++)
        json_object_set_new(all, trace_phase_name[part],
                            json_of_table(&tables[part], FIRST_OF_EXECUTION));
    return all;
}

/* The numbers of the text table. */
static json_t *json_of_cells(const struct view *v)
{
    static const struct {
        int what;
        const char *name;
    } cells[] = { { TRACE_PI, "PI" },       { TRACE_PP, "PP" },        { TRACE_PC, "PC" },
                  { TRACE_PE, "PE" },       { TRACE_PT, "PT" },        { TRACE_PIO, "PIO" },
                  { TRACE_PR, "PR" },       { COLUMN_COMPUTE, "PEO" }, { TRACE_PO, "PO" },
                  { COLUMN_PERCENT, "PEp" } };
    json_t *all = json_object();
    char name[16];

    for (int row = 0; row <= ROW_TOTAL; row++)
        for (int i = 0; i < COUNT(cells); i++) {
            snprintf(name, sizeof name, "%s_%s", row == ROW_TOTAL ? "LT" : trace_layer_name[row],
                     cells[i].name);
            if (row != ROW_TOTAL || cells[i].what != COLUMN_PERCENT)
                json_object_set_new(all, name, number(cell(v, row, cells[i].what)));
        }
    return all;
}

static json_t *json_of_run(const struct view *v)
{
    const struct trace_run *r = v->run;
    char mark[1024] = "";

    if (r->thread) /* as in the trace of the system */
        snprintf(mark, sizeof mark, "B|%lld|", (long long) r->thread->process);
    text_append(mark, sizeof mark, "%s", r->mark);
    return json_pack("{s:i, s:o, s:o, s:o, s:{s:i, s:i, s:i}, s:o}", "version", 1, "starting_mark",
                     json_value_text(mark), "times", json_of_tables(v->times, v->is_split),
                     "self_times", json_of_tables(v->self, v->is_split), "execution_counts", "PO",
                     (int) r->executions[TRACE_PO], "PWU", (int) r->executions[TRACE_PWU], "PBM",
                     (int) r->executions[TRACE_PBM], "template_inputs", json_of_cells(v));
}

/* ---- the command */

static const char advice[] = "record again, until after the last call of the application has ended";

static void report_incomplete(const struct trace_run *r)
{
    fprintf(stderr,
            "halcyon trace: %s: line %u: %.200s (thread %lld) has no end: %s%.200s is left out\n",
            r->open_thread->file, r->open->line, r->open->name, (long long) r->open_thread->thread,
            *r->mark ? "the run " : "the trace", r->mark);
}

/* Reports the runs in which something has no end, and leaves them out.  Fails if no other is left.
 */
static int drop_incomplete(struct trace_run *runs, size_t *n, struct why *w)
{
    enum { MOST_REPORTED = 10 };
    size_t kept = 0, dropped = 0;

    for (size_t i = 0; i < *n; i++)
        if (!runs[i].open)
            runs[kept++] = runs[i];
        else if (++dropped <= MOST_REPORTED)
            report_incomplete(&runs[i]);
    if (dropped > MOST_REPORTED)
        fprintf(stderr, "halcyon trace: likewise %zu more runs\n", dropped - MOST_REPORTED);
    REQUIRE(w, kept,
            dropped ? "no run is complete: processes have died, or the trace ends too early; %s"
                    : "the trace has no run; %s",
            advice);
    *n = kept;
    return 0;
}

static void print_run(const struct options *o, struct trace_sections *s, const struct trace_run *r,
                      json_t *all)
{
    struct view v = view_of(o, s, r);

    choose_tables(&v);
    if (o->json)
        json_array_append_new(all, json_of_run(&v));
    else
        print_table(&v);
    if (o->print_detail && !o->json && !o->sum)
        print_sections(s, r);
}

static int show(const struct options *o, struct trace_sections *s, struct why *w)
{
    struct trace_run *runs = NULL;
    size_t n = 0;

    TRY(trace_runs(s, &n, &runs, w));
    TRY(drop_incomplete(runs, &n, w));
    if (o->sum)
        TRY(trace_runs_sum(s, &n, runs, w));
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++)
        print_run(o, s, &runs[i], all);
    if (o->json) {
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
        putchar('\n');
    } else {
        puts("* leaves out missing values (n/a), so that it may differ from the sum of the others");
    }
    json_decref(all);
    return 0;
}

static int export(const struct options *o, struct trace_sections *s, struct why *w)
{
    struct output_file f;

    TRY(output_file_open(o->export_to, &f, w));
    int rc = trace_export(s, f.to, w);
    return output_file_close(&f, rc == 0, w) < 0 ? -1 : rc;
}

/* Adds the files to an error of the whole trace. */
static int fail_trace(const struct options *o, struct why *w)
{
    return why_prefix(w, "%s%s", o->argument[0], o->n_arguments > 1 ? " and others" : "");
}

static int trace(const struct options *o, struct trace_sections *s, struct why *w)
{
    TRY(options_expect(o, 1, 1 << 20, "FILE", w));
    s->is_public = o->public_rules;
    for (int i = 0; i < o->n_arguments; i++)
        TRY(trace_sections_read(s, o->argument[i], w));
    if (s->events.is_partial)
        fputs(
            "halcyon trace: the kernel's buffer has lost events: record again with a larger one\n",
            stderr);
    TRY(trace_sections_close(s, w));
    if (!s->has_runtime)
        fputs("halcyon trace: the trace has no sections of the runtime (layer LR)\n", stderr);
    return o->export_to ? export(o, s, w) : show(o, s, w) < 0 ? fail_trace(o, w) : 0;
}

int cmd_trace(const struct options *o)
{
    struct trace_sections s = { 0 };
    struct why why = { 0 };
    int failed = trace(o, &s, &why);

    trace_sections_done(&s);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
