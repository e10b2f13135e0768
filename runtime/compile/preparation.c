#include "runtime/compile/preparation.h"

#include "runtime/base/failure.h"
#include "runtime/compile/caching.h"
#include "runtime/memory/runtime_memory.h"
#include "sim/client/driver_client.h"
#include "sim/hal/convert.h"

#define LOG_TAG "ExecutionPlan"

const struct preparation plain_preparation = {
    .preference = ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER,
    .priority = ANEURALNETWORKS_PRIORITY_DEFAULT,
};

/* Pools with descriptor and address, for drivers in this and in other processes. */
static int put_pools(enum level level, uint32_t n, ANeuralNetworksMemory *const *pool,
                     struct arena *a, struct hal_model *hal)
{
    struct hal_memory *pools = arena_alloc(a, n, sizeof(*pools));

    if (!pools)
        return FAIL(OUT_OF_MEMORY, "no memory for a model of the HAL");
    for (uint32_t i = 0; i < n; i++)
        PASS(memory_for_driver(pool[i], level, &pools[i]));
    hal->pools = pools;
    return ANEURALNETWORKS_NO_ERROR;
}

static struct hal_prepare_config configuration(const ANeuralNetworksDevice *d,
                                               const struct preparation *how)
{
    struct hal_prepare_config c = { .preference = HAL_FAST_SINGLE_ANSWER,
                                    .priority = HAL_PRIORITY_MEDIUM,
                                    .deadline = HAL_NO_DEADLINE };

    if (d->level >= L2)
        c.preference = (enum hal_preference) how->preference;
    if (d->level >= L4) {
        c.priority =
            (enum hal_priority)((how->priority - ANEURALNETWORKS_PRIORITY_LOW) /
                                (ANEURALNETWORKS_PRIORITY_MEDIUM - ANEURALNETWORKS_PRIORITY_LOW));
        if (how->timeout)
            c.deadline = driver_deadline(d, how->timeout);
    }
    if (d->level >= L8 && how->attributes) {
        c.n_hints = how->attributes->n;
        c.hints = how->attributes->value;
        c.n_extension_prefixes = how->attributes->n_prefixes;
        c.extension_name_to_prefix = how->attributes->prefix;
    }
    return c;
}

/* ---- preparing */

static int result_of_end(const ANeuralNetworksDevice *d, const struct client_end *e)
{
    int code = e->status == HAL_NONE ? ANEURALNETWORKS_OP_FAILED : result_of_status(e->status);

    return fail_with(LOG_TAG, code, "%s does not prepare the model: %s%s%s", d->name,
                     hal_status_name(e->status), e->failure_text[0] || e->violation[0] ? ": " : "",
                     e->violation[0] ? e->violation : e->failure_text);
}

/* Why a prepared model cannot be used for the graph; NULL: it can.  One that was
 * restored from cache files may be of another model, since other programs can write these files. */
static const char *misfit_of(const struct hal_prepared_model *p, const struct graph *g)
{
    if (!p->methods || !p->methods->release)
        return "it has no methods";
    if (p->n_inputs != g->n_inputs || p->n_outputs != g->n_outputs)
        return "it has other numbers of inputs and outputs";
    return NULL;
}

static void release(struct hal_prepared_model *p)
{
    if (p && p->methods && p->methods->release)
        DRIVER_RELEASE(p);
}

/* From the cache's files, which all exist; NULL: the driver does not restore this model. */
static struct hal_prepared_model *restore(const ANeuralNetworksDevice *d, const struct model *m,
                                          const struct hal_prepare_config *config)
{
    const struct graph *g = &m->graph[0];
    struct client_end end;
    struct hal_prepared_model *p = driver_client_prepare(d->client, d->entry, NULL, config, &end);

    const char *misfit = p ? misfit_of(p, g) : NULL;
    if (p && !end.violation[0] && !misfit) {
        VLOG(COMPILATION, "%u operations are restored from the cache on %s", g->n_operations,
             d->name);
        return p;
    }
    log_write(LOG_WARNING, LOG_TAG, "%s does not restore the model from the cache: %s", d->name,
              end.violation[0] ? end.violation
              : misfit         ? misfit
                               : hal_status_name(end.status));
    release(p);
    return NULL;
}

static int convert_and_prepare(struct arena *a, const ANeuralNetworksDevice *d,
                               const struct model *m, ANeuralNetworksMemory *const *pool,
                               const struct hal_prepare_config *config,
                               struct hal_prepared_model **ret_prepared)
{
    struct hal_prepared_model *p;
    struct hal_model hal;
    struct client_end end;
    struct why w;

    if (convert_to_hal(m, a, &hal, &w) < 0)
        return FAIL_WHY(&w);
    if (d->level < L3)
        hal.n_extension_prefixes = 0;
    PASS(put_pools(d->level, m->n_pools, pool, a, &hal));
    VLOG(COMPILATION, "%u operations are prepared on %s", m->graph[0].n_operations, d->name);
    p = driver_client_prepare(d->client, d->entry, &hal, config, &end);
    if (!p)
        return result_of_end(d, &end);
    const char *misfit = misfit_of(p, &m->graph[0]);
    if (misfit) {
        release(p);
        return FAIL(OP_FAILED, "%s prepares a model that cannot be used: %s", d->name, misfit);
    }
    *ret_prepared = p;
    return ANEURALNETWORKS_NO_ERROR;
}

static int prepare_in(struct arena *a, const ANeuralNetworksDevice *d, const struct model *m,
                      ANeuralNetworksMemory *const *pool, const struct preparation *how,
                      struct hal_prepared_model **ret_prepared)
{
    struct hal_prepare_config config = configuration(d, how);
    struct hal_cache *cache = &config.cache;
    struct hal_prepared_model *p = NULL;
    struct cache_files files;

    if (!cache_token(d, how, cache->token))
        return convert_and_prepare(a, d, m, pool, &config, ret_prepared);
    if (cache_files_open(d, &how->cache, cache->token, false, &files, cache)) {
        p = restore(d, m, &config);
        cache_files_close(&files);
    }
    if (p) {
        *ret_prepared = p;
        return ANEURALNETWORKS_NO_ERROR;
    }
    cache->n_model = cache->n_data = 0;
    cache_files_open(d, &how->cache, cache->token, true, &files, cache);
    int result = convert_and_prepare(a, d, m, pool, &config, ret_prepared);
    cache_files_close(&files);
    return result;
}

int prepare_on_device(const ANeuralNetworksDevice *d, const struct model *m,
                      ANeuralNetworksMemory *const *pool, const struct preparation *how,
                      struct hal_prepared_model **ret_prepared)
{
    struct arena *a = arena_new(0);

    if (!a)
        return FAIL(OUT_OF_MEMORY, "no memory for a model of the HAL");
    int result = prepare_in(a, d, m, pool, how, ret_prepared);
    arena_free(a);
    return d->is_reference && result == ANEURALNETWORKS_BAD_DATA ? ANEURALNETWORKS_OP_FAILED
                                                                 : result;
}
