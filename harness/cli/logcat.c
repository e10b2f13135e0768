#include "harness/cli/logcat.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "harness/cli/screen.h"

static int output = -1;
static const char *filter;

/* Writes a line with one write(), so that lines of several processes do not mix. */
static void print(enum log_level level, const char *tag, const char *text, void *user)
{
    static const char cut_off[] = "... (cut off)\n";
    char line[4096], *escaped;
    struct timespec t;
    struct tm date;

    (void) user;
    const char least = atomic_load(&vlog_mask) ? 'I' : 'E';
    if (!log_filter_passes(filter, least, level, tag) ||
        !(escaped = text_escaped(TEXT_TERMINAL, text)))
        return;
    clock_gettime(CLOCK_REALTIME, &t);
    localtime_r(&t.tv_sec, &date);
    int n = snprintf(line, sizeof line, "%02d-%02d %02d:%02d:%02d.%03d %5d %5d %c %s: %s\n",
                     date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec,
                     (int) (t.tv_nsec / 1000000), (int) getpid(), (int) gettid(),
                     log_level_letter[level], tag, escaped);
    free(escaped);
    if (n >= (int) sizeof line)
        memcpy(line + sizeof line - sizeof cut_off, cut_off, sizeof cut_off);
    if (n > 0)
        screen_print(output, line, strlen(line));
}

void logcat_start(const char *setting)
{
    const char *from_environment = getenv("HALCYON_VLOG");
    struct why why;

    filter = getenv("ANDROID_LOG_TAGS");
    output = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (output < 0)
        return;
    log_set_sink(print, NULL);
    if (!setting && from_environment && vlog_set(from_environment, &why) < 0)
        log_write(LOG_ERROR, "Manager", "HALCYON_VLOG: %s", why.text);
}
