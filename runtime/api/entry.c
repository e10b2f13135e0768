/* The begin of an entry point.  At the first call the log gets its destination: stderr. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/api/entry.h"
#include "runtime/base/failure.h"

/* As Android's host libraries: level, tag, text. */
static void print_line(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) user;
    fprintf(stderr, "%c %s: %s\n", "IWE"[level], tag, text);
}

void entry_read_vlog(void)
{
    const char *setting = getenv("HALCYON_DEBUG_NN_VLOG");
    struct why w;

    if (setting && vlog_set(setting, &w) < 0)
        log_write(LOG_ERROR, "NeuralNetworks", "HALCYON_DEBUG_NN_VLOG: %s", w.text);
}

static void start_log(void)
{
    log_set_sink(print_line, NULL);
}

void entry_begin(const char *function)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, start_log);
    called_function = function;
}
