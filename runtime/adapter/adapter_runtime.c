/* Finds libneuralnetworks.so, and has it open the devices of the target. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/adapter/adapter.h"

/* Beside this library in a build folder; in an installation in the folder of libraries. */
int adapter_find_runtime(const char *given, char ret_path[PATH_MAX], struct why *w)
{
    static const char *const places[] = { "%s/libneuralnetworks.so",
                                          "%s/../../" ADAPTER_LIBDIR "/libneuralnetworks.so" };
    char here[PATH_MAX / 2];
    Dl_info info;

    if (given) {
        snprintf(ret_path, PATH_MAX, "%s", given);
        return 0;
    }
    REQUIRE(w, dladdr(places, &info) && info.dli_fname, "the path of this library is not known");
    snprintf(here, sizeof(here), "%s", info.dli_fname);
    char *slash = strrchr(here, '/');
    if (slash)
        *slash = 0;
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        snprintf(ret_path, PATH_MAX, places[i], here);
        if (access(ret_path, R_OK) == 0)
            return 0;
    }
    return why_fail(w, WHY_INVALID, "libneuralnetworks.so is not found; rt:?library=PATH names it");
}

/* The runtime has one list of devices per process, which it makes at its first use of
 * HALCYON_DEVICES. */
int adapter_choose_devices(const char *path, struct why *w)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char chosen[PATH_MAX], value[PATH_MAX + 2];
    static bool is_chosen;

    if (*path && access(path, R_OK) < 0)
        return why_file(w, path, errno);
    pthread_mutex_lock(&lock);
    bool is_other = is_chosen && strcmp(chosen, path) != 0;
    if (!is_chosen && *path) {
        snprintf(value, sizeof(value), "@%s", path);
        setenv("HALCYON_DEVICES", value, 1);
    }
    if (!is_chosen)
        snprintf(chosen, sizeof(chosen), "%s", path);
    is_chosen = true;
    pthread_mutex_unlock(&lock);
    REQUIRE(w, !is_other,
            "this process has the runtime with other devices already (rt:%s); give each a process "
            "of its own (--isolate)",
            chosen);
    return 0;
}

/* ---- whether all of them serve */

/* Lines or items of the list that are neither blank nor comments. */
static uint32_t count_items(char *list, const char *separators)
{
    char *rest = NULL;
    uint32_t n = 0;

    for (char *item = strtok_r(list, separators, &rest); item;
         item = strtok_r(NULL, separators, &rest)) {
        item += strspn(item, " \t\r");
        n += *item && *item != '#';
    }
    return n;
}

static uint32_t count_in_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;
    uint32_t n = file && getdelim(&text, &size, 0, file) >= 0 ? count_items(text, "\n") : 0;

    free(text);
    if (file)
        fclose(file);
    return n;
}

/* An application goes on without a driver that cannot be opened; a test of it would test less than
 * it says.  The property chooses among drivers, so that fewer are right. */
int adapter_check_devices(const struct adapter *a, struct why *w)
{
    const char *given = getenv("HALCYON_DEVICES"),
               *enabled = getenv("HALCYON_DEBUG_NN_ENABLED_DEVICES");
    char *list = strdup(given ? given : "");

    if (!list)
        return why_no_memory(w);
    uint32_t n = *list == '@' ? count_in_file(list + 1) : count_items(list, ",");
    free(list);
    if (enabled && *enabled)
        return 0;
    REQUIRE(w, a->n_devices == n + 1,
            "HALCYON_DEVICES names %u drivers, of which %u serve; 'halcyon devices URI' prints why "
            "one does not, unless two have the same name",
            n, a->n_devices - 1);
    return 0;
}
