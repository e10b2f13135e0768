/* The begin of an entry point.  At the first call the log gets its destination, stderr, and the
 * trace its file: HALCYON_TRACE. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "golden/base/trace_file.h"
#include "runtime/api/entry.h"
#include "runtime/base/failure.h"

/* Of ANDROID_LOG_TAGS; NULL: none. */
static const char *log_filter;

/* As Android's host libraries: level, tag, text. */
static void print_line(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) user;
    if (log_filter_passes(log_filter, 'I', level, tag))
        fprintf(stderr, "%c %s: %s\n", log_level_letter[level], tag, text);
}

void entry_read_vlog(void)
{
    const char *setting = getenv("HALCYON_DEBUG_NN_VLOG");
    struct why w;

    if (setting && vlog_set(setting, &w) < 0)
        log_write(LOG_ERROR, "NeuralNetworks", "HALCYON_DEBUG_NN_VLOG: %s", w.text);
}

/* ---- the trace */

/* The process that has started it: one that it forks does not complete the file. */
static pid_t tracing;

static void end_trace(void)
{
    struct why w;

    if (getpid() != tracing)
        return;
    if (gettid() == tracing)
        trace_end(); /* the application's section */
    if (trace_file_end(true, &w) < 0)
        log_write(LOG_ERROR, "NeuralNetworks", "HALCYON_TRACE: %s", w.text);
}

/* The application is a section of its main thread, from the first call until the process exits. */
static void start_trace(const char *path)
{
    struct why w;

    if (trace_file_start(path, 0, &w) < 0) {
        log_write(LOG_ERROR, "NeuralNetworks", "HALCYON_TRACE: %s", w.text);
        return;
    }
    tracing = getpid();
    trace_file_name_process(program_invocation_short_name);
    if (gettid() == tracing)
        trace_begin(TRACE_NEST, TRACE_LA, TRACE_PO, program_invocation_short_name);
    atexit(end_trace);
}

static void start(void)
{
    const char *trace = getenv("HALCYON_TRACE");

    log_filter = getenv("ANDROID_LOG_TAGS");
    log_set_sink(print_line, NULL);
    if (trace && *trace)
        start_trace(trace);
}

void entry_begin(const char *function)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start);
    called_function = function;
}
