/* Makes the list of devices: opens the drivers that the environment names. */
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/devices/service_driver.h"
#include "sim/client/driver_client.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "Manager"

static struct device_list list;
static ANeuralNetworksDevice *reference;
static bool is_support_library;

/* ---- one device */

/* Owns what the device's properties point to, for the life of the process. */
struct device {
    ANeuralNetworksDevice base;
    struct target_info info;
    struct driver_client client;
    struct hal_operand_performance rows[HAL_NEWEST_ROWS];
};

static void set_properties(struct device *d, bool is_reference)
{
    const struct target_info *i = &d->info;
    ANeuralNetworksDevice *b = &d->base;

    b->name = is_reference ? "nnapi-reference" : i->name;
    b->version = i->version;
    b->type = (int32_t) i->type;
    b->level = (enum level) hal_level(i->hal_version);
    b->entry = i->hal_version;
    if (b->level > runtime_level()) {
        b->level = runtime_level();
        b->entry = hal_versions[b->level - L1];
    }
    b->is_reference = is_reference;
    hal_capabilities_to_newest(&i->capabilities, i->hal_version, d->rows, &b->performance);
    /* The reference's extensions are for judging; as a device of the API it has none. */
    b->n_extensions = is_reference ? 0 : i->n_extensions;
    b->extension = i->extensions;
    b->n_model_cache = is_reference ? 0 : i->n_model_cache;
    b->n_data_cache = is_reference ? 0 : i->n_data_cache;
    b->client = &d->client;
}

/* The driver of a service connects to it again when it has ended. */
static int set_driver(struct device *d, struct why *w)
{
    struct target *t = d->base.target;

    d->base.is_service = strncmp(target_uri(t), "unix:", 5) == 0;
    d->base.driver = d->base.is_service ? service_driver_new(t, &d->info)
                                        : (struct hal_driver *) (uintptr_t) target_driver(t);
    if (!d->base.driver)
        return why_no_memory(w);
    driver_client_init(&d->client, d->base.driver);
    return 0;
}

void device_free(ANeuralNetworksDevice *device)
{
    struct device *d = (struct device *) device;

    if (!d)
        return;
    if (d->base.is_service)
        d->base.driver->close(d->base.driver);
    target_free(d->base.target);
    driver_client_done(&d->client);
    free(d);
}

ANeuralNetworksDevice *device_of_target(struct target *t, bool is_reference, struct why *w)
{
    struct device *d = calloc(1, sizeof(*d));

    if (!d)
        why_no_memory(w);
    else
        d->base.target = t;
    if (!d || target_info(t, &d->info, w) < 0 || set_driver(d, w) < 0) {
        target_free(t);
        free(d);
        return NULL;
    }
    set_properties(d, is_reference);
    return &d->base;
}

/* The driver's own name is not yet checked against those of others. */
static ANeuralNetworksDevice *device_open(const char *uri, bool is_reference, struct why *w)
{
    const struct target_host host = { .isolation = ISOLATE_NONE };
    struct target *t;

    return target_open(uri, &host, &t, w) < 0 ? NULL : device_of_target(t, is_reference, w);
}

/* ---- which drivers serve */

/* Whether the property that names the drivers to be used has this one. */
static bool is_enabled(const char *name)
{
    const char *enabled = runtime_settings()->enabled;
    char pattern[512];
    regex_t r;

    if (!enabled || !*enabled || is_support_library)
        return true;
    int n = snprintf(pattern, sizeof(pattern), "^(%s)$", enabled);
    if (n < 0 || (size_t) n >= sizeof(pattern) ||
        regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB) != 0) {
        log_write(
            LOG_ERROR, LOG_TAG,
            "HALCYON_DEBUG_NN_ENABLED_DEVICES=%s: not a regular expression; no driver is used",
            enabled);
        return false;
    }
    bool ok = regexec(&r, name, 0, NULL, 0) == 0;
    regfree(&r);
    return ok;
}

static bool has_name(const char *name)
{
    for (uint32_t i = 0; i < list.n; i++)
        if (strcmp(list.device[i]->name, name) == 0)
            return true;
    return strcmp(name, "nnapi-reference") == 0;
}

static bool append(ANeuralNetworksDevice *d)
{
    ANeuralNetworksDevice **more =
        realloc((void *) (uintptr_t) list.device, (list.n + 1) * sizeof(ANeuralNetworksDevice *));

    if (!more)
        return false;
    more[list.n++] = d;
    list.device = more;
    return true;
}

/* variable: where the URI comes from. */
static void add_driver(const char *variable, const char *uri)
{
    struct why w;
    ANeuralNetworksDevice *d = NULL;

    if (strncmp(uri, "rt:", 3) == 0)
        why_fail(&w, WHY_INVALID, "%s is this runtime itself", uri);
    else
        d = device_open(uri, false, &w);
    if (!d) {
        log_write(LOG_ERROR, LOG_TAG, "%s: %s; this driver is not used", variable, w.text);
        return;
    }
    if (has_name(d->name)) {
        log_write(LOG_ERROR, LOG_TAG, "%s: %s: the name %s is taken; this driver is not used",
                  variable, uri, d->name);
    } else if (!is_enabled(d->name)) {
        log_write(LOG_INFO, LOG_TAG, "%s is not among the enabled devices", d->name);
    } else if (append(d)) {
        log_write(LOG_INFO, LOG_TAG, "Found interface %s (version = %s)", d->name, d->version);
        return;
    }
    device_free(d);
}

/* ---- the configuration */

static bool is_configured; /* HALCYON_DEVICES names a driver */

/* URIs between the characters of `separators`, without blanks around them.  A support library uses
 * the first one only. */
static void add_drivers(char *text, const char *separators)
{
    char *rest = NULL;

    for (char *uri = strtok_r(text, separators, &rest); uri;
         uri = strtok_r(NULL, separators, &rest)) {
        uri += strspn(uri, " \t\r");
        for (size_t n = strlen(uri); n && strchr(" \t\r", uri[n - 1]); n--)
            uri[n - 1] = 0;
        if (!*uri || *uri == '#' || (is_support_library && is_configured))
            continue;
        is_configured = true;
        add_driver("HALCYON_DEVICES", uri);
    }
}

static void add_drivers_of_file(const char *path)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (file && getdelim(&text, &size, 0, file) >= 0)
        add_drivers(text, "\n");
    else if (!file || ferror(file))
        log_write(LOG_ERROR, LOG_TAG, "HALCYON_DEVICES: %s: %s", path, strerror(errno));
    free(text);
    if (file)
        fclose(file);
}

static void add_configured(void)
{
    const char *devices = getenv("HALCYON_DEVICES");
    char *text = devices ? strdup(devices) : NULL;

    if (text && *text == '@')
        add_drivers_of_file(text + 1);
    else if (text)
        add_drivers(text, ",");
    free(text);
}

static void add_of_support_library(void)
{
    const char *device = getenv("HALCYON_SL_DEVICE");

    if (device && *device) {
        add_driver("HALCYON_SL_DEVICE", device);
        return;
    }
    add_configured();
    if (!is_configured)
        add_driver("HALCYON_SL_DEVICE", "golden");
}

static void make_list(void)
{
    struct why w;

    runtime_settings();
    reference = device_open("golden", true, &w);
    if (is_support_library)
        add_of_support_library();
    else
        add_configured();
    if (!reference || (!is_support_library && !append(reference))) {
        log_write(LOG_ERROR, LOG_TAG, "nnapi-reference: out of memory");
        list.n = 0;
    }
}

const struct device_list *devices(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_list);
    return &list;
}

const ANeuralNetworksDevice *reference_device(void)
{
    devices();
    return reference;
}

void devices_of_support_library(void)
{
    is_support_library = true;
    runtime_level_of_support_library();
}
