#include "harness/trace/trace_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"

/* ---- runs */

static bool is_run(const struct section *x)
{
    return x->layer == TRACE_LA && x->phase == TRACE_PO && !x->is_detail && !x->is_added;
}

static int in_time(const void *a, const void *b)
{
    const struct trace_run *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->line > y->line) - (x->line < y->line);
}

static struct trace_run run_of(struct trace_thread *t, const struct section *x)
{
    bool is_open = x->end < 0;

    return (struct trace_run){ .mark = x->name,
                               .line = x->line,
                               .thread = t,
                               .begin = x->begin,
                               .end = is_open ? INFINITY : x->end,
                               .runs = 1,
                               .open = is_open ? x : NULL,
                               .open_thread = t };
}

/* runs NULL: counts them. */
static size_t list_runs(struct trace_sections *s, struct trace_run *runs)
{
    size_t n = 0;

    for (struct trace_thread *t = s->threads; t; t = t->next)
        for (size_t i = 0; i < t->n + t->n_open; i++) {
            const struct section *x = i < t->n ? t->section[i] : t->open[i - t->n];
            if (is_run(x) && runs)
                runs[n] = run_of(t, x);
            n += is_run(x);
        }
    if (n == 0 && !s->has_runs && runs)
        runs[n] = (struct trace_run){ .mark = "", .begin = -INFINITY, .end = INFINITY, .runs = 1 };
    return n + (n == 0 && !s->has_runs);
}

/* For the public parser a run lasts until the next one begins, and has what is before the first. */
static void widen(struct trace_run *runs, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        runs[i].begin = i ? runs[i].begin : -INFINITY;
        runs[i].end = i + 1 < n ? runs[i + 1].begin : INFINITY;
    }
}

/* Index of the first section of a thread that begins at time `at` or later. */
static size_t first_from(const struct trace_thread *t, double at)
{
    size_t low = 0, high = t->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (t->section[middle]->begin < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_thread(struct trace_sections *s, const struct trace_run *r,
                       const struct trace_thread *t)
{
    if (!r->thread || s->is_public || t->process == r->thread->process)
        return true;
    return r->calls && !trace_sections_process(s, t->process)->has_application;
}

size_t trace_run_sections(struct trace_sections *s, const struct trace_run *r,
                          const struct trace_thread *t, size_t *ret_first)
{
    *ret_first = 0;
    if (!has_thread(s, r, t))
        return 0;
    *ret_first = first_from(t, r->begin);
    return first_from(t, r->end);
}

static void find_calls(struct trace_sections *s, struct trace_run *r)
{
    for (const struct trace_thread *t = s->threads; t && !r->calls; t = t->next) {
        size_t first, end = trace_run_sections(s, r, t, &first);
        for (size_t i = first; i < end && !r->calls; i++)
            r->calls = t->section[i]->layer == TRACE_LI;
    }
}

static void find_open(struct trace_sections *s, struct trace_run *r)
{
    for (const struct trace_thread *t = s->threads; t; t = t->next)
        for (size_t i = 0; i < t->n_open && has_thread(s, r, t); i++)
            if (!r->open && t->open[i]->begin >= r->begin && t->open[i]->begin < r->end) {
                r->open = t->open[i];
                r->open_thread = t;
            }
}

/* ---- parts of a run, and executions from one thread to another */

struct interval {
    double begin, end;
    double latest; /* of the ends up to this interval */
    int part;      /* of the application */
    int64_t process;
};

struct intervals {
    struct interval *of;
    size_t n;
};

static int add_interval(struct intervals *all, const struct interval *x, struct why *w)
{
    struct interval *more = array_room(all->of, all->n, sizeof *more);
    if (!more)
        return why_no_memory_for(w, "a trace");
    all->of = more;
    all->of[all->n++] = *x;
    return 0;
}

static int by_begin(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static int by_end(const void *a, const void *b)
{
    const struct interval *x = a, *y = b;

    return (x->end > y->end) - (x->end < y->end);
}

static void sort(struct intervals *all, int (*order)(const void *, const void *))
{
    if (all->n)
        qsort(all->of, all->n, sizeof *all->of, order);
    for (size_t i = 0; i < all->n; i++)
        all->of[i].latest =
            i && all->of[i - 1].latest > all->of[i].end ? all->of[i - 1].latest : all->of[i].end;
}

/* The last of sorted intervals that begins at `at` or before; NULL: none. */
static const struct interval *last_until(const struct intervals *all, double at)
{
    size_t low = 0, high = all->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (all->of[middle].begin <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &all->of[low - 1] : NULL;
}

/* What is measured of a run. */
struct measuring {
    struct trace_sections *s;
    struct trace_run *r;
    struct intervals parts;   /* warm-ups and benchmarks */
    struct intervals end[4];  /* by enum trace_span_end: their sections */
    struct intervals span[2]; /* executions in the runtime (TRACE_LR), in drivers */
    unsigned created[TRACE_PARTS], application[TRACE_PARTS], runtime[TRACE_PARTS];
};

static struct intervals *spans_of(struct measuring *m, enum trace_layer layer)
{
    return layer == TRACE_LR ? &m->span[0] : layer == TRACE_LD ? &m->span[1] : NULL;
}

/* The innermost part that a time lies in. */
static int part_at(const struct measuring *m, double at)
{
    const struct interval *x = last_until(&m->parts, at);

    while (x && x->latest > at && x->end <= at)
        x = x > m->parts.of ? x - 1 : NULL;
    return x && x->end > at ? x->part : TRACE_PO;
}

/* Calls `take` for every section of the run. */
static int for_sections(struct measuring *m,
                        int (*take)(struct measuring *, const struct trace_thread *,
                                    const struct section *, struct why *),
                        struct why *w)
{
    for (const struct trace_thread *t = m->s->threads; t; t = t->next) {
        size_t first, end = trace_run_sections(m->s, m->r, t, &first);
        for (size_t i = first; i < end; i++)
            TRY(take(m, t, t->section[i], w));
    }
    return 0;
}

static int take_part(struct measuring *m, const struct trace_thread *t, const struct section *x,
                     struct why *w)
{
    if (x->layer != TRACE_LA || (x->phase != TRACE_PWU && x->phase != TRACE_PBM) || x->is_added)
        return 0;
    return add_interval(
        &m->parts,
        &(struct interval){
            .begin = x->begin, .end = x->end, .part = (int) x->phase, .process = t->process },
        w);
}

static int note_end(struct measuring *m, const struct trace_thread *t, enum trace_span_end which,
                    double begin, double end, struct why *w)
{
    struct interval x = { begin, end, 0, part_at(m, begin), t->process };

    return add_interval(&m->end[which], &x, w);
}

static int take_end(struct measuring *m, const struct trace_thread *t, const struct section *x,
                    struct why *w)
{
    int which =
        x->phase == TRACE_PE && !x->is_added ? trace_mark_span_end(x->name, m->s->is_public) : -1;

    return which < 0 ? 0 : note_end(m, t, (enum trace_span_end) which, x->begin, x->end, w);
}

static int take_notifications(struct measuring *m, struct why *w)
{
    for (const struct trace_thread *t = m->s->threads; t; t = t->next)
        for (size_t i = 0; i < t->n_notified && has_thread(m->s, m->r, t); i++)
            if (t->notified[i] >= m->r->begin && t->notified[i] < m->r->end)
                TRY(note_end(m, t, SPAN_NOTIFY, t->notified[i], t->notified[i], w));
    return 0;
}

/* Pairs each begin with the first later end of its process.  (Which end it is does not change the
 * sum.) */
static int pair(struct intervals *begins, struct intervals *ends, struct intervals *ret,
                struct why *w)
{
    size_t unused = 0;

    sort(begins, by_begin);
    sort(ends, by_end);
    for (size_t i = 0; i < begins->n; i++) {
        const struct interval *b = &begins->of[i];
        while (unused < ends->n && ends->of[unused].part < 0)
            unused++;
        for (size_t k = unused; k < ends->n; k++) {
            struct interval *e = &ends->of[k];
            if (e->part < 0 || e->process != b->process || e->end < b->begin)
                continue;
            e->part = -1; /* used */
            TRY(add_interval(ret, &(struct interval){ b->begin, e->end, 0, b->part, b->process },
                             w));
            break;
        }
    }
    sort(ret, by_begin);
    return 0;
}

/* ---- times */

/* Whether a section lies within an execution (phase PE) of its own layer. */
static bool is_in_execution(const struct section *x)
{
    for (const struct section *p = x->parent; p; p = p->parent)
        if (p->layer == x->layer && p->phase == TRACE_PE)
            return true;
    return false;
}

/* Whether its time is that of an execution in m->span: one of the two ends, work on it, or a call
 * that lasts exactly as long (trace_export.h marks its ends). */
static bool is_in_span(struct measuring *m, const struct trace_thread *t, const struct section *x)
{
    const struct intervals *spans = spans_of(m, x->layer);
    const struct interval *last = spans ? last_until(spans, x->begin) : NULL;
    const char *text = trace_mark_text(x->name);

    if (!last || last->latest < x->end || last->process != t->process)
        return false;
    return trace_mark_span_end(x->name, m->s->is_public) >= 0 ||
           (last->begin == x->begin && last->end == x->end) ||
           (strncmp(text, "ANeuralNetworks", 15) != 0 && text != x->name);
}

/* Calls that the public parser adds to the runtime's executions, by their names. */
static bool is_public_call(const char *name)
{
    static const char *const call[] = { "Execution_create",
                                        "Execution_free",
                                        "Event_create",
                                        "Event_free",
                                        "Execution_setInput",
                                        "Execution_setOutput",
                                        "Execution_setInputFromMemory",
                                        "Execution_setOutputFromMemory" };
    const char *text = trace_mark_text(name);

    if (strncmp(text, "ANeuralNetworks", 15) != 0)
        return false;
    for (size_t i = 0; i < sizeof call / sizeof *call; i++)
        if (strcmp(text + 15, call[i]) == 0)
            return true;
    return false;
}

/* Whether a section counts towards the execution (phase PE) of its layer. */
static bool is_execution(struct measuring *m, const struct trace_thread *t, const struct section *x)
{
    if (m->s->is_public && (x->layer == TRACE_LR || x->layer == TRACE_LD))
        return x->layer == TRACE_LR && !x->is_added && is_public_call(x->name);
    if (x->is_detail || x->is_subtracted || is_in_span(m, t, x))
        return false;
    return x->phase == TRACE_PE || (trace_phase_is_of_execution(x->phase) && !is_in_execution(x));
}

static int take_time(struct measuring *m, const struct trace_thread *t, const struct section *x,
                     struct why *w)
{
    int part = part_at(m, x->begin);
    double(*time)[TRACE_PHASES] = m->r->time[part], ms = trace_section_ms(x);

    (void) w;
    if (x->phase != TRACE_PE && !x->is_detail && !x->is_subtracted)
        time[x->layer][x->phase] += ms;
    if (is_execution(m, t, x))
        time[x->layer][TRACE_PE] +=
            m->s->is_public && x->layer == TRACE_LR ? x->end - x->begin : ms;
    m->created[part] +=
        !x->is_added && strcmp(trace_mark_text(x->name), "ANeuralNetworksExecution_create") == 0;
    if (x->phase == TRACE_PE && !x->is_added && (!x->is_detail || m->s->is_public)) {
        m->application[part] += x->layer == TRACE_LA;
        m->runtime[part] += x->layer == TRACE_LR;
    }
    return 0;
}

static void add_spans(struct measuring *m, enum trace_layer layer)
{
    const struct intervals *spans = spans_of(m, layer);

    for (size_t i = 0; i < spans->n; i++)
        m->r->time[spans->of[i].part][layer][TRACE_PE] += spans->of[i].end - spans->of[i].begin;
}

/* Executions are counted by the runtime's function that creates them, else by the application's
 * sections, else by the runtime's. */
static void count_executions(struct measuring *m)
{
    for (int part = 0; part < TRACE_PARTS; part++)
        m->r->executions[part] = m->created[part]       ? m->created[part]
                                 : m->application[part] ? m->application[part]
                                 : m->s->is_public      ? 0
                                                        : m->runtime[part];
}

static int measure_with(struct measuring *m, struct why *w)
{
    TRY(for_sections(m, take_part, w));
    sort(&m->parts, by_begin);
    TRY(for_sections(m, take_end, w));
    TRY(take_notifications(m, w));
    TRY(pair(&m->end[SPAN_START], &m->end[SPAN_WAIT], &m->span[0], w));
    TRY(pair(&m->end[SPAN_EXECUTE], &m->end[SPAN_NOTIFY], &m->span[1], w));
    TRY(for_sections(m, take_time, w));
    add_spans(m, TRACE_LR);
    add_spans(m, TRACE_LD);
    count_executions(m);
    return 0;
}

static int measure(struct trace_sections *s, struct trace_run *r, struct why *w)
{
    struct measuring m = { .s = s, .r = r };
    int rc = measure_with(&m, w);

    free(m.parts.of);
    for (int i = 0; i < 4; i++)
        free(m.end[i].of);
    for (int i = 0; i < 2; i++)
        free(m.span[i].of);
    return rc;
}

/* ---- sums over runs on one target */

static const char *target_of(const struct trace_run *r)
{
    const char *space = strrchr(r->mark, ' ');

    return space ? space + 1 : r->mark;
}

static void add_run(struct trace_run *to, const struct trace_run *r)
{
    to->runs += r->runs;
    for (int part = 0; part < TRACE_PARTS; part++) {
        to->executions[part] += r->executions[part];
        for (int layer = 0; layer < TRACE_ROWS; layer++)
            for (int phase = 0; phase < TRACE_PHASES; phase++)
                to->time[part][layer][phase] += r->time[part][layer][phase];
    }
}

int trace_runs_sum(struct trace_sections *s, size_t *n, struct trace_run *runs, struct why *w)
{
    size_t sums = 0;

    for (size_t i = 0; i < *n; i++) {
        size_t k = 0;
        while (k < sums && strcmp(target_of(&runs[k]), target_of(&runs[i])) != 0)
            k++;
        if (k < sums)
            add_run(&runs[k], &runs[i]);
        else
            runs[sums++] = runs[i];
    }
    *n = sums;
    for (size_t i = 0; i < sums; i++) {
        runs[i].thread = NULL;
        runs[i].mark =
            arena_printf(s->arena, "[NN_LA_PO]%u runs on %s", runs[i].runs, target_of(&runs[i]));
        if (!runs[i].mark)
            return why_no_memory_for(w, "the runs of a trace");
    }
    return 0;
}

int trace_runs(struct trace_sections *s, size_t *ret_n, struct trace_run **ret_runs, struct why *w)
{
    size_t n = list_runs(s, NULL);
    struct trace_run *runs = arena_alloc(s->arena, n + 1, sizeof *runs);

    if (!runs)
        return why_no_memory_for(w, "the runs of a trace");
    list_runs(s, runs);
    qsort(runs, n, sizeof *runs, in_time);
    if (s->is_public)
        widen(runs, n);
    for (size_t i = 0; i < n; i++) {
        find_calls(s, &runs[i]);
        find_open(s, &runs[i]);
        if (!runs[i].open)
            TRY(measure(s, &runs[i], w));
    }
    *ret_n = n;
    *ret_runs = runs;
    return 0;
}

/* ---- tables */

/* Applications and the parts of an execution in a driver are optionally traced: no time there means
 * that it was not measured (NAN). */
static double known(double ms, int layer, int phase)
{
    bool may_miss = layer == TRACE_LA ||
                    (layer == TRACE_LD && trace_phase_is_of_execution((enum trace_phase) phase));

    return ms == 0 && may_miss ? NAN : ms;
}

/* The sum of the phases, where a layer has no overall section. */
static double overall(double time[TRACE_PHASES])
{
    return time[TRACE_PO] != 0
               ? time[TRACE_PO]
               : time[TRACE_PI] + time[TRACE_PP] + time[TRACE_PC] + time[TRACE_PE] + time[TRACE_PT];
}

static void fill_times(double (*time)[TRACE_PHASES], bool is_public, struct trace_table *ret)
{
    for (int phase = 0; phase < TRACE_PHASES; phase++) {
        ret->total[phase] = 0;
        for (int layer = 0; layer < TRACE_ROWS; layer++) {
            bool sums = phase == TRACE_PO && !(is_public && layer == TRACE_LA);
            double ms = sums ? overall(time[layer]) : time[layer][phase];
            ret->of[layer][phase] = known(ms, layer, phase);
            ret->total[phase] = fmax(ret->total[phase], ms);
        }
    }
}

/* Time of a layer; `instead` where it has none. */
static double or_else(double ms, double instead)
{
    return isnan(ms) || ms == 0 ? instead : ms;
}

/* Below an application is the runtime, below that are a driver, behind IPC or not, and the CPU. */
static void subtract_below(const struct trace_table *t, int phase, struct trace_table *ret)
{
    double ms[TRACE_ROWS], below[TRACE_ROWS] = { 0 };

    for (int layer = 0; layer < TRACE_ROWS; layer++)
        ms[layer] = t->of[layer][phase];
    below[TRACE_LI] = or_else(ms[TRACE_LD], 0);
    below[TRACE_LR] = or_else(ms[TRACE_LI], below[TRACE_LI]) + or_else(ms[TRACE_LC], 0);
    below[TRACE_LA] = or_else(ms[TRACE_LR], below[TRACE_LR]);
    for (int layer = 0; layer < TRACE_ROWS; layer++)
        ret->of[layer][phase] =
            isnan(ms[layer]) || ms[layer] == 0 ? ms[layer] : ms[layer] - below[layer];
}

/* As the public parser: the CPU is below the driver; a driver that was queried but did not execute,
 * and IPC with it, is overall not subtracted from the layers above. */
static void subtract_publicly(const struct trace_table *t, int phase, bool is_only_asked,
                              struct trace_table *ret)
{
    double deeper = 0;

    for (int layer = TRACE_ROWS - 1; layer >= 0; layer--) {
        double ms = t->of[layer][phase], *self = &ret->of[layer][phase];
        bool is_asked = is_only_asked && (layer == TRACE_LD || layer == TRACE_LI);
        if (isnan(ms) || ms == 0) {
            *self = ms;
        } else if (is_asked) {
            *self = layer == TRACE_LD ? ms : ms - t->of[TRACE_LD][phase];
        } else {
            *self = ms - deeper;
            deeper = ms;
        }
    }
}

static void fill_self(const struct trace_table *t, bool is_public, bool is_whole,
                      struct trace_table *ret)
{
    for (int phase = 0; phase < TRACE_PHASES; phase++) {
        bool is_only_asked = is_whole && phase == TRACE_PO && t->of[TRACE_LD][TRACE_PE] == 0;
        if (is_public)
            subtract_publicly(t, phase, is_only_asked, ret);
        else
            subtract_below(t, phase, ret);
        ret->total[phase] = t->total[phase];
    }
}

bool trace_tables(const struct trace_sections *s, const struct trace_run *r,
                  struct trace_table ret_times[TRACE_PARTS],
                  struct trace_table ret_self[TRACE_PARTS])
{
    bool is_split = r->executions[TRACE_PWU] && r->executions[TRACE_PBM];
    double whole[TRACE_ROWS][TRACE_PHASES] = { { 0 } };
    struct trace_run copy = *r;

    for (int part = 0; part < TRACE_PARTS; part++)
        for (int layer = 0; layer < TRACE_ROWS; layer++)
            for (int phase = 0; phase < TRACE_PHASES; phase++)
                if (part == TRACE_PO || is_split || !s->is_public)
                    whole[layer][phase] += r->time[part][layer][phase];
    for (int part = 0; part < TRACE_PARTS; part++) {
        fill_times(part == TRACE_PO ? whole : copy.time[part], s->is_public, &ret_times[part]);
        fill_self(&ret_times[part], s->is_public, part == TRACE_PO, &ret_self[part]);
    }
    return is_split;
}
