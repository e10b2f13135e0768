#include "harness/trace/trace_times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- runs */

static bool is_run(const struct section *x)
{
    return x->layer == TRACE_LA && x->phase == TRACE_PO && !x->is_detail;
}

static int in_time(const void *a, const void *b)
{
    const struct trace_run *x = a, *y = b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static size_t list_runs(struct trace_sections *s, struct trace_run *runs)
{
    size_t n = 0;

    for (struct trace_thread *t = s->threads; t; t = t->next)
        for (size_t i = 0; i < t->n; i++) {
            const struct section *x = t->section[i];
            if (is_run(x) && runs)
                runs[n] = (struct trace_run){
                    .mark = x->name, .thread = t, .begin = x->begin, .end = x->end, .runs = 1
                };
            n += is_run(x);
        }
    return n;
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

/* Whether a process has sections of the application layer. */
static bool has_application(const struct trace_sections *s, int64_t process)
{
    for (const struct trace_thread *t = s->threads; t; t = t->next)
        if (t->process == process && t->has_application)
            return true;
    return false;
}

size_t trace_run_sections(const struct trace_sections *s, const struct trace_run *r,
                          const struct trace_thread *t, size_t *ret_first)
{
    bool is_own = t->process == r->thread->process;

    *ret_first = 0;
    if (!is_own && (!r->calls || has_application(s, t->process)))
        return 0;
    *ret_first = first_from(t, r->begin);
    return first_from(t, r->end);
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

static bool calls_others(const struct trace_sections *s, const struct trace_run *r)
{
    for (const struct trace_thread *t = s->threads; t; t = t->next) {
        size_t first, end = trace_run_sections(s, r, t, &first);
        for (size_t i = first; i < end; i++)
            if (t->section[i]->layer == TRACE_LI)
                return true;
    }
    return false;
}

static void measure(const struct trace_sections *s, struct trace_run *r)
{
    r->calls = calls_others(s, r);
    for (const struct trace_thread *t = s->threads; t; t = t->next) {
        size_t first, end = trace_run_sections(s, r, t, &first);
        for (size_t i = first; i < end; i++) {
            const struct section *x = t->section[i];
            double ms = x->end - x->begin - (x->is_subtracted ? 0 : x->moved);
            if ((int) x->layer >= TRACE_ROWS || x->is_detail)
                continue;
            r->time[x->layer][x->phase] += ms;
            r->executions += x->layer == TRACE_LR && x->phase == TRACE_PE;
            if (phase_is_of_execution(x->phase) && !is_in_execution(x))
                r->time[x->layer][TRACE_PE] += ms;
        }
    }
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
    to->executions += r->executions;
    to->thread = NULL;
    for (int layer = 0; layer < TRACE_ROWS; layer++)
        for (int phase = 0; phase < TRACE_PHASES; phase++)
            to->time[layer][phase] += r->time[layer][phase];
}

static size_t sum_runs(struct trace_run *runs, size_t n)
{
    size_t sums = 0;

    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (k < sums && strcmp(target_of(&runs[k]), target_of(&runs[i])) != 0)
            k++;
        if (k < sums)
            add_run(&runs[k], &runs[i]);
        else
            runs[sums++] = runs[i];
    }
    return sums;
}

int trace_runs(struct trace_sections *s, bool sum, size_t *ret_n, struct trace_run **ret_runs,
               struct why *w)
{
    size_t n = list_runs(s, NULL);
    struct trace_run *runs = arena_alloc(s->arena, n, sizeof *runs);

    if (!runs)
        return why_no_memory_for(w, "the runs of a trace");
    list_runs(s, runs);
    qsort(runs, n, sizeof *runs, in_time);
    for (size_t i = 0; i < n; i++)
        measure(s, &runs[i]);
    n = sum ? sum_runs(runs, n) : n;
    for (size_t i = 0; sum && i < n; i++)
        if (!(runs[i].mark = arena_printf(s->arena, "[NN_LA_PO]%u runs on %s", runs[i].runs,
                                          target_of(&runs[i]))))
            return why_no_memory_for(w, "the runs of a trace");
    *ret_n = n;
    *ret_runs = runs;
    return 0;
}

/* ---- tables */

/* Applications and the parts of an execution in a driver are optionally traced: no time there means
 * that it was not measured (NAN). */
static double known(double ms, int layer, int phase)
{
    bool may_miss =
        layer == TRACE_LA || (layer == TRACE_LD && phase_is_of_execution((enum trace_phase) phase));

    return ms == 0 && may_miss ? NAN : ms;
}

static double overall(const struct trace_run *r, int layer)
{
    double sum = r->time[layer][TRACE_PO];

    for (int phase = 0; phase < TRACE_PHASES && r->time[layer][TRACE_PO] == 0; phase++)
        sum += phase_is_of_execution((enum trace_phase) phase) ? 0 : r->time[layer][phase];
    return sum;
}

/* A driver that was queried but did not execute: its overall time, and that of IPC, is not
 * subtracted from the layers above. */
static bool is_only_asked(const struct trace_table *t, int layer, int phase)
{
    return phase == TRACE_PO && (layer == TRACE_LD || layer == TRACE_LI) &&
           t->of[TRACE_LD][TRACE_PE] == 0;
}

void trace_tables(const struct trace_run *r, struct trace_table *ret_times,
                  struct trace_table *ret_self)
{
    for (int phase = 0; phase < TRACE_PHASES; phase++) {
        double most = 0;
        for (int layer = 0; layer < TRACE_ROWS; layer++) {
            double ms = phase == TRACE_PO ? overall(r, layer) : r->time[layer][phase];
            ret_times->of[layer][phase] = known(ms, layer, phase);
            most = fmax(most, ms);
        }
        ret_times->total[phase] = most;
    }
    for (int phase = 0; phase < TRACE_PHASES; phase++) {
        double deeper = 0;
        for (int layer = TRACE_ROWS - 1; layer >= 0; layer--) {
            double ms = ret_times->of[layer][phase], *self = &ret_self->of[layer][phase];
            if (isnan(ms) || ms == 0) {
                *self = ms;
            } else if (is_only_asked(ret_times, layer, phase)) {
                *self = layer == TRACE_LD ? ms : ms - ret_times->of[TRACE_LD][phase];
            } else {
                *self = ms - deeper;
                deeper = ms;
            }
        }
        ret_self->total[phase] = ret_times->total[phase];
    }
}
