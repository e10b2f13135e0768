#include "harness/server/libpq.h"

#include <dlfcn.h>
#include <string.h>

static const char library[] = "libpq.so.5";

int libpq_load(const struct libpq **ret_libpq, struct why *w)
{
    static struct libpq functions;
    static bool loaded;
    if (!loaded) {
        void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
        if (!handle)
            return why_fail(w, WHY_SYSTEM,
                            "PostgreSQL's client library cannot be loaded: %s (Debian's package "
                            "libpq5 has it)",
                            dlerror());
        void *found;
#define FUNCTION(name)                                                                             \
    if (!(found = dlsym(handle, #name)))                                                           \
        return why_fail(w, WHY_SYSTEM, "%s: has no function " #name, library);                     \
    memcpy(&functions.name, &found, sizeof found);
        LIBPQ_FUNCTIONS(FUNCTION)
#undef FUNCTION
        loaded = true;
    }
    *ret_libpq = &functions;
    return 0;
}
