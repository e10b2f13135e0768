/* The sections of every thread, as trees, with the rules of NNAPI's parse_systrace.
 *
 * - A section of mode [SW] ends the section that it is nested in and becomes its sibling.
 * - A section without a phase of its own (PU) takes that of its parent; without one it is dropped.
 * - Sections that are not NNAPI's, or of layers LO and LU, are dropped: what is nested in them is
 *   nested in their parent.
 * - A section in a wrong place is subtracted from its parent, and counted by a copy elsewhere:
 * [SUB], initialisation within another phase, and a call of the runtime in an application's section
 * of another phase.  An application's section is added where it then lacks one.
 * - A section nested in one of its layer is a detail of it and not counted again, unless its phase
 * is listed within the other's.
 * - Layers nest in the order application, runtime, IPC, driver (or CPU), phases in themselves or as
 *   listed.
 *
 * docs/logging.md has the whole, and where it differs from parse_systrace. */
#ifndef HARNESS_TRACE_SECTIONS_H
#define HARNESS_TRACE_SECTIONS_H

#include "harness/trace/trace_events.h"
#include "harness/trace/trace_marks.h"

struct section {
    struct section *parent; /* NULL: none */
    double begin, end;      /* ms; end -1: none */
    enum trace_mode mode;
    enum trace_layer layer;
    enum trace_phase phase;   /* never PU */
    bool is_detail;           /* its time is part of its parent's and is not counted again */
    bool is_subtracted;       /* not counted here, and subtracted from its parent */
    bool is_added;            /* not in the trace: a copy, or an application's section */
    const struct section *of; /* that it is a copy of, or was added around; NULL: not added */
    double moved;             /* ms that are subtracted from it */
    const char *name;         /* the whole mark, "[NN_LD_PCO]run" */
    uint32_t line;            /* of the file */
};

struct trace_thread {
    struct trace_thread *next;
    const struct trace_thread_events *events;
    const char *file; /* its path */
    int64_t process, thread;
    size_t n;
    struct section **section; /* in order of their begin */
    struct section **open;    /* those without an end */
    size_t n_open;
    double *notified; /* ms: a HIDL driver reported the end of an execution (SPAN_NOTIFY) */
    size_t n_notified;
};

struct trace_process {
    struct trace_process *next;
    int64_t process;
    bool has_application; /* has sections of layer LA */
    bool serves;          /* HIDL or AIDL calls of a driver arrive in it */
};

struct trace_sections {
    struct trace_events events;
    bool is_public; /* set before reading: layers, moves and counts as parse_systrace has them, also
                       where docs/logging.md argues for others */
    struct arena *arena;
    struct trace_thread *threads; /* with sections of NNAPI */
    struct trace_process *processes;
    const char *path; /* of the last file */
    bool has_runtime; /* has sections of layer LR */
    bool has_runs;    /* has sections [NN_LA_PO] */
};

/* Adds a file; *s is zeroed before the first one.  Errors name the file and line. */
int trace_sections_read(struct trace_sections *s, const char *path, struct why *w);
/* Makes the trees, after the last file.  Fails, naming file, line, thread and marks, where an end
 * has no begin and where layers or phases are nested wrongly; and if there is no section. */
int trace_sections_close(struct trace_sections *s, struct why *w);
void trace_sections_done(struct trace_sections *s);

/* Time of a section without what is subtracted from it, ms. */
double trace_section_ms(const struct section *x);
struct trace_process *trace_sections_process(struct trace_sections *s, int64_t process);

#endif
