/* Where the time of runs goes, by layer and phase: what parse_systrace of NNAPI counts.
 *
 * A run is a section [NN_LA_PO] with all that its process does meanwhile; where that calls another
 * process, also what those do in which no application runs (services).  A layer's time in a phase
 * is that of its outermost sections, over all threads; phases within an execution count for it too;
 * what is subtracted, and initialisation wherever it happens, counts for itself alone. */
#ifndef HARNESS_TRACE_TIMES_H
#define HARNESS_TRACE_TIMES_H

#include "harness/trace/trace_sections.h"

enum { TRACE_ROWS = TRACE_LC + 1 };

/* ms; NAN: not in the trace, as far as one can tell. */
struct trace_table {
    double of[TRACE_ROWS][TRACE_PHASES];
    double total[TRACE_PHASES]; /* the most that a layer has; what is missing does not count */
};

struct trace_run {
    const char *mark;
    struct trace_thread *thread; /* whose section it is; NULL: of several runs */
    double begin, end;
    bool calls; /* other processes */
    unsigned runs, executions;
    double time[TRACE_ROWS][TRACE_PHASES];
};

/* The runs of a trace in order of time, in its arena.  sum: those on one target, the last word of
 * their marks, together. */
int trace_runs(struct trace_sections *s, bool sum, size_t *ret_n, struct trace_run **ret_runs,
               struct why *w);

/* A thread's sections [*ret_first, return value) that belong to a run. */
size_t trace_run_sections(const struct trace_sections *s, const struct trace_run *r,
                          const struct trace_thread *t, size_t *ret_first);

/* Times as they are, or without those of the next deeper layer that there is. */
void trace_tables(const struct trace_run *r, struct trace_table *ret_times,
                  struct trace_table *ret_self);

#endif
