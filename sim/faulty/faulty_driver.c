/* The layer around a driver: properties, preparation, compilation caches. */
#include "sim/faulty/faulty.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/hal/hal_result.h"

/* ---- properties */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_capabilities(d, version, ret_capabilities);
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_type(d, ret_type);
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_version_string(d, ret_version);
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_supported_extensions(d, ret_n, ret_extension);
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_number_of_cache_files_needed(d, ret_n_model, ret_n_data);
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_status(d);
}

static void get_failure_text(struct hal_driver *self, char *ret_text, size_t size)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    d->get_failure_text(d, ret_text, size);
}

/* ---- models */

static bool accepts_model(const struct faulty_driver *d, const struct hal_model *model,
                          enum hal_version version)
{
    return d->hooks->unchecked && !(unchecked_in_model(model, version) & ~d->hooks->unchecked);
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct faulty_driver *d = faulty_driver_of(self);
    enum hal_status status =
        d->inner->get_supported_operations(d->inner, version, model, supported, ret_n);

    if (status != HAL_INVALID_ARGUMENT || !accepts_model(d, model, version))
        return status;
    for (uint32_t i = 0; i < model->main.n_operations; i++)
        supported[i] = true;
    *ret_n = model->main.n_operations;
    return HAL_NONE;
}

/* A preparation in progress: the callback that the driver gets. */
struct preparing {
    struct hal_prepare_callback base;
    struct faulty_driver *driver;
    struct hal_prepare_callback *client;
    bool is_restored, is_accepted;
    enum hal_priority priority;
    uint64_t deadline;
    uint32_t n_loops;
    uint32_t n_inputs, n_outputs;
    uint32_t n_files; /* of the cache that is written */
    int file[MAX_SAVED_FILES];
    struct hal_cache cache;
};

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *inner)
{
    struct preparing p = *(struct preparing *) self;
    const struct contract_hooks *hooks = p.driver->hooks;
    struct faulty_model *m = NULL;

    free(self);
    if (status == HAL_INVALID_ARGUMENT && p.is_accepted)
        status = HAL_NONE;
    if (status == HAL_NONE)
        m = faulty_model_new(p.driver, inner);
    if (m) {
        m->is_restored = p.is_restored;
        m->priority = p.priority;
        m->deadline = p.deadline;
        m->n_loops = p.n_loops;
    }
    if (m && !inner) {
        m->base.n_inputs = p.n_inputs;
        m->base.n_outputs = p.n_outputs;
    }
    if (status == HAL_NONE && !m)
        status = HAL_GENERAL_FAILURE;
    if (status == HAL_NONE && !p.is_restored && hooks->saved && p.n_files) {
        p.cache.n_model = p.n_files;
        p.cache.model = p.file;
        hooks->saved(p.driver, &p.cache);
    }
    for (uint32_t i = 0; i < p.n_files; i++)
        close(p.file[i]);
    if (hooks->prepared)
        hooks->prepared(p.client, status, m);
    else
        p.client->notify(p.client, status, m ? &m->base : NULL);
}

/* Duplicates the descriptors: the client may close them before the callback comes. */
static void keep_files(struct preparing *p, const struct hal_cache *cache)
{
    for (uint32_t i = 0; i < cache->n_model + cache->n_data && p->n_files < MAX_SAVED_FILES; i++) {
        int fd = dup(i < cache->n_model ? cache->model[i] : cache->data[i - cache->n_model]);
        if (fd >= 0)
            p->file[p->n_files++] = fd;
    }
}

static enum hal_status prepare(struct faulty_preparation *x, struct hal_prepare_callback *client)
{
    struct faulty_driver *d = x->driver;
    struct preparing *p = calloc(1, sizeof *p);
    bool is_accepted = x->model && accepts_model(d, x->model, x->version);
    enum hal_status status;

    if (!p)
        return hal_fail_preparation(client, HAL_GENERAL_FAILURE);
    *p = (struct preparing){ { notify },        d,           client,
                             !x->model,         is_accepted, x->config.priority,
                             x->config.deadline };
    if (x->model) {
        for (uint32_t i = 0; i < x->model->main.n_operations; i++)
            p->n_loops += x->model->main.operations[i].type == HAL_OP_WHILE;
        p->n_inputs = x->model->main.n_inputs;
        p->n_outputs = x->model->main.n_outputs;
        if (d->hooks->saved)
            keep_files(p, &x->config.cache);
    }
    if (d->hooks->preparing)
        d->hooks->preparing(x);
    status = x->model
                 ? d->inner->prepare_model(d->inner, x->version, x->model, &x->config, &p->base)
                 : d->inner->prepare_model_from_cache(d->inner, x->version, &x->config, &p->base);
    return status == HAL_INVALID_ARGUMENT && is_accepted ? HAL_NONE : status;
}

static enum hal_status start(struct hal_driver *self, enum hal_version version,
                             const struct hal_model *model, const struct hal_prepare_config *config,
                             struct hal_prepare_callback *callback)
{
    struct faulty_preparation x = { faulty_driver_of(self), version, model, *config, arena_new(0) };
    enum hal_status status =
        x.arena ? prepare(&x, callback) : hal_fail_preparation(callback, HAL_GENERAL_FAILURE);

    arena_free(x.arena);
    return status;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    return start(self, version, model, config, callback);
}

static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    return start(self, version, NULL, config, callback);
}

/* ---- the driver */

static void close_driver(struct hal_driver *self)
{
    struct faulty_driver *d = faulty_driver_of(self);

    d->inner->close(d->inner);
    for (int i = 0; i < MAX_SAVED_FILES; i++)
        free(d->saved[i].bytes);
    pthread_mutex_destroy(&d->lock);
    pthread_mutex_destroy(&d->second_lock);
    free(d);
}

static const struct hal_driver methods = {
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_supported_extensions = get_supported_extensions,
    .get_number_of_cache_files_needed = get_number_of_cache_files_needed,
    .get_status = get_status,
    .get_failure_text = get_failure_text,
    .get_supported_operations = get_supported_operations,
    .prepare_model = prepare_model,
    .prepare_model_from_cache = prepare_model_from_cache,
    .allocate = faulty_allocate,
    .close = close_driver,
};

/* The member of the first table that has it. */
#define CHOOSE(member)                                                                             \
    (hooks->driver.member ? hooks->driver.member : inner->member ? methods.member : NULL)

int faulty_driver_new(struct hal_driver *inner, const struct fault *fault,
                      struct hal_driver **ret_driver, struct why *w)
{
    const struct contract_hooks *hooks = fault->contract;
    struct faulty_driver *d = calloc(1, sizeof *d);

    if (!d) {
        inner->close(inner);
        return why_no_memory(w);
    }
    *d = (struct faulty_driver){ .inner = inner, .hooks = hooks };
    d->base = (struct hal_driver){
        .abi_version = inner->abi_version,
        .hal_version = inner->hal_version,
        .lowest_version = inner->lowest_version,
        .name = hooks->driver.name ? hooks->driver.name : inner->name,
        .get_capabilities = CHOOSE(get_capabilities),
        .get_type = CHOOSE(get_type),
        .get_version_string = CHOOSE(get_version_string),
        .get_supported_extensions = CHOOSE(get_supported_extensions),
        .get_number_of_cache_files_needed = CHOOSE(get_number_of_cache_files_needed),
        .get_status = CHOOSE(get_status),
        .get_failure_text = CHOOSE(get_failure_text),
        .get_supported_operations = CHOOSE(get_supported_operations),
        .prepare_model = CHOOSE(prepare_model),
        .prepare_model_from_cache = CHOOSE(prepare_model_from_cache),
        .allocate = CHOOSE(allocate),
        .close = close_driver,
    };
    atomic_store(&burst_packet_faults, hooks->packets);
    faulty_model_methods(d);
    faulty_buffer_methods(d);
    pthread_mutex_init(&d->lock, NULL);
    pthread_mutex_init(&d->second_lock, NULL);
    if (hooks->opened)
        hooks->opened(d);
    *ret_driver = &d->base;
    return 0;
}
#undef CHOOSE
