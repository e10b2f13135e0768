/* Reads trace files as events: begins and ends of sections, by thread and in their order.
 *
 * What a file is, its content says:
 *   - JSON of Chrome's trace format: an array of events, which need not be closed, or an object
 * with such an array as "traceEvents" (Perfetto's export), or events one after the other; written
 * by trace_file.h or by others.  Kinds B, E and X are read.
 *   - ftrace's text, with or without the column TGID, alone or in a page of systrace.
 *
 * Events of a simulated device's track (category "device") are left out: its clock is another. */
#ifndef HARNESS_TRACE_EVENTS_H
#define HARNESS_TRACE_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

struct trace_event_read {
    double ms;
    const char *mark;        /* NULL: the innermost section ends */
    struct section *section; /* that begins; NULL: none that counts (set by trace_sections.h) */
    uint32_t line;           /* of the file, from 1 on */
};

/* A section that the file gives as one event (X); may be in any order. */
struct trace_slice {
    double begin, end; /* ms */
    const char *mark;
    uint32_t line;
};

struct trace_thread_events {
    struct trace_thread_events *next;
    const char *file;        /* its path */
    int64_t process, thread; /* process: -1 while it is unknown */
    const char *name;        /* "": unknown */
    struct trace_event_read *event;
    struct trace_slice *slice;
    size_t n_events, n_slices;
};

struct trace_events {
    struct arena *arena;                 /* owns names */
    struct trace_thread_events *threads; /* those used last first */
    bool is_partial;                     /* the kernel's buffer lost events */
};

/* Adds a file; *e is zeroed before the first one.  Errors name the file and line. */
int trace_events_read(struct trace_events *e, const char *path, struct why *w);
/* Makes events of the slices of a thread, in order.  Fails if two overlap without one containing
 * the other. */
int trace_events_unfold(struct trace_thread_events *t, struct why *w);
void trace_events_done(struct trace_events *e);

/* ---- for readers of formats */

/* A file that is being read. */
struct trace_file {
    struct trace_events *events;
    const char *path;
    FILE *from;
    uint32_t line; /* that is being read */
};
/* process -1: not known yet.  NULL: out of memory. */
struct trace_thread_events *trace_file_thread(struct trace_file *f, int64_t process,
                                              int64_t thread);
/* mark NULL: an end.  The mark is copied. */
int trace_file_event(struct trace_file *f, struct trace_thread_events *t, double ms,
                     const char *mark, struct why *w);
int trace_file_slice(struct trace_file *f, struct trace_thread_events *t, double begin, double end,
                     const char *mark, struct why *w);
/* trace_read_json.c, trace_read_ftrace.c: errors name the line, but not the file. */
int trace_read_json(struct trace_file *f, struct why *w);
int trace_read_ftrace(struct trace_file *f, struct why *w);

#endif
