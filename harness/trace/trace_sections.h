/* Traces read back: the sections of every thread, as trees.
 *
 * A file is an array of events in Chrome's JSON format, one event a line, as trace_file.h writes
 * it; it need not be closed.  A switch ends the section that it lies in and becomes its sibling. */
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
    enum trace_phase phase; /* TRACE_PU only where no section around it says better */
    bool is_detail;         /* says more of its parent, whose time is counted */
    bool is_moved;          /* counts for itself, not within its parent */
    double moved;           /* ms of such sections within it */
    const char *name;       /* the whole mark */
};

struct trace_thread {
    struct trace_thread *next;
    int64_t process, thread;
    bool has_application; /* sections of that layer */
    size_t n, room;
    struct section **section; /* that have ended, in the order in which they began */

    struct open_section *open; /* while it is read */
};

struct trace_sections {
    struct arena *arena;
    struct trace_thread *threads;
    uint64_t unfinished; /* sections that have no end, which are left out */
    bool has_runtime;
};

/* Adds a file; ret_sections is zeroed before the first one. */
int trace_sections_read(struct trace_sections *s, const char *path, struct why *w);
/* After the last one. */
int trace_sections_close(struct trace_sections *s, struct why *w);
void trace_sections_done(struct trace_sections *s);

/* I/O, transformation, computation, results. */
bool phase_is_of_execution(enum trace_phase phase);

#endif
