#include "harness/trace/trace_sections.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "harness/trace/trace_moves.h"

/* The sections that a thread is in, while its events are read.  NULL: a switch has ended it, or it
 * is not counted; only its end event is still expected. */
struct open_stack {
    struct section **section;
    size_t n;
};

/* ---- processes and threads */

struct trace_process *trace_sections_process(struct trace_sections *s, int64_t process)
{
    struct trace_process *p = s->processes;

    while (p && p->process != process)
        p = p->next;
    if (!p && (p = arena_alloc(s->arena, 1, sizeof *p))) {
        *p = (struct trace_process){ .next = s->processes, .process = process };
        s->processes = p;
    }
    return p;
}

/* Whether one of a thread's marks fulfils a condition. */
static bool has_mark(const struct trace_thread_events *t, bool (*is_it)(const char *mark))
{
    for (size_t i = 0; i < t->n_events; i++)
        if (t->event[i].mark && is_it(t->event[i].mark))
            return true;
    for (size_t i = 0; i < t->n_slices; i++)
        if (is_it(t->slice[i].mark))
            return true;
    return false;
}

static bool has_tag(const char *mark)
{
    return strstr(mark, "[NN_");
}

static bool is_publicly_served(const char *mark)
{
    return strstr(mark, "HIDL::IDevice") && strstr(mark, "::server");
}

/* Whether a thread's events are NNAPI's, at least some of them.  Of others, such as those of the
 * system, the trace may have any part. */
static bool is_of_nnapi(const struct trace_sections *s, const struct trace_thread_events *t)
{
    return has_mark(t, has_tag) ||
           has_mark(t, s->is_public ? is_publicly_served : trace_mark_is_served);
}

static int note_process(struct trace_sections *s, const struct trace_thread_events *t,
                        struct why *w)
{
    struct trace_process *p = trace_sections_process(s, t->process);

    if (!p)
        return why_no_memory_for(w, "a trace");
    p->serves |= has_mark(t, s->is_public ? is_publicly_served : trace_mark_is_served);
    return 0;
}

/* ---- begins and ends */

static int push(struct open_stack *o, struct section *x, struct why *w)
{
    struct section **section = array_room(o->section, o->n, sizeof(struct section *));

    if (!section)
        return why_no_memory_for(w, "a trace");
    o->section = section;
    o->section[o->n++] = x;
    return 0;
}

int trace_thread_add(struct trace_thread *t, struct section *x, struct why *w)
{
    struct section **section = array_room(t->section, t->n, sizeof(struct section *));

    if (!section)
        return why_no_memory_for(w, "a trace");
    t->section = section;
    t->section[t->n++] = x;
    return 0;
}

static int add_notification(struct trace_thread *t, double ms, struct why *w)
{
    double *notified = array_room(t->notified, t->n_notified, sizeof ms);

    if (!notified)
        return why_no_memory_for(w, "a trace");
    t->notified = notified;
    t->notified[t->n_notified++] = ms;
    return 0;
}

static struct section *innermost(const struct open_stack *o)
{
    for (size_t i = o->n; i > 0; i--)
        if (o->section[i - 1])
            return o->section[i - 1];
    return NULL;
}

/* A driver computes with the reference: its time is the driver's.  The public parser knows a driver
 * by its process alone, and so a driver in the application's process as the CPU. */
static enum trace_layer layer_of(const struct trace_sections *s, const struct trace_mark *mark,
                                 const struct section *parent, bool serves)
{
    if (mark->layer == TRACE_LC &&
        (serves || (!s->is_public && parent && parent->layer == TRACE_LD)))
        return TRACE_LD;
    return mark->layer == TRACE_LD && s->is_public && !serves ? TRACE_LC : mark->layer;
}

static int begin(struct trace_sections *s, struct trace_thread *t, struct open_stack *o,
                 struct trace_event_read *e, struct trace_process *process, struct why *w)
{
    struct trace_mark mark;

    if (!trace_mark_parse(e->mark, &mark)) {
        if (trace_mark_span_end(e->mark, s->is_public) == SPAN_NOTIFY)
            TRY(add_notification(t, e->ms, w));
        return push(o, NULL, w);
    }
    if (mark.mode == TRACE_SW) {
        REQUIRE(w, o->n, "%s switches from a section (mode [SW]), but is in none", e->mark);
        if (o->section[o->n - 1])
            o->section[o->n - 1]->end = e->ms;
        o->section[o->n - 1] = NULL;
    }
    struct section *parent = innermost(o), *x;
    if (mark.phase == TRACE_PU && !parent)
        return push(o, NULL, w);
    if (!(x = arena_alloc(s->arena, 1, sizeof *x)))
        return why_no_memory_for(w, "a trace");
    *x = (struct section){ .parent = parent,
                           .begin = e->ms,
                           .end = -1,
                           .mode = mark.mode,
                           .layer = layer_of(s, &mark, parent, process->serves),
                           .phase = mark.phase == TRACE_PU ? parent->phase : mark.phase,
                           .name = e->mark,
                           .line = e->line };
    s->has_runtime |= x->layer == TRACE_LR;
    s->has_runs |= x->layer == TRACE_LA && x->phase == TRACE_PO;
    process->has_application |= x->layer == TRACE_LA;
    e->section = x;
    TRY(trace_thread_add(t, x, w));
    return push(o, x, w);
}

static int end(struct open_stack *o, const struct trace_event_read *e, struct why *w)
{
    REQUIRE(w, o->n,
            "an end (E) without a begin (B): the trace begins in the middle of a section; record "
            "again, from before the application's first call to after its last");
    if (o->section[--o->n])
        o->section[o->n]->end = e->ms;
    return 0;
}

/* ---- trees */

/* Lists the sections without an end, outer ones first, and takes them out of the others. */
static int keep_complete(struct trace_sections *s, struct trace_thread *t, struct why *w)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        t->n_open += t->section[i]->end < 0;
    t->open = arena_alloc(s->arena, t->n_open + 1, sizeof(struct section *));
    if (!t->open)
        return why_no_memory_for(w, "a trace");
    t->n_open = 0;
    for (size_t i = 0; i < t->n; i++)
        if (t->section[i]->end < 0)
            t->open[t->n_open++] = t->section[i];
        else
            t->section[n++] = t->section[i];
    t->n = n;
    return 0;
}

static int build(struct trace_sections *s, struct trace_thread *t,
                 const struct trace_thread_events *from, struct open_stack *o, struct why *w)
{
    struct trace_process *process = trace_sections_process(s, t->process);

    for (size_t i = 0; i < from->n_events; i++) {
        struct trace_event_read *e = &from->event[i];
        int rc = e->mark ? begin(s, t, o, e, process, w) : end(o, e, w);
        if (rc < 0)
            return why_prefix(w, "%s: line %u: thread %lld", t->file, e->line,
                              (long long) t->thread);
    }
    TRY(keep_complete(s, t, w));
    return trace_moves_make(s, t, w);
}

/* Whether a thread's first section begins before another's. */
static bool is_before(const struct trace_thread *t, const struct trace_thread *other)
{
    if (!t->n || !other->n)
        return t->n > 0;
    const struct section *x = t->section[0], *y = other->section[0];
    return x->begin != y->begin ? x->begin < y->begin : x->line < y->line;
}

static int add_thread(struct trace_sections *s, const struct trace_thread_events *from,
                      struct why *w)
{
    struct open_stack open = { NULL };
    struct trace_thread *t = arena_alloc(s->arena, 1, sizeof *t), **at = &s->threads;

    if (!t)
        return why_no_memory_for(w, "a trace");
    *t = (struct trace_thread){
        .events = from, .file = from->file, .process = from->process, .thread = from->thread
    };
    int rc = build(s, t, from, &open, w);
    free(open.section);
    while (*at && is_before(*at, t))
        at = &(*at)->next;
    t->next = *at;
    *at = t;
    return rc;
}

int trace_sections_read(struct trace_sections *s, const char *path, struct why *w)
{
    if (!s->arena && !(s->arena = arena_new(0)))
        return why_no_memory_for(w, "a trace");
    s->path = path;
    return trace_events_read(&s->events, path, w);
}

int trace_sections_close(struct trace_sections *s, struct why *w)
{
    for (struct trace_thread_events *t = s->events.threads; t; t = t->next)
        TRY(note_process(s, t, w));
    for (struct trace_thread_events *t = s->events.threads; t; t = t->next) {
        if (!is_of_nnapi(s, t))
            continue;
        TRY(trace_events_unfold(t, w));
        TRY(add_thread(s, t, w));
    }
    REQUIRE(w, s->threads, "%s: the trace has no sections of NNAPI ('[NN_LAYER_PHASE]name')",
            s->path);
    return 0;
}

void trace_sections_done(struct trace_sections *s)
{
    for (struct trace_thread *t = s->threads; t; t = t->next) {
        free(t->section);
        free(t->notified);
    }
    trace_events_done(&s->events);
    arena_free(s->arena);
    *s = (struct trace_sections){ 0 };
}
