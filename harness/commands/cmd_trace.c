/* halcyon trace: tables of the time in a trace, in the layout of NNAPI's parse_systrace. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/check/buffer.h"
#include "harness/commands/commands.h"
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
    struct trace_table times, self;
    const struct trace_table *shown; /* one of the two */
};

static double cell(const struct view *v, int row, int what)
{
    const double *t = row == ROW_TOTAL ? v->shown->total : v->shown->of[row];
    double each = v->o->per_execution ? v->run->executions : 1;

    if (what == COLUMN_PERCENT)
        return 100 * t[TRACE_PE] / v->shown->total[TRACE_PE];
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
        if (v->shown->of[TRACE_LC][phase] > 0)
            return true;
    return false;
}

static void print_table(const struct view *v)
{
    const struct layout *l = v->o->per_execution ? &of_executions : &of_phases;

    puts(v->run->mark);
    printf("NNAPI timing summary (%s, ms wall-clock)%s\n",
           v->o->total_times ? "total time" : "self-times",
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

static void print_sections(const struct trace_sections *s, const struct trace_run *r)
{
    for (const struct trace_thread *t = s->threads; t; t = t->next) {
        size_t first, end = trace_run_sections(s, r, t, &first);
        if (first < end)
            printf("process %lld, thread %lld\n", (long long) t->process, (long long) t->thread);
        for (size_t i = first; i < end; i++) {
            const struct section *x = t->section[i];
            int depth = 0;
            for (const struct section *p = x->parent; p; p = p->parent)
                depth++;
            printf("%*s%.3f ms  %s%s\n", 4 + 2 * depth, "", x->end - x->begin, x->name,
                   x->is_detail ? " (detail)" : "");
        }
    }
}

/* ---- JSON */

static json_t *number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

static json_t *json_of_table(const struct trace_table *t)
{
    json_t *phases = json_object();

    for (int phase = 0; phase < TRACE_PHASES; phase++) {
        json_t *layers = json_object();
        for (int layer = 0; layer < TRACE_ROWS; layer++)
            json_object_set_new(layers, trace_layer_name[layer], number(t->of[layer][phase]));
        json_object_set_new(layers, "LT", number(t->total[phase]));
        json_object_set_new(phases, trace_phase_name[phase], layers);
    }
    return phases;
}

static json_t *json_of_run(const struct view *v)
{
    static const char *const further[] = { "PEO", "PEp" };
    json_t *cells = json_object(); /* the numbers of the text table */
    char name[16];

    for (int row = 0; row <= ROW_TOTAL; row++)
        for (int what = 0; what <= COLUMN_PERCENT; what++) {
            snprintf(name, sizeof name, "%s_%s", row == ROW_TOTAL ? "LT" : trace_layer_name[row],
                     what < TRACE_PHASES ? trace_phase_name[what] : further[what - TRACE_PHASES]);
            json_object_set_new(cells, name, number(cell(v, row, what)));
        }
    return json_pack("{s:i, s:s, s:o, s:o, s:{s:i}, s:o}", "version", 1, "starting_mark",
                     v->run->mark, "times", json_of_table(&v->times), "self_times",
                     json_of_table(&v->self), "execution_counts", "PO", (int) v->run->executions,
                     "template_inputs", cells);
}

/* ---- the command */

static int show(const struct options *o, struct trace_sections *s, struct why *w)
{
    struct trace_run *runs = NULL;
    size_t n = 0;

    TRY(trace_runs(s, o->sum, &n, &runs, w));
    REQUIRE(w, n, "the trace has no complete run (a section [NN_LA_PO])");
    json_t *all = json_array();
    for (size_t i = 0; i < n; i++) {
        struct view v = { .o = o, .run = &runs[i] };
        trace_tables(v.run, &v.times, &v.self);
        v.shown = o->total_times ? &v.times : &v.self;
        if (o->json)
            json_array_append_new(all, json_of_run(&v));
        else
            print_table(&v);
        if (o->print_detail && !o->json && !o->sum)
            print_sections(s, &runs[i]);
    }
    if (o->json) {
        json_dumpf(all, stdout, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(12));
        putchar('\n');
    } else {
        puts("* leaves out missing values (n/a), so that it may differ from the sum of the others");
    }
    json_decref(all);
    return 0;
}

/* Adds the files to an error of the whole trace. */
static int fail_trace(const struct options *o, struct why *w)
{
    return why_prefix(w, "%s%s", o->argument[0], o->n_arguments > 1 ? " and others" : "");
}

static int trace(const struct options *o, struct trace_sections *s, struct why *w)
{
    TRY(options_expect(o, 1, 1 << 20, "FILE", w));
    for (int i = 0; i < o->n_arguments; i++)
        TRY(trace_sections_read(s, o->argument[i], w));
    if (trace_sections_close(s, w) < 0)
        return fail_trace(o, w);
    if (!s->has_runtime)
        fputs("halcyon trace: the trace has no sections of the runtime (layer LR)\n", stderr);
    if (s->unfinished)
        fprintf(stderr, "halcyon trace: incomplete trace: left out %llu sections without an end\n",
                (unsigned long long) s->unfinished);
    return show(o, s, w) < 0 ? fail_trace(o, w) : 0;
}

int cmd_trace(const struct options *o)
{
    struct trace_sections s = { 0 };
    struct why why = { 0 };
    int failed = trace(o, &s, &why);

    trace_sections_done(&s);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
