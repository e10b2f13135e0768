/* Opens drivers in shared libraries (lib:PATH.so?ARGUMENTS). */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/client/runtime.h"

/* A name without a slash is a file here, not one that the linker looks for. */
static int load(const char *path, void **ret_library, struct why *w)
{
    char here[PATH_MAX];
    int n = snprintf(here, sizeof(here), "%s%s", strchr(path, '/') ? "" : "./", path);

    REQUIRE(w, n > 0 && (size_t) n < sizeof(here), "the path is too long");
    if (access(path, R_OK) != 0)
        return why_file(w, path, errno);
    *ret_library = dlopen(here, RTLD_NOW | RTLD_LOCAL);
    return *ret_library ? 0
                        : why_fail(w, WHY_INVALID, "not loaded as a shared library: %s", dlerror());
}

static int open_in(void *library, const char *arguments, struct hal_driver **ret_driver,
                   struct why *w)
{
    char reason[256] = "";
    union {
        void *symbol;
        hal_driver_open_fn *open;
    } entry = { dlsym(library, HAL_DRIVER_ENTRY) };

    REQUIRE(w, entry.symbol, "not a driver: it does not export %s", HAL_DRIVER_ENTRY);
    struct hal_driver *d = entry.open(HAL_ABI_VERSION, arguments, reason, sizeof(reason));
    reason[sizeof(reason) - 1] = 0;
    REQUIRE(w, d, "the driver does not open: %s", *reason ? reason : "it does not say why");
    *ret_driver = d;
    return 0;
}

int library_open(const char *path, const char *arguments, struct hal_driver **ret_driver,
                 void **ret_library, struct why *w)
{
    struct hal_driver *d = NULL;
    void *library = NULL;

    TRY(load(path, &library, w));
    if (open_in(library, arguments, &d, w) < 0) {
        dlclose(library);
        return -1;
    }
    if (target_check_table(d, w) < 0) {
        /* A driver of another ABI version cannot be closed, and its threads may still run: its
         * library stays loaded. */
        if (d->abi_version == HAL_ABI_VERSION && d->close) {
            d->close(d);
            dlclose(library);
        }
        return -1;
    }
    *ret_driver = d;
    *ret_library = library;
    return 0;
}

void library_close(void *library)
{
    if (library)
        dlclose(library);
}
