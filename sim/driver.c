/* The driver of an engine: the HAL's methods on one side, legal models and complete inputs on the
 * other. */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sim/convert.h"
#include "sim/engine.h"
#include "sim/request.h"

struct driver {
    struct hal_driver base;
    struct engine *engine;
    pthread_mutex_t lock; /* one execution at a time */
    struct fault_memory memory;
};

/* A client's model, taken over: what a prepared model lives on. */
struct loaded {
    struct arena *arena;
    struct mapping *pools;
    uint32_t n_pools;
    struct model model;
    bool unknown; /* legal, but has operations that are not in the catalogue */
};

struct prepared {
    struct hal_prepared_model base;
    struct driver *driver;
    struct loaded loaded;
    struct program *program;
};

/* ---- models */

static void unload(struct loaded *l)
{
    for (uint32_t i = 0; i < l->n_pools; i++)
        memory_unmap(&l->pools[i]);
    arena_free(l->arena);
}

static int load_pools(const struct hal_model *hal, struct loaded *l, struct why *w)
{
    REQUIRE(w, !hal->n_pools || hal->pools, "no pools");
    l->pools = arena_alloc(l->arena, hal->n_pools, sizeof(*l->pools));
    if (!l->pools)
        return why_fail(w, WHY_MEMORY, "out of memory");
    for (; l->n_pools < hal->n_pools; l->n_pools++)
        if (memory_map(&hal->pools[l->n_pools], false, &l->pools[l->n_pools], w) < 0)
            return why_prefix(w, "pool %u", l->n_pools);
    return 0;
}

static int validate(struct loaded *l, enum hal_version version, struct why *w)
{
    int level = model_prepare(&l->model, NULL, w);

    if (level < 0 && w->code == WHY_UNSUPPORTED) {
        l->unknown = true;
        return 0;
    }
    TRY(level);
    REQUIRE(w, level <= hal_level(version), "the model needs feature level %d, the call has %d",
            level, hal_level(version));
    return 0;
}

static int load_into(const struct hal_model *hal, enum hal_version version, struct loaded *l,
                     struct why *w)
{
    TRY(load_pools(hal, l, w));
    TRY(convert_from_hal(hal, version, l->pools, l->arena, &l->model, w));
    return validate(l, version, w);
}

static int load(const struct driver *d, const struct hal_model *hal, enum hal_version version,
                struct loaded *ret_loaded, struct why *w)
{
    struct loaded l = { .arena = arena_new(0) };

    if (!l.arena)
        return why_fail(w, WHY_MEMORY, "out of memory");
    if (version > d->engine->hal || hal_level(version) < 1)
        why_fail(w, WHY_INVALID, "HAL version %d of a driver of %d", (int) version,
                 (int) d->engine->hal);
    else if (load_into(hal, version, &l, w) == 0) {
        *ret_loaded = l;
        return 0;
    }
    unload(&l);
    return -1;
}

/* supported: one answer per operation of the main graph; all false for what nobody knows. */
static int ask_engine(struct driver *d, const struct loaded *l, bool *supported, struct why *w)
{
    const struct engine *e = d->engine;

    for (uint32_t i = 0; i < l->model.graph[0].n_operations; i++)
        supported[i] = false;
    return l->unknown ? 0 : e->methods->supported(d->engine, &l->model, supported, w);
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct driver *d = (struct driver *) self;
    const struct fault_hooks *hooks = fault_hooks(d->engine->fault);
    struct loaded l;
    struct why w;

    if (load(d, model, version, &l, &w) < 0)
        return hal_status_of(&w, version);
    int rc = ask_engine(d, &l, supported, &w);
    if (rc == 0)
        *ret_n = l.model.graph[0].n_operations;
    if (rc == 0 && hooks->supported)
        hooks->supported(supported, ret_n);
    unload(&l);
    return rc < 0 ? hal_status_of(&w, version) : HAL_NONE;
}

static const struct hal_prepared_model_methods prepared_methods;

/* Refuses what the engine does not support. */
static int check_supported(struct driver *d, const struct loaded *l, struct why *w)
{
    uint32_t n = l->model.graph[0].n_operations;
    bool *supported = arena_alloc(l->arena, n, sizeof(bool));

    if (!supported)
        return why_fail(w, WHY_MEMORY, "out of memory");
    TRY(ask_engine(d, l, supported, w));
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i])
            return why_fail(w, WHY_UNSUPPORTED, "operation %u is not supported", i);
    return 0;
}

static int check_config(const struct hal_prepare_config *c, enum hal_version version, struct why *w)
{
    if (version >= HAL_1_1)
        REQUIRE(w, c->preference >= HAL_LOW_POWER && c->preference <= HAL_SUSTAINED_SPEED,
                "preference %d", (int) c->preference);
    if (version >= HAL_1_3)
        REQUIRE(w, c->priority >= HAL_PRIORITY_LOW && c->priority <= HAL_PRIORITY_HIGH,
                "priority %d", (int) c->priority);
    REQUIRE(w, !c->cache.n_model || c->cache.model, "no model cache files");
    REQUIRE(w, !c->cache.n_data || c->cache.data, "no data cache files");
    return 0;
}

/* Nanoseconds until a deadline, by the clock of that version. */
static uint64_t time_left(uint64_t deadline, enum hal_version version)
{
    struct timespec t;

    if (deadline == HAL_NO_DEADLINE || version < HAL_1_3)
        return HAL_NO_TIME;
    clock_gettime(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
    return deadline > now ? deadline - now : 0;
}

/* All after a launch that succeeded. */
static enum hal_status compile(struct driver *d, struct loaded *l,
                               const struct hal_prepare_config *config, enum hal_version version,
                               struct prepared **ret_prepared)
{
    const struct fault_hooks *hooks = fault_hooks(d->engine->fault);
    struct prepared *p;
    struct why w;

    if (time_left(config->deadline, version) == 0)
        return HAL_MISSED_DEADLINE_PERSISTENT;
    if (hooks->prepare && hooks->prepare() != HAL_NONE)
        return hooks->prepare();
    p = calloc(1, sizeof(*p));
    if (!p)
        return HAL_GENERAL_FAILURE;
    *p = (struct prepared){ .base = { &prepared_methods }, .driver = d, .loaded = *l };
    if (d->engine->methods->prepare(d->engine, &p->loaded.model, &p->program, &w) < 0) {
        free(p);
        return hal_status_of(&w, version);
    }
    *ret_prepared = p;
    return HAL_NONE;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct driver *d = (struct driver *) self;
    struct prepared *p = NULL;
    struct loaded l;
    struct why w;
    enum hal_status status;

    if (load(d, model, version, &l, &w) < 0) {
        callback->notify(callback, hal_status_of(&w, version), NULL);
        return hal_status_of(&w, version);
    }
    if (check_config(config, version, &w) < 0 || check_supported(d, &l, &w) < 0) {
        unload(&l);
        callback->notify(callback, hal_status_of(&w, version), NULL);
        return hal_status_of(&w, version);
    }
    status = compile(d, &l, config, version, &p);
    if (status != HAL_NONE)
        unload(&l);
    callback->notify(callback, status, p ? &p->base : NULL);
    return HAL_NONE;
}

/* No caching yet: what was never written cannot be read. */
static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) config;
    callback->notify(callback, HAL_GENERAL_FAILURE, NULL);
    return HAL_GENERAL_FAILURE;
}

/* ---- executions */

static struct run_limits limits_of(const struct hal_execution_config *c, enum hal_version version)
{
    struct run_limits l = { time_left(c->deadline, version), HAL_LOOP_TIMEOUT_DEFAULT };

    if (version >= HAL_1_3 && c->loop_timeout != HAL_NO_TIME)
        l.loop_ns = c->loop_timeout < HAL_LOOP_TIMEOUT_MAX ? c->loop_timeout : HAL_LOOP_TIMEOUT_MAX;
    return l;
}

/* Runs an open request, fills in the shapes and the timing of success. */
static enum hal_status compute(struct prepared *p, enum hal_version version, struct request *r,
                               const struct hal_execution_config *config, struct hal_result *result)
{
    const struct engine_methods *methods = p->driver->engine->methods;
    struct run_limits limits = limits_of(config, version);
    struct run_output output;
    struct why w;

    if (limits.time_ns == 0)
        return HAL_MISSED_DEADLINE_PERSISTENT;
    if (methods->run(p->program, r->in, &limits, r->arena, &output, &w) < 0)
        return hal_status_of(&w, version);
    int rc = request_write(r, output.out, result->shapes, &w);
    if (rc < 0)
        return hal_status_of(&w, version);
    if (version >= HAL_1_2)
        result->n_shapes = r->n_outputs;
    if (rc == 0 && config->measure && version >= HAL_1_2)
        result->timing = (struct hal_timing){ output.on_device, output.in_driver };
    if (rc == 0)
        return HAL_NONE;
    return version >= HAL_1_2 ? HAL_OUTPUT_INSUFFICIENT_SIZE : HAL_GENERAL_FAILURE;
}

static enum hal_status execute_in(struct prepared *p, enum hal_version version,
                                  const struct hal_request *request,
                                  const struct hal_execution_config *config,
                                  struct hal_result *result, struct arena *arena)
{
    const struct fault_hooks *hooks = fault_hooks(p->driver->engine->fault);
    struct request r;
    struct why w;

    if (version > p->driver->engine->hal || hal_level(version) < 1 ||
        result->capacity < p->loaded.model.graph[0].n_outputs)
        return HAL_INVALID_ARGUMENT;
    if (request_open(request, version, &p->loaded.model, arena, &r, &w) < 0)
        return hal_status_of(&w, version);
    r.withhold = hooks->withhold;
    struct answer a = { .request = &r,
                        .status = compute(p, version, &r, config, result),
                        .result = result,
                        .measure = config->measure,
                        .memory = &p->driver->memory };
    if (hooks->answer)
        hooks->answer(&a);
    p->driver->memory.executions++;
    request_close(&r);
    return a.status;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct prepared *p = (struct prepared *) self;
    struct arena *arena = arena_new((size_t) p->driver->engine->memory);
    enum hal_status status = HAL_GENERAL_FAILURE;

    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (!arena)
        return status;
    pthread_mutex_lock(&p->driver->lock);
    status = execute_in(p, version, request, config, result, arena);
    pthread_mutex_unlock(&p->driver->lock);
    arena_free(arena);
    return status;
}

/* Asynchronous as the contract has it; the work is done before the call returns. */
static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct prepared *p = (struct prepared *) self;
    uint32_t n = p->loaded.model.graph[0].n_outputs;
    struct hal_result result = { .shapes = calloc(n + 1, sizeof(*result.shapes)), .capacity = n };
    enum hal_status status = result.shapes
                                 ? execute_synchronously(self, version, request, config, &result)
                                 : HAL_GENERAL_FAILURE;

    callback->notify(callback, status, result.n_shapes, result.shapes, result.timing);
    free(result.shapes);
    return status == HAL_INVALID_ARGUMENT ? status : HAL_NONE;
}

/* Declared by the contract, not served yet: the status for "cannot, do without". */
static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    (void) self, (void) version, (void) request, (void) n_wait_for, (void) wait_for;
    (void) config, (void) duration;
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    return HAL_GENERAL_FAILURE;
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    (void) self, (void) version, (void) ret_burst;
    return HAL_GENERAL_FAILURE;
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    (void) self, (void) request, (void) config, (void) ret_execution;
    return HAL_GENERAL_FAILURE;
}

static void release(struct hal_prepared_model *self)
{
    struct prepared *p = (struct prepared *) self;

    p->driver->engine->methods->program_free(p->program);
    unload(&p->loaded);
    free(p);
}

static const struct hal_prepared_model_methods prepared_methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .execute_fenced = execute_fenced,
    .configure_burst = configure_burst,
    .create_reusable_execution = create_reusable_execution,
    .release = release,
};

/* ---- what the driver says of itself */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    struct driver *d = (struct driver *) self;

    if (version > d->engine->hal || hal_level(version) < 1)
        return HAL_INVALID_ARGUMENT;
    *ret_capabilities = d->engine->capabilities;
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    *ret_type = ((struct driver *) self)->engine->type;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    *ret_version = ((struct driver *) self)->engine->version;
    return HAL_NONE;
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    const struct engine *e = ((struct driver *) self)->engine;

    *ret_n_model = e->model_cache_files;
    *ret_n_data = e->data_cache_files;
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_AVAILABLE;
}

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    (void) self, (void) desc, (void) n_models, (void) models, (void) n_input_roles;
    (void) input_roles, (void) n_output_roles, (void) output_roles;
    *ret_buffer = NULL;
    *ret_token = 0;
    return HAL_GENERAL_FAILURE;
}

static void close_driver(struct hal_driver *self)
{
    struct driver *d = (struct driver *) self;

    d->engine->methods->free(d->engine);
    free(d->memory.last);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

int driver_new(struct engine *e, struct hal_driver **ret_driver, struct why *w)
{
    struct driver *d = calloc(1, sizeof(*d));

    if (!d) {
        e->methods->free(e);
        return why_fail(w, WHY_MEMORY, "out of memory");
    }
    *d = (struct driver){
        .base = { .abi_version = HAL_ABI_VERSION,
                  .hal_version = e->hal,
                  .name = e->name,
                  .get_capabilities = get_capabilities,
                  .get_type = get_type,
                  .get_version_string = get_version_string,
                  .get_number_of_cache_files_needed = get_number_of_cache_files_needed,
                  .get_status = get_status,
                  .get_supported_operations = get_supported_operations,
                  .prepare_model = prepare_model,
                  .prepare_model_from_cache = prepare_model_from_cache,
                  .allocate = allocate,
                  .close = close_driver },
        .engine = e,
    };
    pthread_mutex_init(&d->lock, NULL);
    *ret_driver = &d->base;
    return 0;
}
