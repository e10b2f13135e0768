/* Models: conversion, validation, supported operations and preparation. */
#include <inttypes.h>
#include <stdlib.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/driver/driver.h"

#define LOG_TAG "ModelBuilder"

static int load(const struct driver *d, const struct hal_model *hal, enum hal_version version,
                struct loaded_model *ret_loaded, struct why *w)
{
    VLOG(MODEL,
         "model of client %u: %u operations, %u operands, %u inputs, %u outputs, "
         "%u subgraphs, %u pools",
         caller_client(), hal->main.n_operations, hal->main.n_operands, hal->main.n_inputs,
         hal->main.n_outputs, hal->n_referenced, hal->n_pools);
    if (driver_check_entry(d, version, WIRE__METHOD__PREPARE_MODEL, w) == 0 &&
        loaded_model_open(hal, version, d->engine->extensions, ret_loaded, w) == 0)
        return 0;
    VLOG(MODEL, "model of client %u rejected: %s", caller_client(), w->text);
    return -1;
}

/* supported: one element per operation of the main graph. */
static int query_engine(struct driver *d, const struct loaded_model *l, bool *supported,
                        struct why *w)
{
    const struct engine *e = d->engine;

    for (uint32_t i = 0; i < l->model.graph[0].n_operations; i++)
        supported[i] = false;
    return e->methods->supported(d->engine, &l->model, supported, w);
}

enum hal_status driver_get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    static const char method[] = "get_supported_operations";
    struct driver *d = (struct driver *) self;
    const struct fault_hooks *hooks = fault_hooks(d->engine->fault);
    struct loaded_model l;
    struct why w;

    TRACE(LD, PC, method);
    failure_text_clear();
    if (load(d, model, version, &l, &w) < 0)
        return driver_log_failure(method, version, &w);
    int rc = query_engine(d, &l, supported, &w);
    if (rc == 0)
        *ret_n = l.model.graph[0].n_operations;
    if (rc == 0 && VLOG_IS_ON(COMPILATION)) {
        uint32_t yes = 0;
        for (uint32_t i = 0; i < *ret_n; i++)
            yes += supported[i];
        VLOG(COMPILATION, "%s supports %u of %u operations", d->engine->name, yes, *ret_n);
    }
    if (rc == 0 && hooks->supported)
        hooks->supported(supported, ret_n);
    loaded_model_close(&l);
    return rc < 0 ? driver_log_failure(method, version, &w)
                  : driver_log_status(method, version, HAL_NONE);
}

/* WHY_UNSUPPORTED: the engine does not support an operation. */
static int check_supported(struct driver *d, const struct loaded_model *l, struct why *w)
{
    uint32_t n = l->model.graph[0].n_operations;
    bool *supported = arena_alloc(l->arena, n, sizeof(bool));

    if (!supported)
        return why_no_memory(w);
    TRY(query_engine(d, l, supported, w));
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i])
            return why_fail(w, WHY_UNSUPPORTED, "operation %u is not supported", i);
    return 0;
}

static uint64_t constant_bytes(const struct model *m)
{
    uint64_t bytes = 0;

    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            bytes += m->graph[g].operand[i].length;
    return bytes;
}

static void return_quota(const struct prepared *p)
{
    client_quota_release(&p->driver->client_quotas, p->client, QUOTA_MODELS, 1);
    client_quota_release(&p->driver->client_quotas, p->client, QUOTA_MEMORY, p->bytes);
}

/* Reserves the client's quota and prepares the model on the engine. */
static enum hal_status reserve_and_compile(struct prepared *p, enum hal_version version)
{
    struct client_quotas *a = &p->driver->client_quotas;
    struct engine *e = p->driver->engine;
    enum hal_status status = client_quota_charge(a, p->client, QUOTA_MODELS, 1);
    struct why w;

    if (status != HAL_NONE) {
        failure_text_set("the client has as many prepared models as it may");
        return hal_status_at(status, version);
    }
    status = client_quota_charge(a, p->client, QUOTA_MEMORY, p->bytes);
    if (status != HAL_NONE) {
        failure_text_set("%" PRIu64 " bytes of constants exceed what the client may have",
                         p->bytes);
        client_quota_release(a, p->client, QUOTA_MODELS, 1);
        return hal_status_at(status, version);
    }
    if (e->methods->prepare(e, &p->loaded.model, &p->program, &w) == 0)
        return HAL_NONE;
    VLOG(COMPILATION, "model %" PRIu64 " cannot be prepared: %s", p->number, w.text);
    failure_text_set("%s", w.text);
    return_quota(p);
    return hal_status_from_why(&w, version);
}

/* Parameters of a preparation. */
struct preparation {
    const struct hal_prepare_config *config;
    enum hal_version version;
    bool is_cached;
};

/* The preparation after a successful launch. */
static enum hal_status compile(struct driver *d, struct loaded_model *l,
                               const struct preparation *how, struct prepared **ret_prepared)
{
    const struct fault_hooks *hooks = fault_hooks(d->engine->fault);
    const struct engine *e = d->engine;
    uint64_t bytes = constant_bytes(&l->model);
    uint64_t begun = schedule_now(d->schedule);
    uint64_t ns =
        e->methods->preparing ? e->methods->preparing(e, &l->model, bytes, how->is_cached) : 0;
    const uint64_t left = driver_time_left(how->config->deadline, how->version);
    const struct caller *caller = caller_get();
    const struct job nothing = { .gone = caller ? &caller->is_gone : NULL };
    enum hal_status status;
    struct prepared *p;

    if (!left || (left != HAL_NO_TIME && ns > left)) {
        failure_text_set("preparation takes %" PRIu64 " ns, the deadline is in %" PRIu64 " ns", ns,
                         left);
        VLOG(COMPILATION, "preparation takes %" PRIu64 " ns, the deadline is in %" PRIu64 " ns", ns,
             left);
        return HAL_MISSED_DEADLINE_PERSISTENT;
    }
    if (hooks->prepare && hooks->prepare() != HAL_NONE)
        return hooks->prepare();
    p = calloc(1, sizeof(*p));
    if (!p)
        return hal_status_exhausted(how->version);
    *p = (struct prepared){ .base = { &prepared_methods, l->model.graph[0].n_inputs,
                                      l->model.graph[0].n_outputs },
                            .driver = d,
                            .loaded = *l,
                            .priority = how->config->priority,
                            .client = caller_client(),
                            .bytes = bytes,
                            .number = atomic_fetch_add(&d->prepared, 1) + 1,
                            .references = 1 };
    status = reserve_and_compile(p, how->version);
    if (status != HAL_NONE) {
        free(p);
        return status;
    }
    schedule_sleep_until(d->schedule, &nothing, clock_sum(begun, ns)); /* in real time */
    VLOG(COMPILATION,
         "model %" PRIu64 " of client %u is prepared: priority %d, at least %" PRIu64
         " ns per execution",
         p->number, p->client, (int) p->priority, d->engine->methods->estimate(p->program));
    *ret_prepared = p;
    return HAL_NONE;
}

enum hal_status driver_prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    static const char method[] = "prepare_model";
    const struct preparation how = { config, version, false };
    struct driver *d = (struct driver *) self;
    struct prepared *p = NULL;
    struct loaded_model l;
    struct why w;
    enum hal_status status;

    TRACE(LD, PC, method);
    failure_text_clear();
    if (load(d, model, version, &l, &w) < 0)
        return hal_fail_preparation(callback, driver_log_failure(method, version, &w));
    if (hal_prepare_config_check(config, version, &w) < 0) {
        loaded_model_close(&l);
        return hal_fail_preparation(callback, driver_log_failure(method, version, &w));
    }
    status = check_supported(d, &l, &w) < 0
                 ? driver_log_failure(method, version, &w)
                 : driver_log_status(method, version, compile(d, &l, &how, &p));
    if (status == HAL_NONE)
        driver_cache_save(d, &config->cache, model, version, config->priority, &l);
    else
        loaded_model_close(&l);
    callback->notify(callback, status, p ? &p->base : NULL);
    return HAL_NONE;
}

/* A model from the cache is as untrusted as a client's.  If it is invalid or no longer supported,
 * the cache is unusable: HAL_GENERAL_FAILURE. */
static enum hal_status load_cached(struct driver *d, const struct hal_cache *cache,
                                   struct loaded_model *ret_loaded, enum hal_priority *ret_priority)
{
    struct arena *a = arena_new(0);
    enum hal_version version;
    struct hal_model hal;
    struct why w;

    enum hal_status s =
        a ? driver_cache_load(d, cache, a, &hal, &version, ret_priority) : HAL_GENERAL_FAILURE;
    if (s == HAL_NONE && load(d, &hal, version, ret_loaded, &w) < 0) {
        failure_text_set("the cached model is invalid: %s", w.text);
        s = HAL_GENERAL_FAILURE;
    } else if (s == HAL_NONE && check_supported(d, ret_loaded, &w) < 0) {
        failure_text_set("the cached model: %s", w.text);
        VLOG(COMPILATION, "the cache is not used: %s", w.text);
        loaded_model_close(ret_loaded);
        s = HAL_GENERAL_FAILURE;
    }
    arena_free(a);
    return s;
}

/* Preference and priority are not arguments here: the model keeps those it was cached with. */
static int check_cached(const struct driver *d, enum hal_version version,
                        struct hal_prepare_config *config, struct why *w)
{
    config->preference = HAL_FAST_SINGLE_ANSWER;
    config->priority = HAL_PRIORITY_MEDIUM;
    TRY(driver_check_entry(d, version, WIRE__METHOD__PREPARE_MODEL_FROM_CACHE, w));
    return hal_prepare_config_check(config, version, w);
}

enum hal_status driver_prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    static const char method[] = "prepare_model_from_cache";
    struct driver *d = (struct driver *) self;
    struct hal_prepare_config effective = *config;
    const struct preparation how = { &effective, version, true };
    struct prepared *p = NULL;
    struct loaded_model l;
    struct why w;

    TRACE(LD, PC, method);
    failure_text_clear();
    if (check_cached(d, version, &effective, &w) < 0)
        return hal_fail_preparation(callback, driver_log_failure(method, version, &w));
    enum hal_status status = load_cached(d, &effective.cache, &l, &effective.priority);
    if (status != HAL_NONE)
        return hal_fail_preparation(callback, driver_log_status(method, version, status));
    status = driver_log_status(method, version, compile(d, &l, &how, &p));
    if (status != HAL_NONE)
        loaded_model_close(&l);
    callback->notify(callback, status, p ? &p->base : NULL);
    return HAL_NONE;
}

struct prepared *prepared_of(const struct driver *d, struct hal_prepared_model *m)
{
    struct prepared *p = (struct prepared *) m;

    return m && m->methods == &prepared_methods && p->driver == d ? p : NULL;
}

void prepared_unref(struct prepared *p)
{
    if (atomic_fetch_sub(&p->references, 1) != 1)
        return;
    p->driver->engine->methods->program_free(p->program);
    return_quota(p);
    loaded_model_close(&p->loaded);
    free(p);
}
