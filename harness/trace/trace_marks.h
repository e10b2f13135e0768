/* Marks: the names of a trace's sections, and what they say of layer and phase.
 *
 *     [NN_LR_PC]prepare_model                      written by TRACE() and by NNAPI's own macros
 *     [SW][NN_LD_PCO]run                           ends the time of the enclosing section
 *     HIDL::IDevice::prepareModel_1_3::server      written by the code that a HIDL or AIDL
 *     AIDL::ndk::IPreparedModel::executeFenced::client       compiler generates
 *
 * All other names are of other programs: their sections are read, but not counted. */
#ifndef HARNESS_TRACE_MARKS_H
#define HARNESS_TRACE_MARKS_H

#include <stdbool.h>

#include "golden/base/trace.h"

struct trace_mark {
    enum trace_mode mode;
    enum trace_layer layer;
    enum trace_phase phase;
};

/* Reads a mark.  False: it is not NNAPI's, or of a layer that is not counted by itself (LO, LU, a
 * notification that returns to the caller's layer). */
bool trace_mark_parse(const char *mark, struct trace_mark *ret);
/* The name of the function or step: the mark without its tags. */
const char *trace_mark_text(const char *mark);
/* Whether the mark is of a process that serves a driver: a call that arrives there. */
bool trace_mark_is_served(const char *mark);

/* Marks of the two ends of an asynchronous execution, of which others run meanwhile: in the runtime
 * from the begin of SPAN_START to the end of SPAN_WAIT, in a HIDL driver from the begin of
 * SPAN_EXECUTE to the begin of SPAN_NOTIFY.  -1: none of them.  exact: only those of HAL 1.0 and
 * 1.1. */
enum trace_span_end { SPAN_START, SPAN_WAIT, SPAN_EXECUTE, SPAN_NOTIFY };
int trace_mark_span_end(const char *mark, bool exact);

/* Whether a phase is a part of an execution: I/O, transformation, computation, results. */
bool trace_phase_is_of_execution(enum trace_phase phase);
/* Whether sections of `phase` are listed within sections of `outer`: parts of an execution, the
 * phases of an overall, warm-up or benchmark section. */
bool trace_phase_is_within(enum trace_phase phase, enum trace_phase outer);

#endif
