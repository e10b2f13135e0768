#include "harness/trace/trace_moves.h"

#include <stdlib.h>

static bool is_detail(const struct section *x)
{
    const struct section *p = x->parent;

    return p && p->layer == x->layer && !x->is_subtracted &&
           !trace_phase_is_within(x->phase, p->phase) &&
           !(x->phase == TRACE_PI && p->phase != TRACE_PI);
}

/* ---- what is moved */

/* Whether the application's section around a call has another phase than the call.  Executions
 * stay: an application often has a section of its own for a part of them only. */
static bool is_in_wrong_phase(const struct section *x)
{
    const struct section *p = x->parent;

    return p && p->layer == TRACE_LA && (x->layer == TRACE_LR || x->layer == TRACE_LI) &&
           p->phase != x->phase && p->phase != TRACE_PO && x->phase != TRACE_PE &&
           !trace_phase_is_of_execution(x->phase);
}

/* Initialisation happens once, wherever it is needed first.  (parse_systrace moves it also where it
 * has no parent: then nothing is subtracted from it.) */
static bool is_late_initialisation(const struct trace_sections *s, const struct section *x)
{
    return x->phase == TRACE_PI && (x->parent ? x->parent->phase != TRACE_PI : s->is_public);
}

static bool is_misplaced(const struct trace_sections *s, const struct section *x)
{
    return x->mode == TRACE_SUB || is_late_initialisation(s, x) || is_in_wrong_phase(x);
}

/* Where parse_systrace has the copy that is counted instead. */
static struct section *public_place(const struct section *x)
{
    struct section *p = x->parent;

    if (x->mode == TRACE_SUB) {
        while (p && (p->layer != x->layer || is_detail(p)))
            p = p->parent;
    } else if (x->phase == TRACE_PI) {
        return NULL;
    } else {
        p = p->parent;
    }
    return p ? p->parent : NULL;
}

/* A section of the same layer, around the one from which `x` is subtracted, whose time has that of
 * `x`: of the same phase, or the execution that it is a part of.  NULL: none. */
static struct section *holder(const struct section *x)
{
    struct section *p = x->parent;

    while (p && is_detail(p))
        p = p->parent;
    for (p = p ? p->parent : NULL; p; p = p->parent)
        if (p->layer == x->layer &&
            (p->phase == x->phase ||
             (p->phase == TRACE_PE && trace_phase_is_of_execution(x->phase))))
            return p;
    return NULL;
}

static int move(struct trace_sections *s, struct trace_thread *t, struct section *x, struct why *w)
{
    struct section *place = s->is_public ? public_place(x) : holder(x), *copy = NULL;

    if (s->is_public || !place || place->phase != x->phase) {
        if (!(copy = arena_copy(s->arena, x, sizeof *x)))
            return why_no_memory_for(w, "a trace");
        copy->parent = place;
        copy->mode = TRACE_NEST;
        copy->is_subtracted = false;
        copy->is_added = true;
        copy->of = x;
        TRY(trace_thread_add(t, copy, w));
    }
    x->is_subtracted = true;
    return 0;
}

static int move_all(struct trace_sections *s, struct trace_thread *t, struct why *w)
{
    size_t n = t->n;
    bool *moves = calloc(n + 1, sizeof *moves);
    int rc = 0;

    if (!moves)
        return why_no_memory_for(w, "a trace");
    for (size_t i = 0; i < n; i++)
        moves[i] = is_misplaced(s, t->section[i]);
    for (size_t i = 0; i < n; i++)
        t->section[i]->is_subtracted = moves[i] && t->section[i]->mode == TRACE_SUB;
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (moves[i])
            rc = move(s, t, t->section[i], w);
    free(moves);
    return rc;
}

/* ---- what is added */

/* A call in an application's section of another phase, which was not moved: its phase of the
 * application. */
static int add_application(struct trace_sections *s, struct trace_thread *t, struct section *x,
                           struct why *w)
{
    struct section *added = arena_copy(s->arena, x, sizeof *x);

    if (!added)
        return why_no_memory_for(w, "a trace");
    added->layer = TRACE_LA;
    added->is_added = true;
    added->mode = TRACE_NEST;
    added->of = x;
    x->parent = added;
    return trace_thread_add(t, added, w);
}

/* Subtracts what is moved from what it was moved out of: from children to parents.  An overall
 * section keeps everything that happens in it. */
static void subtract_all(const struct trace_sections *s, struct trace_thread *t)
{
    for (size_t i = t->n; i-- > 0;) {
        struct section *x = t->section[i], *p = x->parent;
        if (!p)
            continue;
        if (x->is_subtracted && (s->is_public || p->phase != TRACE_PO))
            p->moved += x->end - x->begin;
        else if (!x->is_subtracted && is_detail(x))
            p->moved += x->moved;
    }
}

/* What is moved out of a section is not in its copy, either. */
static void subtract_from_added(const struct trace_sections *s, struct trace_thread *t)
{
    for (size_t i = 0; i < t->n; i++) {
        struct section *x = t->section[i];
        if (x->is_added && (!s->is_public || x->layer != x->of->layer))
            x->moved = x->of->moved;
    }
}

double trace_section_ms(const struct section *x)
{
    return x->end - x->begin - x->moved;
}

/* ---- what is wrong */

static bool is_phase_in(const struct section *x, const struct section *p)
{
    return x->phase == p->phase || x->phase == TRACE_PI ||
           trace_phase_is_within(x->phase, p->phase) ||
           (trace_phase_is_of_execution(x->phase) && trace_phase_is_within(TRACE_PE, p->phase));
}

/* A driver may be called without IPC: in the caller's process. */
static bool is_layer_in(const struct section *x, const struct section *p)
{
    switch (p->layer) {
    case TRACE_LA: return x->layer == TRACE_LA || x->layer == TRACE_LR;
    case TRACE_LR: return x->layer != TRACE_LA;
    case TRACE_LI: return x->layer == TRACE_LI || x->layer == TRACE_LD;
    default: return x->layer == p->layer;
    }
}

static int check_nesting(const struct trace_sections *s, const struct trace_thread *t,
                         const struct section *x, struct why *w)
{
    const struct section *p = x->parent;
    bool is_free = !p || x->is_subtracted || (x->is_added && !s->is_public);
    const char *what = is_free              ? NULL
                       : !is_layer_in(x, p) ? "layer"
                       : !is_phase_in(x, p) ? "phase"
                                            : NULL;

    REQUIRE(w, !what,
            "%s: line %u: thread %lld of process %lld: %.120s is nested in %.120s (line %u): wrong "
            "%s%s",
            t->file, x->line, (long long) t->thread, (long long) t->process, x->name, p->name,
            p->line, what,
            *what == 'l' ? "; layers nest as LA, LR, LI, LD, and LC or LD in LR"
                         : "; a phase nests in itself, PIO PTR PCO PR in PE, all in PO; others are "
                           "marked [SUB]");
    return 0;
}

static int in_order(const void *a, const void *b)
{
    const struct section *x = *(struct section *const *) a, *y = *(struct section *const *) b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->is_added != y->is_added)
        return x->is_added ? 1 : -1;
    return (x->line > y->line) - (x->line < y->line);
}

int trace_moves_make(struct trace_sections *s, struct trace_thread *t, struct why *w)
{
    TRY(move_all(s, t, w));
    size_t n = t->n;
    for (size_t i = 0; i < n; i++) {
        struct section *x = t->section[i];
        if (!is_detail(x) && !x->is_subtracted && is_in_wrong_phase(x))
            TRY(add_application(s, t, x, w));
    }
    subtract_all(s, t);
    subtract_from_added(s, t);
    for (size_t i = 0; i < t->n; i++) {
        t->section[i]->is_detail = is_detail(t->section[i]);
        TRY(check_nesting(s, t, t->section[i], w));
    }
    if (t->n)
        qsort(t->section, t->n, sizeof(struct section *), in_order);
    return 0;
}
