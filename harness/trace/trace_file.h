/* Traces in a file: an array of events in Chrome's JSON format, for ui.perfetto.dev and
 * chrome://tracing.
 *
 * All processes of a run write to the one file, each into pieces of its own, which are mapped: what
 * a process wrote before it was killed is there.  The one that began the trace makes it complete
 * at the end, which closes the array; when that one is killed itself the array stays open, as both
 * viewers allow. */
#ifndef HARNESS_TRACE_FILE_H
#define HARNESS_TRACE_FILE_H

#include <stdbool.h>

#include "golden/base/why.h"

/* Replaces the file.  Before there are workers. */
int trace_file_start(const char *path, struct why *w);
/* What the viewers call this process, from now on. */
void trace_file_name_process(const char *name);
/* After all other processes have ended.  keep: false removes the file, if there was none before. */
int trace_file_end(bool keep, struct why *w);

#endif
