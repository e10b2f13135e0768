#include "harness/trace/trace_events.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"

/* ---- threads */

struct trace_thread_events *trace_file_thread(struct trace_file *f, int64_t process, int64_t thread)
{
    struct trace_events *e = f->events;
    struct trace_thread_events **at = &e->threads, *t;

    while ((t = *at) &&
           (t->thread != thread || (process >= 0 && t->process >= 0 && t->process != process)))
        at = &t->next;
    if (t) { /* to the front: the next event is likely to be of the same thread */
        *at = t->next;
    } else if ((t = arena_alloc(e->arena, 1, sizeof *t))) {
        t->process = -1;
        t->thread = thread;
        t->name = "";
    } else {
        return NULL;
    }
    t->process = process >= 0 ? process : t->process;
    t->file = f->path;
    t->next = e->threads;
    e->threads = t;
    return t;
}

static int put_event(struct trace_thread_events *t, const struct trace_event_read *event,
                     struct why *w)
{
    struct trace_event_read *more = array_room(t->event, t->n_events, sizeof *t->event);

    if (!more)
        return why_no_memory_for(w, "a trace");
    t->event = more;
    t->event[t->n_events++] = *event;
    return 0;
}

int trace_file_event(struct trace_file *f, struct trace_thread_events *t, double ms,
                     const char *mark, struct why *w)
{
    const char *copy = mark ? arena_strdup(f->events->arena, mark) : NULL;

    if (mark && !copy)
        return why_no_memory_for(w, "a trace");
    return put_event(t, &(struct trace_event_read){ .ms = ms, .mark = copy, .line = f->line }, w);
}

int trace_file_slice(struct trace_file *f, struct trace_thread_events *t, double begin, double end,
                     const char *mark, struct why *w)
{
    struct trace_slice *more = array_room(t->slice, t->n_slices, sizeof *t->slice);
    const char *copy = arena_strdup(f->events->arena, mark);

    if (more)
        t->slice = more;
    if (!more || !copy)
        return why_no_memory_for(w, "a trace");
    t->slice[t->n_slices++] = (struct trace_slice){ begin, end, copy, f->line };
    return 0;
}

/* ---- slices */

/* By their begin, an outer one before those within it; equal ones as in the file. */
static int outer_first(const void *a, const void *b)
{
    const struct trace_slice *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end > y->end ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

/* Files have times in microseconds with three decimals, of which begin + duration is rounded. */
static const double rounding = 2e-6;

/* Events of a thread that are being put in order. */
struct merge {
    struct trace_thread_events *to;
    const struct trace_event_read *from; /* its other events */
    size_t n, next;
    const struct trace_slice **open; /* a stack */
    size_t depth;
};

/* Puts the other events that are at most as late as `ms`. */
static int put_others(struct merge *m, double ms, struct why *w)
{
    for (; m->next < m->n && m->from[m->next].ms <= ms; m->next++)
        TRY(put_event(m->to, &m->from[m->next], w));
    return 0;
}

/* Ends the innermost slices that end at `ms` or before. */
static int end_slices(struct merge *m, double ms, struct why *w)
{
    for (; m->depth && m->open[m->depth - 1]->end <= ms + rounding; m->depth--) {
        const struct trace_slice *x = m->open[m->depth - 1];
        TRY(put_others(m, x->end, w));
        TRY(put_event(m->to, &(struct trace_event_read){ .ms = x->end, .line = x->line }, w));
    }
    return 0;
}

static int begin_slice(struct merge *m, const struct trace_slice *x, struct why *w)
{
    const struct trace_slice *around = m->depth ? m->open[m->depth - 1] : NULL;

    REQUIRE(w, !around || x->end <= around->end + rounding,
            "%s: line %u: thread %lld: %.100s overlaps the end of %.100s (line %u); sections of a "
            "thread must nest",
            m->to->file, x->line, (long long) m->to->thread, x->mark, around->mark, around->line);
    TRY(put_others(m, x->begin, w));
    TRY(put_event(
        m->to, &(struct trace_event_read){ .ms = x->begin, .mark = x->mark, .line = x->line }, w));
    m->open[m->depth++] = x;
    return 0;
}

int trace_events_unfold(struct trace_thread_events *t, struct why *w)
{
    struct merge m = { .to = t, .from = t->event, .n = t->n_events };
    struct trace_event_read *others = t->event;
    int rc = 0;

    if (!t->n_slices)
        return 0;
    if (!(m.open = malloc(t->n_slices * sizeof(const struct trace_slice *))))
        return why_no_memory_for(w, "a trace");
    t->event = NULL;
    t->n_events = 0;
    qsort(t->slice, t->n_slices, sizeof *t->slice, outer_first);
    for (size_t i = 0; rc == 0 && i < t->n_slices; i++)
        if ((rc = end_slices(&m, t->slice[i].begin, w)) == 0)
            rc = begin_slice(&m, &t->slice[i], w);
    if (rc == 0 && (rc = end_slices(&m, INFINITY, w)) == 0)
        rc = put_others(&m, INFINITY, w);
    free(others);
    free(m.open);
    t->n_slices = 0;
    return rc;
}

/* ---- files */

/* The first character that is no blank, still to be read; EOF: none. */
static int first_of(struct trace_file *f)
{
    int c = getc(f->from);

    if (c == 0xef && getc(f->from) == 0xbb) { /* a byte order mark */
        getc(f->from);
        c = getc(f->from);
    }
    for (; c == ' ' || c == '\t' || c == '\r' || c == '\n'; c = getc(f->from))
        f->line += c == '\n';
    ungetc(c, f->from);
    return c;
}

static int read_any(struct trace_file *f, struct why *w)
{
    int first = first_of(f);

    REQUIRE(w, first != 0x1f, "compressed; decompress it first");
    if (first == '[' || first == '{' || first == EOF)
        return trace_read_json(f, w);
    return trace_read_ftrace(f, w);
}

int trace_events_read(struct trace_events *e, const char *path, struct why *w)
{
    if (!e->arena && !(e->arena = arena_new(0)))
        return why_no_memory_for(w, "a trace");
    struct trace_file f = { .events = e, .path = arena_strdup(e->arena, path), .line = 1 };
    if (!f.path)
        return why_no_memory_for(w, "a trace");
    if (!(f.from = fopen(path, "r")))
        return why_file(w, path, errno);
    int rc = read_any(&f, w);
    if (ferror(f.from))
        rc = why_fail(w, WHY_INVALID, "%s", strerror(errno));
    fclose(f.from);
    return rc < 0 ? why_prefix(w, "%s", path) : 0;
}

void trace_events_done(struct trace_events *e)
{
    for (struct trace_thread_events *t = e->threads; t; t = t->next) {
        free(t->event);
        free(t->slice);
    }
    arena_free(e->arena);
    *e = (struct trace_events){ 0 };
}
