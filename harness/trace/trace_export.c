#include "harness/trace/trace_export.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"

/* A line that is to be written. */
struct row {
    double ms;
    size_t order; /* of rows of a thread at the same time */
    const struct trace_thread *thread;
    const char *mark; /* of a begin; NULL: an end */
    bool is_named;    /* the mark is written as it is */
    bool is_nested;   /* [SW] is left out: what it ends is, too */
};

struct exported {
    struct row *row;
    size_t n;
    double ms; /* of the thread's last row */
};

/* What marks the public parser finds in a process. */
struct known_marks {
    bool declares;                /* it is known as a driver's */
    bool executes;                /* the driver's executions are known */
    bool starts;                  /* the runtime has asynchronous executions */
    bool creates;                 /* executions are counted */
    bool has_driver, has_callers; /* has sections of layer LD; of layers LA or LR */
};

static int put(struct exported *out, const struct trace_thread *t, double ms, const char *mark,
               bool is_named, struct why *w)
{
    struct row *row = array_room(out->row, out->n, sizeof *row);

    if (!row)
        return why_no_memory_for(w, "the exported trace");
    out->row = row;
    out->ms = ms > out->ms ? ms : out->ms;
    out->row[out->n] = (struct row){ out->ms, out->n, t, mark, is_named, false };
    out->n++;
    return 0;
}

/* A mark without duration. */
static int put_name(struct exported *out, const struct trace_thread *t, double ms, const char *name,
                    struct why *w)
{
    TRY(put(out, t, ms, name, true, w));
    return put(out, t, ms, NULL, true, w);
}

/* ---- what is added */

static bool is_complete(const struct section *x)
{
    while (x && x->end >= 0)
        x = x->parent;
    return !x;
}

/* What is exported counts only. */
static void note_marks(const struct trace_thread *t, struct known_marks *ret)
{
    for (size_t i = 0; i < t->events->n_events; i++) {
        const char *mark = t->events->event[i].mark;
        int end = mark ? trace_mark_span_end(mark, true) : -1;
        const struct section *x = t->events->event[i].section;
        if (!mark || !(x ? is_complete(x) : trace_mark_span_end(mark, false) == SPAN_NOTIFY))
            continue;
        ret->declares |= strstr(mark, "HIDL::IDevice") && strstr(mark, "::server");
        ret->executes |= end == SPAN_EXECUTE;
        ret->starts |= end == SPAN_START;
        ret->creates |= strcmp(trace_mark_text(mark), "ANeuralNetworksExecution_create") == 0;
    }
    for (size_t i = 0; i < t->n; i++)
        if (!is_complete(t->section[i]))
            continue;
        else if (t->section[i]->layer == TRACE_LD)
            ret->has_driver = true;
        else if (t->section[i]->layer <= TRACE_LR)
            ret->has_callers = true;
}

static struct known_marks known_in(struct trace_sections *s, int64_t process)
{
    struct known_marks known = { false };

    for (const struct trace_thread *t = s->threads; t; t = t->next)
        if (t->process == process)
            note_marks(t, &known);
    return known;
}

/* A driver in its callers' process stays one: the public parser counts it as the CPU. */
static bool is_driver(const struct known_marks *known)
{
    return known->has_driver && !known->has_callers;
}

/* Whether the public parser counts executions in the section only by names that it lacks. */
static bool is_unknown(const struct section *x, const struct known_marks *known)
{
    const char *text = trace_mark_text(x->name);
    bool is_call = strncmp(text, "ANeuralNetworks", 15) == 0;

    if (x->phase != TRACE_PE || x->is_detail || x->is_subtracted)
        return false;
    if (x->layer == TRACE_LD)
        return is_driver(known) && !known->executes;
    if (x->layer != TRACE_LR)
        return false;
    return is_call ? strncmp(text + 15, "Execution_compute", 17) == 0 ||
                         strncmp(text + 15, "Execution_burstCompute", 22) == 0
                   : !known->starts;
}

static int put_begin_of_execution(struct exported *out, const struct trace_thread *t,
                                  const struct section *x, const struct known_marks *known,
                                  struct why *w)
{
    if (x->layer == TRACE_LD)
        return put_name(out, t, x->begin, "HIDL::IPreparedModel::execute::server", w);
    if (!known->creates)
        TRY(put_name(out, t, x->begin, "[NN_LR_PE]ANeuralNetworksExecution_create", w));
    return put_name(out, t, x->begin, "[NN_LR_PE]ANeuralNetworksExecution_startCompute", w);
}

static int put_end_of_execution(struct exported *out, const struct trace_thread *t,
                                const struct section *x, struct why *w)
{
    return put_name(out, t, x->end,
                    x->layer == TRACE_LD ? "HIDL::IExecutionCallback::notify::client"
                                         : "[NN_LR_PE]ANeuralNetworksEvent_wait",
                    w);
}

/* ---- a thread */

/* A section that the thread is in. */
struct exported_section {
    const struct section *section; /* NULL: a switch has ended it */
    bool is_kept;
    bool is_marked; /* marks of an execution are to be added */
};

struct exporting {
    struct exported *out;
    const struct trace_thread *t;
    struct known_marks known;
    struct exported_section *open;
    size_t n;
    bool has_sections; /* that were put */
};

static int end_counting(struct exporting *e, struct why *w)
{
    struct exported_section *o = &e->open[e->n - 1];
    const struct section *x = o->section;

    o->section = NULL;
    return o->is_marked && x ? put_end_of_execution(e->out, e->t, x, w) : 0;
}

/* Whether marks of an execution without duration follow, as an export has added them. */
static bool has_marks(const struct trace_event_read *event, const struct trace_event_read *end)
{
    for (const struct trace_event_read *x = event + 1; x + 1 < end && x->mark && !x[1].mark; x += 2)
        if (trace_mark_span_end(x->mark, true) == SPAN_START)
            return true;
    return false;
}

/* The switch x ends the section that the thread is in, also where x itself is left out. */
static int end_switched(struct exporting *e, const struct section *x, double ms, struct why *w)
{
    struct exported_section *o = &e->open[e->n - 1];

    TRY(end_counting(e, w));
    if (!o->is_kept || is_complete(x))
        return 0;
    o->is_kept = false;
    return put(e->out, e->t, ms, NULL, false, w);
}

static int export_begin(struct exporting *e, const struct trace_event_read *event, struct why *w)
{
    const struct section *x = event->section;
    bool switches = x && x->mode == TRACE_SW && e->n;
    bool switches_kept = switches && e->open[e->n - 1].is_kept;

    if (switches)
        TRY(end_switched(e, x, event->ms, w));
    struct exported_section *open = array_room(e->open, e->n, sizeof *open);
    if (!open)
        return why_no_memory_for(w, "the exported trace");
    e->open = open;
    open = &e->open[e->n++];
    *open = (struct exported_section){ .section = x, .is_kept = x && is_complete(x) };
    if (!open->is_kept)
        return 0;
    open->is_marked =
        is_unknown(x, &e->known) &&
        (x->layer == TRACE_LD || !has_marks(event, e->t->events->event + e->t->events->n_events));
    const bool is_marked = open->is_marked;
    e->has_sections = true;
    TRY(put(e->out, e->t, event->ms, event->mark, false, w));
    e->out->row[e->out->n - 1].is_nested = switches && !switches_kept;
    return is_marked ? put_begin_of_execution(e->out, e->t, x, &e->known, w) : 0;
}

static int export_end(struct exporting *e, const struct trace_event_read *event, struct why *w)
{
    TRY(end_counting(e, w));
    return e->open[--e->n].is_kept ? put(e->out, e->t, event->ms, NULL, false, w) : 0;
}

static int export_thread(struct trace_sections *s, const struct trace_thread *t,
                         struct exported *out, struct why *w)
{
    struct exporting e = { .out = out, .t = t, .known = known_in(s, t->process) };
    const size_t before = out->n;
    const struct trace_thread_events *from = t->events;
    int rc = 0;

    out->ms = -INFINITY;
    if (is_driver(&e.known) && !e.known.declares && t->n)
        rc = put_name(out, t, t->section[0]->begin, "HIDL::IDevice::ping::server", w);
    for (size_t i = 0; rc == 0 && i < from->n_events; i++) {
        const struct trace_event_read *event = &from->event[i];
        rc = event->mark ? export_begin(&e, event, w) : export_end(&e, event, w);
        if (rc == 0 && event->mark && !event->section &&
            trace_mark_span_end(event->mark, false) == SPAN_NOTIFY)
            rc = put_name(out, t, event->ms, event->mark, w);
    }
    if (!e.has_sections) /* marks alone: a reader takes no thread without sections */
        out->n = before;
    free(e.open);
    return rc;
}

/* ---- lines */

static int in_time(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    const double x_ns = nearbyint(x->ms * 1e6), y_ns = nearbyint(y->ms * 1e6); /* as printed */

    if (x_ns != y_ns)
        return x_ns < y_ns ? -1 : 1;
    if (x->thread->process != y->thread->process)
        return x->thread->process < y->thread->process ? -1 : 1;
    if (x->thread->thread != y->thread->thread)
        return x->thread->thread < y->thread->thread ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* A task has 2 to 15 characters, without those that end the column. */
static void print_task(FILE *to, const char *name)
{
    char task[16] = "";
    size_t n = 0;

    for (; name[n] && n + 1 < sizeof task; n++)
        task[n] = isalnum((unsigned char) name[n]) || strchr("._:/@", name[n]) ? name[n] : '_';
    task[n] = 0;
    fprintf(to, "%16s", n < 2 ? "<...>" : task);
}

/* Brackets would end a tag, bars a field. */
static void print_text(FILE *to, const char *text)
{
    if (!*text)
        fputs("section", to);
    for (; *text; text++)
        putc(*text == '['                     ? '('
             : *text == ']'                   ? ')'
             : *text == '|'                   ? '/'
             : iscntrl((unsigned char) *text) ? ' '
                                              : *text,
             to);
}

static void print_mark(FILE *to, const struct row *r)
{
    struct trace_mark mark;

    if (r->is_named || trace_mark_text(r->mark) == r->mark || !trace_mark_parse(r->mark, &mark)) {
        fputs(r->mark, to);
        return;
    }
    fprintf(to, "%s[NN_%s_%s]", r->is_nested ? "" : trace_mode_prefix[mark.mode],
            trace_layer_name[mark.layer], trace_phase_name[mark.phase]);
    print_text(to, trace_mark_text(r->mark));
}

static void print_row(FILE *to, const struct row *r)
{
    long long process = (long long) r->thread->process;

    print_task(to, r->thread->events->name);
    fprintf(to,
            "-%-5lld (%5lld) [000] .... %.9f: tracing_mark_write: ", (long long) r->thread->thread,
            process, r->ms * 1e-3);
    fprintf(to, r->mark ? "B|%lld|" : "E|%lld", process);
    if (r->mark)
        print_mark(to, r);
    putc('\n', to);
}

/* JSON has numbers that ftrace's columns cannot hold. */
static int check_row(const struct row *r, struct why *w)
{
    const int64_t id[] = { r->thread->process, r->thread->thread };
    static const char *const name[] = { "process", "thread" };

    REQUIRE(w, r->ms >= 0 && r->ms < 1e15,
            "an event at %g ms is not representable in ftrace's text; expected 0 to 1e15", r->ms);
    for (int i = 0; i < 2; i++)
        REQUIRE(w, id[i] >= 0 && id[i] <= INT32_MAX,
                "%s %lld is not representable in ftrace's text; expected 0 to %d", name[i],
                (long long) id[i], INT32_MAX);
    return 0;
}

int trace_export(struct trace_sections *s, FILE *to, struct why *w)
{
    struct exported out = { NULL };
    int rc = 0;

    for (const struct trace_thread *t = s->threads; t && rc == 0; t = t->next)
        rc = export_thread(s, t, &out, w);
    for (size_t i = 0; rc == 0 && i < out.n; i++)
        rc = check_row(&out.row[i], w);
    if (rc == 0 && out.n)
        qsort(out.row, out.n, sizeof *out.row, in_time);
    if (rc == 0)
        fputs("# tracer: nop\n#\n"
              "#           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION\n"
              "#              | |        |      |   ||||       |         |\n",
              to);
    for (size_t i = 0; rc == 0 && i < out.n; i++)
        print_row(to, &out.row[i]);
    free(out.row);
    return rc;
}
