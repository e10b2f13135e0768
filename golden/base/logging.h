/* The log of everything that runs: what libraries have to say while they work.  They write lines;
 * a sink, set by the program, prints them or does not.
 *
 * Verbose lines belong to a tag and are written while that tag is on.  A file says once whose lines
 * they are, and then
 *
 *     #define LOG_TAG "ExecutionPlan"
 *     VLOG(COMPILATION, "step %u runs on %s", i, name);
 *
 * costs one load and one test while the tag is off; what is dear to find out is asked for only
 * where VLOG_IS_ON(COMPILATION). */
#ifndef GOLDEN_LOGGING_H
#define GOLDEN_LOGGING_H

#include <stdatomic.h>

#include "golden/base/why.h"

/* Tag and its name in settings. */
#define VLOG_TAGS(TAG)                                                                             \
    TAG(MODEL, "model")                                                                            \
    TAG(COMPILATION, "compilation")                                                                \
    TAG(EXECUTION, "execution")                                                                    \
    TAG(CPUEXE, "cpuexe")                                                                          \
    TAG(MANAGER, "manager")                                                                        \
    TAG(DRIVER, "driver")                                                                          \
    TAG(MEMORY, "memory")

enum vlog_tag {
#define TAG(name, text) VLOG_##name,
    VLOG_TAGS(TAG)
#undef TAG
        VLOG_TAG_COUNT
};

enum log_level { LOG_INFO, LOG_WARNING, LOG_ERROR };

/* tag: of the file; text: one line, printable.  Called from any thread, several at once. */
typedef void log_sink(enum log_level level, const char *tag, const char *text, void *user);
/* NULL: nobody listens.  To be set before there are threads. */
void log_set_sink(log_sink *sink, void *user);

__attribute__((format(printf, 3, 4))) void log_write(enum log_level level, const char *tag,
                                                     const char *fmt, ...);

/* "" is off, "1" or "all" everything, else names of tags, separated by spaces, commas or colons.
 * An unknown one is -1 with what is expected; the others are on all the same. */
int vlog_set(const char *setting, struct why *w);

extern atomic_uint vlog_mask;

#define VLOG_IS_ON(tag)                                                                            \
    (atomic_load_explicit(&vlog_mask, memory_order_relaxed) & (1u << VLOG_##tag))
#define VLOG(tag, ...)                                                                             \
    do {                                                                                           \
        if (VLOG_IS_ON(tag))                                                                       \
            log_write(LOG_INFO, LOG_TAG, __VA_ARGS__);                                             \
    } while (0)

#endif
