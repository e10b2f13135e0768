/* Writes traces as text of ftrace, which parse_systrace, systrace's and Perfetto's viewers read. */
#ifndef HARNESS_TRACE_EXPORT_H
#define HARNESS_TRACE_EXPORT_H

#include <stdio.h>

#include "harness/trace/trace_sections.h"

/* Writes the sections of NNAPI, of all threads in the order of time.  Sections that are not counted
 * are left out, as are those without an end.  Marks without duration, by whose names parse_systrace
 * finds executions and drivers' processes, are added where the trace has none.  WHY_INVALID: a
 * time, a process or a thread that ftrace's columns cannot hold. */
int trace_export(struct trace_sections *s, FILE *to, struct why *w);

#endif
