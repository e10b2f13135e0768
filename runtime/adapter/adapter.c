/* The driver itself: opening, properties, the table of methods. */
#include "runtime/adapter/adapter.h"
#include "runtime/base/result_name.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/failure_text.h"
#include "sim/hal/hal_convert.h"

/* ---- failures */

enum hal_status adapter_status(int result)
{
    switch (result) {
    case ANEURALNETWORKS_NO_ERROR: return HAL_NONE;
    case ANEURALNETWORKS_BAD_DATA:
    case ANEURALNETWORKS_UNEXPECTED_NULL: return HAL_INVALID_ARGUMENT;
    case ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE: return HAL_OUTPUT_INSUFFICIENT_SIZE;
    case ANEURALNETWORKS_UNAVAILABLE_DEVICE: return HAL_DEVICE_UNAVAILABLE;
    case ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT: return HAL_MISSED_DEADLINE_TRANSIENT;
    case ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT: return HAL_MISSED_DEADLINE_PERSISTENT;
    case ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT: return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    case ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT: return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    default: return HAL_GENERAL_FAILURE;
    }
}

enum hal_status adapter_fail(enum hal_status status, const char *fmt, ...)
{
    char text[HAL_TEXT_BYTES];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    failure_text_set("%s", text);
    return status;
}

bool adapter_ok(enum hal_status *ret_status, int result, const char *function, const char *fmt, ...)
{
    char what[128];
    va_list ap;

    if (result == ANEURALNETWORKS_NO_ERROR)
        return true;
    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    *ret_status = adapter_fail(adapter_status(result), "ANeuralNetworks%s (%s) returns %s",
                               function, what, result_name(result));
    return false;
}

bool adapter_has_entry(const struct adapter *a, enum hal_version version)
{
    if (hal_level(version) && version >= a->base.lowest_version && version <= a->base.hal_version)
        return true;
    failure_text_set("a call of HAL version %d to a driver of HAL %s to %s", (int) version,
                     hal_version_name(a->base.lowest_version),
                     hal_version_name(a->base.hal_version));
    return false;
}

bool adapter_has_extension(const struct adapter *a, const char *name)
{
    for (uint32_t i = 0; i < a->n_extensions; i++)
        if (strcmp(a->extension[i].name, name) == 0)
            return true;
    return false;
}

uint64_t adapter_time_left(uint64_t deadline)
{
    const uint64_t now = hal_now(HAL_FL5);

    if (deadline == HAL_NO_DEADLINE)
        return HAL_NO_TIME;
    return deadline > now ? deadline - now : 0;
}

enum hal_status adapter_check_time(const char *what, uint64_t ns)
{
    struct why w;

    return hal_check_time(what, ns, HAL_FL5, &w) < 0
               ? adapter_fail(HAL_INVALID_ARGUMENT, "%.200s", w.text)
               : HAL_NONE;
}

enum hal_status adapter_missed_deadline(const char *what)
{
    return adapter_fail(HAL_MISSED_DEADLINE_TRANSIENT, "the deadline of %s has passed", what);
}

/* ---- properties */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    const struct adapter *a = (struct adapter *) self;

    failure_text_clear();
    if (!adapter_has_entry(a, version))
        return HAL_INVALID_ARGUMENT;
    *ret_capabilities = a->capabilities;
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    *ret_type = ((struct adapter *) self)->type;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    *ret_version = ((struct adapter *) self)->version;
    return HAL_NONE;
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension)
{
    const struct adapter *a = (struct adapter *) self;

    *ret_n = a->n_extensions;
    *ret_extension = a->extension;
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    const struct adapter *a = (struct adapter *) self;

    for (uint32_t i = 0; i < a->n_devices; i++)
        if (a->api.Device_wait(a->device[i]) != ANEURALNETWORKS_NO_ERROR)
            return HAL_DEVICE_OFFLINE;
    return HAL_DEVICE_AVAILABLE;
}

/* Does not wait for executions that have not ended, since a device may never end them: their memory
 * is not freed.  The library stays loaded. */
static void close_adapter(struct hal_driver *self)
{
    struct adapter *a = (struct adapter *) self;

    adapter_free_ended(a);
    if (a->unfinished)
        return;
    pthread_mutex_destroy(&a->lock);
    arena_free(a->arena);
    free(a);
}

/* ---- opening */

/* A target: sl:PATH?device=NAME, or rt:FILE?library=PATH. */
struct arguments {
    char text[PATH_MAX + 256];
    const char *path;    /* of the support library, or of a file with URIs; may be empty for rt: */
    const char *device;  /* name; NULL: the only one */
    const char *library; /* another libneuralnetworks.so; NULL: Halcyon's */
    bool is_runtime;
};

static int parse_option(struct arguments *to, const char *text, struct why *w)
{
    const char **value = to->is_runtime ? &to->library : &to->device;
    const char *name = to->is_runtime ? "library=" : "device=";

    REQUIRE(w, strncmp(text, name, strlen(name)) == 0 && text[strlen(name)],
            "expected ?%s%s, found %s", name, to->is_runtime ? "PATH" : "NAME", text);
    *value = text + strlen(name);
    return 0;
}

static int parse_arguments(struct arguments *to, const char *uri, struct why *w)
{
    int n = snprintf(to->text, sizeof(to->text), "%s", uri);

    REQUIRE(w, n >= 0 && (size_t) n < sizeof(to->text), "the target is too long");
    to->is_runtime = strncmp(uri, "rt:", 3) == 0;
    REQUIRE(w, to->is_runtime || strncmp(uri, "sl:", 3) == 0, "expected rt:FILE or sl:PATH.so");
    char *option = strchr(to->text, '?');
    if (option) {
        *option++ = 0;
        TRY(parse_option(to, option, w));
    }
    to->path = to->text + 3;
    REQUIRE(w, *to->path || to->is_runtime, "expected sl:PATH.so");
    return 0;
}

static int list_devices(struct adapter *a, struct why *w)
{
    uint32_t n = 0;

    REQUIRE(w, a->api._getDeviceCount(&n) == ANEURALNETWORKS_NO_ERROR && n,
            "the library has no devices");
    a->device = arena_alloc(a->arena, n, sizeof(*a->device));
    if (!a->device)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        ANeuralNetworksDevice *d = NULL;
        REQUIRE(w, a->api._getDevice(i, &d) == ANEURALNETWORKS_NO_ERROR && d,
                "ANeuralNetworks_getDevice(%u) of %u devices fails", i, n);
        a->device[i] = d;
    }
    a->n_devices = n;
    return 0;
}

static const char *name_of(const struct adapter *a, uint32_t i)
{
    const char *name = NULL;

    if (a->api.Device_getName(a->device[i], &name) != ANEURALNETWORKS_NO_ERROR || !name)
        return "?";
    return name;
}

/* Keeps the device of that name, or the only one. */
static int choose_device(struct adapter *a, const char *name, struct why *w)
{
    char names[256] = "";
    uint32_t i = 0;

    for (uint32_t k = 0; k < a->n_devices; k++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof(names) - used, "%s%s", k ? ", " : "", name_of(a, k));
    }
    while (name && i < a->n_devices && strcmp(name_of(a, i), name) != 0)
        i++;
    REQUIRE(w, i < a->n_devices, "no device '%s'; the library has %s", name, names);
    REQUIRE(w, name || a->n_devices == 1, "several devices: choose one with ?device=NAME of %s",
            names);
    a->device[0] = a->device[i];
    a->n_devices = 1;
    return 0;
}

static int open_runtime(struct adapter *a, const struct arguments *arguments, struct why *w)
{
    char path[PATH_MAX];

    TRY(adapter_find_runtime(arguments->library, path, w));
    TRY(adapter_choose_devices(arguments->path, w));
    TRY(api_library_runtime(path, &a->api, w));
    TRY(list_devices(a, w));
    return arguments->library ? 0 : adapter_check_devices(a, w);
}

static int open_support(struct adapter *a, const struct arguments *arguments, struct why *w)
{
    TRY(api_library_support(arguments->path, &a->api, w));
    TRY(list_devices(a, w));
    return choose_device(a, arguments->device, w);
}

static int open_library(struct adapter *a, const struct arguments *arguments, struct why *w)
{
    a->is_runtime = arguments->is_runtime;
    TRY(a->is_runtime ? open_runtime(a, arguments, w) : open_support(a, arguments, w));
    return adapter_read_properties(a, w);
}

static const struct hal_driver methods = {
    .abi_version = HAL_ABI_VERSION,
    .lowest_version = HAL_FL5,
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_supported_extensions = get_supported_extensions,
    .get_status = get_status,
    .get_failure_text = failure_text_get,
    .get_supported_operations = adapter_get_supported_operations,
    .prepare_model = adapter_prepare_model,
    .allocate = adapter_allocate,
    .close = close_adapter,
};

static struct adapter *open_adapter(const char *text, struct why *w)
{
    struct arguments arguments = { .path = NULL };
    struct adapter *a = calloc(1, sizeof(*a));

    if (!a || !(a->arena = arena_new(0))) {
        free(a);
        why_no_memory(w);
        return NULL;
    }
    a->base = methods;
    a->base.name = a->name;
    if (parse_arguments(&arguments, text, w) < 0 || open_library(a, &arguments, w) < 0) {
        arena_free(a->arena);
        free(a);
        return NULL;
    }
    pthread_mutex_init(&a->lock, NULL);
    return a;
}

__attribute__((visibility("default"))) hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    struct why w = { .text = "" };
    struct adapter *a = NULL;

    if (abi_version == HAL_ABI_VERSION)
        a = open_adapter(arguments, &w);
    else
        why_fail(&w, WHY_INVALID, "expected a program of HAL ABI version %d", HAL_ABI_VERSION);
    snprintf(why, why_size, "%s", a ? "" : w.text);
    return a ? &a->base : NULL;
}
