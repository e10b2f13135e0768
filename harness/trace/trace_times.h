/* Time of runs by layer and phase, with the counting rules of NNAPI's parse_systrace.
 *
 * A run is a section [NN_LA_PO] and everything that its process does meanwhile; if the process
 * calls others (layer LI), also what processes without an application layer (services) do
 * meanwhile.  A layer's time in a phase is that of its outermost sections, over all threads.
 * Phases of an execution also count towards the execution; sections of mode [SUB], and
 * initialisation anywhere, count only under their own phase. */
#ifndef HARNESS_TRACE_TIMES_H
#define HARNESS_TRACE_TIMES_H

#include "harness/trace/trace_sections.h"

enum { TRACE_ROWS = TRACE_LC + 1 };

/* Milliseconds; NAN: not in the trace. */
struct trace_table {
    double of[TRACE_ROWS][TRACE_PHASES];
    double total[TRACE_PHASES]; /* maximum over the layers, NAN ignored */
};

struct trace_run {
    const char *mark;
    struct trace_thread *thread; /* of the run's section; NULL: a sum of several runs */
    double begin, end;           /* ms */
    bool calls;                  /* has sections of layer LI: calls other processes */
    unsigned runs, executions;
    double time[TRACE_ROWS][TRACE_PHASES]; /* ms */
};

/* The runs of a trace, sorted by time, in its arena.  sum: adds up the runs on the same target,
 * which is the last word of their marks. */
int trace_runs(struct trace_sections *s, bool sum, size_t *ret_n, struct trace_run **ret_runs,
               struct why *w);

/* The sections of thread t that belong to run r: indexes [*ret_first, return value). */
size_t trace_run_sections(const struct trace_sections *s, const struct trace_run *r,
                          const struct trace_thread *t, size_t *ret_first);

/* Times of a run: total times, and self-times, from which the time of the next deeper layer that
 * has any is subtracted. */
void trace_tables(const struct trace_run *r, struct trace_table *ret_times,
                  struct trace_table *ret_self);

#endif
