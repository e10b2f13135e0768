/* Writes traces to a file: an array of events in Chrome's JSON format, for ui.perfetto.dev and
 * chrome://tracing.
 *
 * All processes of a run write to one file, each into mapped pieces of its own, so that events
 * survive when their process is killed.  The process that started the trace compacts the file at
 * the end, closes the array and gives the file its name (golden/base/output_file.h); if it is
 * killed itself, PATH.halcyon-part has an array that is not closed, which both viewers accept. */
#ifndef GOLDEN_TRACE_FILE_H
#define GOLDEN_TRACE_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"

/* Starts tracing to a file, which is replaced at the end.  To be called before workers are forked.
 * limit: bytes after which events are left out; 0: 2 GiB. */
int trace_file_start(const char *path, uint64_t limit, struct why *w);
/* Sets the name that viewers show for this process.  Does nothing when tracing is off. */
void trace_file_name_process(const char *name);
/* Ends tracing and completes the file, after all other processes have ended; events of other
 * threads are left out from now on.  keep: false leaves what was there before.  -1, with a complete
 * file: events were left out.  Does nothing when tracing was not started. */
int trace_file_end(bool keep, struct why *w);

#endif
