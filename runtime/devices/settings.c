/* Properties of the runtime: environment variables, read once. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"

#define LOG_TAG "Manager"

static struct runtime_settings settings;

/* The number that the variable holds; `otherwise` where it is not set, or holds something else. */
static long number_of(const char *name, long otherwise)
{
    const char *text = getenv(name);
    char *end = NULL;

    if (!text || !*text)
        return otherwise;
    long value = strtol(text, &end, 10);
    if (!*end)
        return value;
    log_write(LOG_ERROR, LOG_TAG, "%s=%s: expected a whole number; %ld is used", name, text,
              otherwise);
    return otherwise;
}

static enum level library_level = L8;

void runtime_level_of_support_library(void)
{
    const long level = number_of("HALCYON_SL_FEATURE_LEVEL", L8 - L1 + 1);

    if (level < 5 || level > 8)
        log_write(LOG_ERROR, LOG_TAG, "HALCYON_SL_FEATURE_LEVEL=%ld: expected 5 to 8; 8 is used",
                  level);
    else
        library_level = (enum level)(L1 + level - 1);
}

enum level runtime_level(void)
{
    return library_level;
}

static void read_vlog(void)
{
    const char *setting = getenv("HALCYON_DEBUG_NN_VLOG");
    struct why w;

    if (setting && vlog_set(setting, &w) < 0)
        log_write(LOG_ERROR, LOG_TAG, "HALCYON_DEBUG_NN_VLOG=%s: %s", setting, w.text);
}

static void read_settings(void)
{
    long partition = number_of("HALCYON_DEBUG_NN_PARTITION", 1);

    read_vlog();
    settings = (struct runtime_settings){
        .partition = partition == 0 || partition == 1 ? (int) partition : 2,
        .cpu_only = number_of("HALCYON_DEBUG_NN_CPUONLY", 0) != 0,
        .compute_inline = number_of("HALCYON_DEBUG_NN_SYNCEXEC_RUNTIME", 0) != 0,
        .enabled = getenv("HALCYON_DEBUG_NN_ENABLED_DEVICES"),
    };
}

const struct runtime_settings *runtime_settings(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, read_settings);
    return &settings;
}
