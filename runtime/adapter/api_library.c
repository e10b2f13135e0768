/* Loads libraries that implement the C API. */
#include "runtime/adapter/api_library.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"

/* A name without a slash is a file here, not one that the linker looks for. */
static int load(const char *path, void **ret_library, struct why *w)
{
    char here[PATH_MAX];
    int n = snprintf(here, sizeof(here), "%s%s", strchr(path, '/') ? "" : "./", path);

    REQUIRE(w, n > 0 && (size_t) n < sizeof(here), "the path is too long");
    *ret_library = dlopen(here, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    return *ret_library ? 0 : why_fail(w, WHY_INVALID, "%s", dlerror());
}

/* ISO C has no conversion of an object pointer to a function pointer. */
static int find(void *library, const char *name, void *ret_function, struct why *w)
{
    void *symbol = dlsym(library, name);

    REQUIRE(w, symbol, "it does not export %s", name);
    memcpy(ret_function, &symbol, sizeof(symbol));
    return 0;
}

#define FIND(function) TRY(find(library, "ANeuralNetworks" #function, &ret_api->function, w));

int api_library_runtime(const char *path, struct api_library *ret_api, struct why *w)
{
    void *library;

    *ret_api = (struct api_library){ .support = NULL };
    TRY(load(path, &library, w));
    API_FUNCTIONS(FIND)
    FIND(Compilation_create)
    FIND(Compilation_addExtensionAttribute)
    FIND(Execution_addExtensionAttribute)
    return 0;
}

#define TAKE(function)                                                                             \
    ret_api->function = s->ANeuralNetworks##function;                                              \
    REQUIRE(w, ret_api->function, "its table has no ANeuralNetworks" #function);

int api_library_support(const char *path, struct api_library *ret_api, struct why *w)
{
    const NnApiSLDriverImplFL5 *s;
    NnApiSLDriverImpl *(*get)(void);
    void *library;

    *ret_api = (struct api_library){ .support = NULL };
    TRY(load(path, &library, w));
    if (find(library, "ANeuralNetworks_getSLDriverImpl", &get, w) < 0)
        return why_prefix(w, "not a support library");
    const NnApiSLDriverImpl *head = get();
    REQUIRE(w, head, "ANeuralNetworks_getSLDriverImpl returns NULL");
    REQUIRE(w, head->implFeatureLevel >= ANEURALNETWORKS_FEATURE_LEVEL_5,
            "a support library of feature level %lld; expected %d (level 5) or more",
            (long long) head->implFeatureLevel, ANEURALNETWORKS_FEATURE_LEVEL_5);
    s = (const NnApiSLDriverImplFL5 *) (const void *) head;
    API_FUNCTIONS(TAKE)
    ret_api->support = s;
    if (head->implFeatureLevel >= ANEURALNETWORKS_FEATURE_LEVEL_8) {
        const NnApiSLDriverImplFL8 *newest = (const NnApiSLDriverImplFL8 *) (const void *) head;
        ret_api->Compilation_addExtensionAttribute =
            newest->ANeuralNetworksCompilation_addExtensionAttribute;
        ret_api->Execution_addExtensionAttribute =
            newest->ANeuralNetworksExecution_addExtensionAttribute;
    }
    return 0;
}
