/* A driver on top of an engine: properties, threads, logging of calls, construction. */
#define _GNU_SOURCE
#include "sim/driver/driver.h"

#include <stdlib.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/device/schedule.h"

#define LOG_TAG "Driver"

int driver_check_entry(const struct driver *d, enum hal_version version, Wire__Method method,
                       struct why *w)
{
    const struct wire_method *m = wire_method(method);

    REQUIRE(w,
            hal_level(version) && version >= d->base.lowest_version &&
                version <= d->base.hal_version,
            "a call of HAL version %d to a driver of HAL %s to %s", (int) version,
            hal_version_name(d->base.lowest_version), hal_version_name(d->base.hal_version));
    REQUIRE(w, version >= m->since && version <= m->until, "the method is not part of HAL %s",
            hal_version_name(version));
    return 0;
}

enum hal_status driver_too_old(enum hal_version since)
{
    failure_text_set("the method is part of the HAL since %s", hal_version_name(since));
    return HAL_GENERAL_FAILURE;
}

uint64_t driver_time_left(uint64_t deadline, enum hal_version version)
{
    if (deadline == HAL_NO_DEADLINE)
        return HAL_NO_TIME;
    const uint64_t now = hal_now(version);
    return deadline > now ? deadline - now : 0;
}

static void log_call(const char *method, enum hal_version version, enum hal_status status,
                     const char *separator, const char *reason)
{
    log_write(LOG_INFO, LOG_TAG, "client %u: %s of HAL %s: %s%s%s", caller_client(), method,
              hal_version_name(version), hal_status_name(status), separator, reason);
}

enum hal_status driver_log_status(const char *method, enum hal_version version,
                                  enum hal_status status)
{
    if (VLOG_IS_ON(DRIVER))
        log_call(method, version, status, "", "");
    return status;
}

enum hal_status driver_log_failure(const char *method, enum hal_version version,
                                   const struct why *w)
{
    enum hal_status status = hal_status_from_why(w, version);

    failure_text_set("%s", w->text);
    if (VLOG_IS_ON(DRIVER))
        log_call(method, version, status, ": ", w->text);
    return status;
}

/* ---- threads */

/* Of all clients together; each has its own quota. */
enum { MAX_THREADS = 4096 };

struct start {
    struct driver *driver;
    void (*f)(void *argument);
    void *argument;
};

static void end_thread(struct driver *d)
{
    pthread_mutex_lock(&d->lock);
    d->threads--;
    pthread_cond_broadcast(&d->idle);
    pthread_mutex_unlock(&d->lock);
}

static void *run_thread(void *argument)
{
    struct start s = *(struct start *) argument;

    pthread_setname_np(pthread_self(), "execution");
    free(argument);
    s.f(s.argument);
    end_thread(s.driver);
    return NULL;
}

static bool begin_thread(struct driver *d)
{
    pthread_mutex_lock(&d->lock);
    bool ok = d->threads < MAX_THREADS;
    d->threads += ok;
    pthread_mutex_unlock(&d->lock);
    return ok;
}

int driver_start_thread(struct driver *d, void (*f)(void *argument), void *argument)
{
    struct start *s = malloc(sizeof(*s));
    pthread_t thread;

    if (!s || !begin_thread(d)) {
        free(s);
        return -1;
    }
    *s = (struct start){ d, f, argument };
    if (pthread_create(&thread, NULL, run_thread, s) != 0) {
        end_thread(d);
        free(s);
        return -1;
    }
    pthread_detach(thread);
    return 0;
}

/* ---- properties */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    struct driver *d = (struct driver *) self;
    struct why w;

    TRACE(LD, PI, "get_capabilities");
    if (driver_check_entry(d, version, WIRE__METHOD__GET_CAPABILITIES, &w) < 0)
        return driver_log_failure("get_capabilities", version, &w);
    if (VLOG_IS_ON(DRIVER) && !hal_capabilities_are_lossless(&d->engine->capabilities, version))
        log_write(LOG_WARNING, LOG_TAG,
                  "get_capabilities: the performance of %s is not fully representable in HAL %s",
                  d->engine->name, hal_version_name(version));
    *ret_capabilities = d->capabilities[hal_level(version) - 1];
    return driver_log_status("get_capabilities", version, HAL_NONE);
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    const struct engine *e = ((struct driver *) self)->engine;

    if (e->hal < HAL_1_2)
        return driver_too_old(HAL_1_2);
    *ret_type = e->type;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    const struct engine *e = ((struct driver *) self)->engine;

    if (e->hal < HAL_1_2)
        return driver_too_old(HAL_1_2);
    *ret_version = e->version;
    return HAL_NONE;
}

/* Lists the engine's extensions with their types. */
static void list_extensions(const struct engine *e, struct driver_extensions *to)
{
    for (int p = EXTENSION_NONE + 1; p < EXTENSION_END; p++) {
        if (!(e->extensions & EXTENSIONS_NAMED & EXTENSION_BIT(p)))
            continue;
        uint32_t first = to->n_types;
        uint16_t number;
        for (int t = DT_FOREIGN + 1; t < DT_END; t++)
            if (extension_of_type((enum dtype) t, &number) == (enum extension_prefix) p)
                to->type[to->n_types++] =
                    (struct hal_extension_type){ number, dtype_info[t].tensor,
                                                 (uint32_t) dtype_info[t].codec->size };
        struct hal_extension *x = &to->extension[to->n++];
        x->name = extension_name[p];
        x->n_types = to->n_types - first;
        x->type = &to->type[first];
    }
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension)
{
    const struct driver *d = (const struct driver *) self;

    if (d->engine->hal < HAL_1_2)
        return driver_too_old(HAL_1_2);
    *ret_n = d->extensions.n;
    *ret_extension = d->extensions.extension;
    return HAL_NONE;
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    const struct engine *e = ((struct driver *) self)->engine;

    if (e->hal < HAL_1_2)
        return driver_too_old(HAL_1_2);
    driver_cache_files(e, ret_n_model, ret_n_data);
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_AVAILABLE;
}

static void close_driver(struct hal_driver *self)
{
    struct driver *d = (struct driver *) self;

    fence_complete(&d->closing, true);
    pthread_mutex_lock(&d->lock);
    while (d->threads)
        pthread_cond_wait(&d->idle, &d->lock);
    pthread_mutex_unlock(&d->lock);
    close(d->closing.wait);
    d->engine->methods->free(d->engine);
    schedule_free(d->schedule);
    buffers_done(&d->buffers);
    client_quotas_done(&d->client_quotas);
    bursts_done(&d->bursts);
    free(d->memory.last);
    free(d->rows);
    pthread_cond_destroy(&d->idle);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

static const struct hal_driver methods = {
    .abi_version = HAL_ABI_VERSION,
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_supported_extensions = get_supported_extensions,
    .get_number_of_cache_files_needed = get_number_of_cache_files_needed,
    .get_status = get_status,
    .get_failure_text = failure_text_get,
    .get_supported_operations = driver_get_supported_operations,
    .prepare_model = driver_prepare_model,
    .prepare_model_from_cache = driver_prepare_model_from_cache,
    .allocate = driver_allocate,
    .close = close_driver,
};

uint32_t driver_max_sessions(const struct hal_driver *d)
{
    return d->close == close_driver ? ((const struct driver *) d)->engine->limits.sessions
                                    : client_limits_default.sessions;
}

static int convert_capabilities(struct driver *d)
{
    const struct hal_capabilities *c = &d->engine->capabilities;
    size_t room = (size_t) c->n_operands + 2;

    d->rows = calloc(HAL_VERSIONS * room, sizeof(*d->rows));
    for (int i = 0; d->rows && i < HAL_VERSIONS; i++)
        hal_capabilities_at(c, hal_versions[i], d->rows + (size_t) i * room, &d->capabilities[i]);
    return d->rows ? 0 : -1;
}

int driver_new(struct engine *e, struct hal_driver **ret_driver, struct why *w)
{
    struct driver *d = calloc(1, sizeof(*d));
    struct schedule *s = schedule_new(e->queue_depth);

    if (d)
        d->engine = e;
    if (!d || !s || convert_capabilities(d) < 0 || fence_open(&d->closing) < 0) {
        if (d)
            free(d->rows);
        free(d);
        schedule_free(s);
        e->methods->free(e);
        return why_no_memory(w);
    }
    d->base = methods;
    d->base.hal_version = e->hal;
    d->base.lowest_version = e->lowest_hal ? e->lowest_hal : HAL_1_0;
    d->base.name = e->name;
    d->schedule = s;
    list_extensions(e, &d->extensions);
    schedule_set_name(s, e->name);
    if (e->is_realtime)
        schedule_set_realtime(s);
    client_quotas_init(&d->client_quotas, &e->limits);
    buffers_init(&d->buffers, e->hal, &d->client_quotas);
    bursts_init(&d->bursts);
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->idle, NULL);
    *ret_driver = &d->base;
    return 0;
}
