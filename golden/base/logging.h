/* Logging.  Libraries write lines; the program sets a sink, which prints them or not.
 *
 * Verbose lines belong to a tag and are written while that tag is enabled.  A file names its
 * component once, and then
 *
 *     #define LOG_TAG "ExecutionPlan"
 *     VLOG(COMPILATION, "step %u runs on %s", i, name);
 *
 * costs one load and one test while the tag is disabled; guard arguments that are expensive to
 * compute with VLOG_IS_ON(COMPILATION). */
#ifndef GOLDEN_LOGGING_H
#define GOLDEN_LOGGING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "golden/base/why.h"

/* Tags and their names in settings. */
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

/* tag: LOG_TAG of the file; text: one line, control characters replaced by '?'.  Called from any
 * thread, concurrently. */
typedef void log_sink(enum log_level level, const char *tag, const char *text, void *user);
/* NULL: lines are discarded.  Set it before other threads start. */
void log_set_sink(log_sink *sink, void *user);

/* "IWE"[level], as logcat prints it. */
extern const char log_level_letter[];
/* Whether a line passes a filter in logcat's format: "TAG:PRIORITY" separated by spaces, "*" for
 * all other tags; NULL: no filter.  least: the priority (a letter of "VDIWEFS") from which lines
 * pass whose tag no rule names. */
bool log_filter_passes(const char *filter, char least, enum log_level level, const char *tag);

/* Writes one line; text beyond 3899 bytes is cut off. */
__attribute__((format(printf, 3, 4))) void log_write(enum log_level level, const char *tag,
                                                     const char *fmt, ...);

/* Enables tags: "" none, "1" or "all" every tag, else names separated by spaces, commas or colons.
 * An unknown name gives -1 with the names that exist; the other tags are enabled nevertheless. */
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
