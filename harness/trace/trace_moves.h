/* Sections in wrong places: moved, or rejected (trace_sections.h). */
#ifndef HARNESS_TRACE_MOVES_H
#define HARNESS_TRACE_MOVES_H

#include "harness/trace/trace_sections.h"

/* Moves sections of a thread that is read, decides which are details, and checks how the rest is
 * nested. */
int trace_moves_make(struct trace_sections *s, struct trace_thread *t, struct why *w);
/* trace_sections.c */
int trace_thread_add(struct trace_thread *t, struct section *x, struct why *w);

#endif
