#include "sim/base/own_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder of this program. */
static void own_folder(char *ret_folder, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", ret_folder, size - 1);

    ret_folder[n > 0 ? n : 0] = 0;
    char *slash = strrchr(ret_folder, '/');
    if (slash)
        *slash = 0;
}

int own_file(const char *name, const char *room, const char *variable, char ret_path[PATH_MAX],
             struct why *w)
{
    static const char *const places[] = { "%s/%s", "%s/../libexec/halcyon/%s", "%s/../%s/%s",
                                          "%s/../../%s/%s" };
    enum { FIRST_IN_BUILD = 2 };
    const char *given = getenv(variable);
    char here[PATH_MAX / 2];

    if (given) {
        snprintf(ret_path, PATH_MAX, "%s", given);
        return 0;
    }
    own_folder(here, sizeof here);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(ret_path, PATH_MAX, places[i], here, i < FIRST_IN_BUILD ? name : room, name);
        if (access(ret_path, R_OK) == 0)
            return 0;
    }
    return why_fail(w, WHY_SYSTEM,
                    "%s is neither beside this program nor in ../libexec/halcyon; %s=PATH names it",
                    name, variable);
}
