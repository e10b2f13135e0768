#include "harness/trace/trace_sections.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An entry of a thread's stack of open sections.  section is NULL for one that a switch has ended,
 * or that is not NNAPI's: only its end event is still expected. */
struct open_section {
    struct open_section *below;
    struct section *section;
};

bool phase_is_of_execution(enum trace_phase phase)
{
    return phase == TRACE_PIO || phase == TRACE_PTR || phase == TRACE_PCO || phase == TRACE_PR;
}

/* ---- marks */

static bool take(const char **at, const char *text)
{
    size_t n = strlen(text);
    bool is_there = strncmp(*at, text, n) == 0;

    *at += is_there ? n : 0;
    return is_there;
}

/* Index of the name that is followed by `end`; -1: none. */
static int take_name(const char **at, const char *const *names, int n, char end)
{
    for (int i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(*at, names[i], length) == 0 && (*at)[length] == end) {
            *at += length + 1;
            return i;
        }
    }
    return -1;
}

/* "[SW][NN_LD_PCO]run" */
static bool parse_mark(const char *mark, struct section *s)
{
    const char *at = mark;

    s->mode = TRACE_NEST;
    for (int mode = TRACE_SW; mode <= TRACE_SUB; mode++)
        if (take(&at, trace_mode_prefix[mode]))
            s->mode = (enum trace_mode) mode;
    if (!take(&at, "[NN_"))
        return false;
    int layer = take_name(&at, trace_layer_name, TRACE_LAYERS, '_');
    int phase = layer < 0 ? -1 : take_name(&at, trace_phase_name, TRACE_PHASES, ']');
    if (phase < 0)
        return false;
    s->layer = (enum trace_layer) layer;
    s->phase = (enum trace_phase) phase;
    return true;
}

/* ---- threads */

static struct trace_thread *find_thread(struct trace_sections *s, int64_t process, int64_t thread)
{
    struct trace_thread **at = &s->threads, *t;

    while ((t = *at) && (t->process != process || t->thread != thread))
        at = &t->next;
    if (t) { /* to the front: the next event is likely to be of the same thread */
        *at = t->next;
    } else if ((t = arena_alloc(s->arena, 1, sizeof *t))) {
        t->process = process;
        t->thread = thread;
    } else {
        return NULL;
    }
    t->next = s->threads;
    s->threads = t;
    return t;
}

static int push(struct trace_sections *s, struct trace_thread *t, struct section *x, struct why *w)
{
    struct open_section *o = arena_alloc(s->arena, 1, sizeof *o);

    if (!o)
        return why_no_memory_for(w, "a trace");
    *o = (struct open_section){ t->open, x };
    t->open = o;
    return 0;
}

/* ---- begins and ends */

/* Determines how a section counts beside its parent: as a detail of it, moved out of it, or for
 * itself.  Nothing is moved out of overall sections (phase PO), which comprise all phases. */
static void place(struct section *x)
{
    const struct section *p = x->parent;
    bool begins = p && x->phase == TRACE_PI && p->phase != TRACE_PI;
    bool is_whole = p && p->phase == TRACE_PO;

    if (p && x->phase == TRACE_PU)
        x->phase = p->phase;
    x->is_subtracted = !is_whole && (x->mode == TRACE_SUB || begins);
    x->is_detail = p && !x->is_subtracted && p->layer == x->layer &&
                   !(phase_is_of_execution(x->phase) && p->phase == TRACE_PE);
}

static void end_section(struct section *x, double at)
{
    x->end = at;
    if (x->parent && x->is_detail)
        x->parent->moved += x->moved;
    else if (x->parent && x->is_subtracted)
        x->parent->moved += x->end - x->begin;
}

static int begin(struct trace_sections *s, struct trace_thread *t, const char *mark, double at,
                 struct why *w)
{
    struct section parsed = { .begin = at, .end = -1 }, *x = NULL;
    struct open_section *o = t->open;

    if (!parse_mark(mark, &parsed)) /* not NNAPI's */
        return push(s, t, NULL, w);
    if (parsed.mode == TRACE_SW && o && o->section) {
        end_section(o->section, at);
        o->section = NULL;
    }
    while (o && !o->section)
        o = o->below;
    parsed.parent = o ? o->section : NULL;
    parsed.name = arena_strdup(s->arena, mark);
    place(&parsed);
    x = arena_copy(s->arena, &parsed, sizeof parsed);
    if (!x || !x->name)
        return why_no_memory_for(w, "a trace");
    s->has_runtime |= x->layer == TRACE_LR;
    t->has_application |= x->layer == TRACE_LA;
    if (t->n == t->room) {
        size_t room = 2 * t->room + 64;
        struct section **more = realloc(t->section, room * sizeof(struct section *));
        if (!more)
            return why_no_memory_for(w, "a trace");
        t->section = more;
        t->room = room;
    }
    t->section[t->n++] = x;
    return push(s, t, x, w);
}

static int end(struct trace_thread *t, double at, struct why *w)
{
    struct open_section *o = t->open;

    REQUIRE(w, o, "thread %lld: end event (E) without a begin event (B)", (long long) t->thread);
    if (o->section)
        end_section(o->section, at);
    t->open = o->below;
    return 0;
}

/* Ignores events of device tracks (category "device") and metadata such as thread names. */
static int take_event(struct trace_sections *s, const json_t *e, struct why *w)
{
    const char *kind = json_string_value(json_object_get(e, "ph"));
    const char *mark = json_string_value(json_object_get(e, "name"));
    const char *category = json_string_value(json_object_get(e, "cat"));
    double at = json_number_value(json_object_get(e, "ts")) * 1e-3;
    bool begins = kind && strcmp(kind, "B") == 0;

    if (!kind || (!begins && strcmp(kind, "E") != 0) ||
        (category && strcmp(category, "device") == 0))
        return 0;
    struct trace_thread *t = find_thread(s, (int64_t) json_integer_value(json_object_get(e, "pid")),
                                         (int64_t) json_integer_value(json_object_get(e, "tid")));
    if (!t)
        return why_no_memory_for(w, "a trace");
    return begins ? begin(s, t, mark ? mark : "", at, w) : end(t, at, w);
}

/* ---- files */

static int take_line(struct trace_sections *s, char *line, struct why *w)
{
    size_t n = strlen(line);

    while (n && strchr(" \r\n,", line[n - 1]))
        line[--n] = 0;
    line += strspn(line, " ");
    if (!*line || strcmp(line, "[") == 0 || strcmp(line, "]") == 0)
        return 0;
    json_error_t error;
    json_t *e = json_loads(line, 0, &error);
    int rc = json_is_object(e) ? take_event(s, e, w)
                               : why_fail(w, WHY_INVALID, "expected an event, a JSON object%s%s",
                                          e ? "" : ": ", e ? "" : error.text);
    json_decref(e);
    return rc;
}

int trace_sections_read(struct trace_sections *s, const char *path, struct why *w)
{
    if (!s->arena && !(s->arena = arena_new(0)))
        return why_no_memory_for(w, "a trace");
    FILE *from = fopen(path, "r");
    if (!from)
        return why_fail(w, WHY_INVALID, "%s: %s", path, strerror(errno));
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    for (unsigned long number = 1; rc == 0 && getline(&line, &room, from) >= 0; number++)
        if ((rc = take_line(s, line, w)) < 0)
            why_prefix(w, "line %lu", number);
    free(line);
    if (rc == 0 && ferror(from))
        rc = why_fail(w, WHY_INVALID, "%s", strerror(errno));
    fclose(from);
    return rc < 0 ? why_prefix(w, "%s", path) : 0;
}

int trace_sections_close(struct trace_sections *s, struct why *w)
{
    REQUIRE(w, s->threads, "the trace has no sections");
    for (struct trace_thread *t = s->threads; t; t = t->next) {
        size_t n = 0;
        for (size_t i = 0; i < t->n; i++)
            if (t->section[i]->end >= 0)
                t->section[n++] = t->section[i];
        s->unfinished += t->n - n;
        t->n = n;
    }
    return 0;
}

void trace_sections_done(struct trace_sections *s)
{
    for (struct trace_thread *t = s->threads; t; t = t->next)
        free(t->section);
    arena_free(s->arena);
    *s = (struct trace_sections){ 0 };
}
