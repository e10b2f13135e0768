/* Time of runs by layer and phase, with the counting rules of NNAPI's parse_systrace.
 *
 * A run is a section [NN_LA_PO] and everything that its process does meanwhile; if the process
 * calls others (layer LI), also what processes without an application layer (services) do
 * meanwhile.  A trace without such a section is one run.  A layer's time in a phase is that of its
 * sections that are neither details nor subtracted, over all threads; parts of an execution also
 * count towards the execution.
 *
 * An execution that is waited for elsewhere than it is started (trace_mark_span_end()) lasts from
 * one to the other, and what the layer does for it meanwhile, on other threads, is not counted
 * again. */
#ifndef HARNESS_TRACE_TIMES_H
#define HARNESS_TRACE_TIMES_H

#include "harness/trace/trace_sections.h"

enum { TRACE_ROWS = TRACE_LC + 1 };
/* Phases of the application: all but the other two, warm-up, benchmark. */
enum { TRACE_PARTS = TRACE_PBM + 1 };

/* Milliseconds; NAN: not in the trace. */
struct trace_table {
    double of[TRACE_ROWS][TRACE_PHASES];
    double total[TRACE_PHASES]; /* maximum over the layers, NAN ignored */
};

struct trace_run {
    const char *mark;            /* "": the whole trace */
    struct trace_thread *thread; /* of the run's section; NULL: the whole trace, or a sum of runs */
    uint32_t line;               /* of the run's section */
    double begin, end;           /* ms */
    bool calls;                  /* has sections of layer LI: calls other processes */
    unsigned runs;               /* that are added up */
    const struct section *open;  /* one of its sections without an end; NULL: it is complete */
    const struct trace_thread *open_thread;
    unsigned executions[TRACE_PARTS];
    double time[TRACE_PARTS][TRACE_ROWS][TRACE_PHASES]; /* ms */
};

/* The runs of a trace, sorted by time, in its arena.  Those that are not complete have no times. */
int trace_runs(struct trace_sections *s, size_t *ret_n, struct trace_run **ret_runs, struct why *w);
/* Adds up the runs on the same target, which is the last word of their marks; all are complete. */
int trace_runs_sum(struct trace_sections *s, size_t *n, struct trace_run *runs, struct why *w);

/* The sections of thread t that belong to run r: indexes [*ret_first, return value). */
size_t trace_run_sections(struct trace_sections *s, const struct trace_run *r,
                          const struct trace_thread *t, size_t *ret_first);

/* Times of a run: total times, and self-times, from which the time of the layers below is
 * subtracted.  Element TRACE_PO is the whole run; the others are its warm-up and benchmark, if it
 * has executions in both (return value), of which only the phases of executions are of interest. */
bool trace_tables(const struct trace_sections *s, const struct trace_run *r,
                  struct trace_table ret_times[TRACE_PARTS],
                  struct trace_table ret_self[TRACE_PARTS]);

#endif
