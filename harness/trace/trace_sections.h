/* Reads traces: the sections of every thread, as trees.
 *
 * A file is an array of events in Chrome's JSON format, one event per line, as trace_file.h writes
 * it; the array need not be closed.  A section of mode [SW] ends the section that it is nested in
 * and becomes its sibling. */
#ifndef HARNESS_TRACE_SECTIONS_H
#define HARNESS_TRACE_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golden/base/arena.h"
#include "golden/base/trace.h"
#include "golden/base/why.h"

struct section {
    struct section *parent; /* NULL: none */
    double begin, end;      /* ms */
    enum trace_mode mode;
    enum trace_layer layer;
    enum trace_phase phase; /* TRACE_PU (utility) sections take the phase of their parent */
    bool is_detail;         /* its time is part of its parent's and is not counted again */
    bool is_subtracted;     /* counted under its own phase and subtracted from its parent */
    double moved;           /* ms of such sections within it */
    const char *name;       /* the whole mark, "[NN_LD_PCO]run" */
};

struct trace_thread {
    struct trace_thread *next;
    int64_t process, thread;
    bool has_application; /* has sections of layer LA */
    size_t n, room;
    struct section **section; /* in order of their begin; only complete ones after close */

    struct open_section *open; /* stack of sections without an end yet, while reading */
};

struct trace_sections {
    struct arena *arena; /* owns the sections */
    struct trace_thread *threads;
    uint64_t unfinished; /* sections left out because they have no end */
    bool has_runtime;    /* has sections of layer LR */
};

/* Adds a file; *s is zeroed before the first one.  Errors name the file and line. */
int trace_sections_read(struct trace_sections *s, const char *path, struct why *w);
/* Drops unfinished sections, after the last file; fails if no thread has any sections. */
int trace_sections_close(struct trace_sections *s, struct why *w);
void trace_sections_done(struct trace_sections *s);

/* Whether a phase is a part of an execution: I/O, transformation, computation, results. */
bool phase_is_of_execution(enum trace_phase phase);

#endif
