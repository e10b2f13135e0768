/* The methods of a driver in another process, as calls. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/memory.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote_internal.h"

/* ---- properties */

static int take_info(struct remote *r, const Wire__DriverInfo *m, struct why *w)
{
    struct wire_passing p = { .arena = r->arena };
    struct hal_driver_info *i = &r->info.driver;

    TRY(wire_take(&hal_driver_info_record, m, &p, i, w));
    REQUIRE(w, i->protocol == WIRE_PROTOCOL && i->abi_version == HAL_ABI_VERSION,
            "protocol %u and ABI version %u of hal.h, expected %d and %d", i->protocol,
            i->abi_version, WIRE_PROTOCOL, HAL_ABI_VERSION);
    REQUIRE(w, hal_level(i->hal_version), "its driver has the unknown HAL version %d",
            (int) i->hal_version);
    REQUIRE(w, hal_level(i->lowest_version), "its driver has the unknown lowest HAL version %d",
            (int) i->lowest_version);
    r->base.name = i->name;
    r->base.abi_version = i->abi_version;
    r->base.hal_version = i->hal_version;
    r->base.lowest_version = i->lowest_version;
    return 0;
}

/* The rows are in r->arena; nothing else of capabilities has a pointer. */
static int take_capabilities(struct remote *r, const Wire__Capabilities *m,
                             struct hal_capabilities *ret_capabilities, struct why *w)
{
    struct wire_passing p = { .arena = r->arena };

    REQUIRE(w, m, "the service returned no capabilities");
    pthread_mutex_lock(&r->asking);
    int rc = wire_take(&hal_capabilities_record, m, &p, ret_capabilities, w);
    pthread_mutex_unlock(&r->asking);
    return rc;
}

static enum hal_status ask_capabilities(struct remote *r, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(r, WIRE__METHOD__GET_CAPABILITIES, version, &q) < 0)
        return remote_failure(&q);
    status = remote_run(&q);
    if (status == HAL_NONE &&
        take_capabilities(r, q.reply->capabilities, ret_capabilities, &q.why) < 0)
        status = HAL_GENERAL_FAILURE;
    remote_end(&q);
    return status;
}

/* Queried once per version, as a driver's capabilities are constant. */
static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    struct remote *r = (struct remote *) self;
    enum hal_status status = HAL_NONE;

    if (!hal_level(version))
        return remote_reject("no such HAL version");
    pthread_mutex_lock(&r->asking);
    bool known = r->info.has_capabilities[version];
    pthread_mutex_unlock(&r->asking);
    struct hal_capabilities c;
    if (!known)
        status = ask_capabilities(r, version, &c);
    pthread_mutex_lock(&r->asking);
    if (!known && status == HAL_NONE) {
        r->info.capabilities[version] = c;
        r->info.has_capabilities[version] = true;
    }
    if (status == HAL_NONE)
        *ret_capabilities = r->info.capabilities[version];
    pthread_mutex_unlock(&r->asking);
    return status;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    const struct hal_driver_info *i = &((struct remote *) self)->info.driver;

    failure_text_clear();
    if (i->type_status == HAL_NONE)
        *ret_type = i->type;
    return i->type_status;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    const struct hal_driver_info *i = &((struct remote *) self)->info.driver;

    failure_text_clear();
    if (i->version_status == HAL_NONE)
        *ret_version = i->version;
    return i->version_status;
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension)
{
    const struct hal_driver_info *i = &((struct remote *) self)->info.driver;

    failure_text_clear();
    if (i->extensions_status == HAL_NONE) {
        *ret_n = i->n_extensions;
        *ret_extension = i->extensions;
    }
    return i->extensions_status;
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    const struct hal_driver_info *i = &((struct remote *) self)->info.driver;

    failure_text_clear();
    if (i->cache_status == HAL_NONE) {
        *ret_n_model = i->n_model_cache;
        *ret_n_data = i->n_data_cache;
    }
    return i->cache_status;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    struct remote *r = (struct remote *) self;
    enum hal_device_status status = HAL_DEVICE_UNKNOWN;
    struct remote_call q;

    if (remote_begin(r, WIRE__METHOD__GET_STATUS, 0, &q) == 0) {
        if (remote_run(&q) == HAL_NONE)
            status = (enum hal_device_status) q.reply->device_status;
        remote_end(&q);
    }
    return remote_is_dead(self, NULL) ? HAL_DEVICE_OFFLINE : status;
}

/* ---- models */

static enum hal_status put_model(struct remote_call *q, const struct hal_model *model,
                                 struct shared_pools **ret_shared)
{
    struct hal_model crossing;

    if (wire_check_lists(&hal_model_record, model, &q->why) < 0 ||
        shared_pools_of_model(model, q->a, ret_shared, &crossing, &q->why) < 0 ||
        wire_encode_model(&crossing, q->a, &q->fds, &q->call.model, &q->why) < 0)
        return remote_failure(q);
    return HAL_NONE;
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct shared_pools *shared = NULL;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin((struct remote *) self, WIRE__METHOD__GET_SUPPORTED_OPERATIONS, version, &q) <
        0)
        return remote_failure(&q);
    status = put_model(&q, model, &shared);
    if (status == HAL_NONE)
        status = remote_run(&q);
    if (status == HAL_NONE) {
        *ret_n = (uint32_t) q.reply->n_supported + q.reply->more;
        for (size_t i = 0; i < q.reply->n_supported && i < model->main.n_operations; i++)
            supported[i] = q.reply->supported[i];
    }
    shared_pools_unref(shared);
    remote_end(&q);
    return status;
}

static int put_prepare_config(struct remote_call *q, const struct hal_prepare_config *config)
{
    struct wire_passing p = { .arena = q->a, .fds = &q->fds };

    return wire_put(&hal_prepare_config_record, &wire__prepare_config__descriptor, config, &p,
                    &q->call.prepare, &q->why);
}

/* The callback is called exactly once: by an event, or here if the call was not executed. */
static enum hal_status run_prepare(struct remote_call *q, struct hal_prepare_callback *callback)
{
    const struct remote_callback c = { .prepare = callback };
    enum hal_status status;

    status = remote_add_callback(q, &c) < 0 ? remote_failure(q) : remote_run(q);
    if (remote_launch_failed(q, &status))
        hal_fail_preparation(callback, status);
    return status;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct shared_pools *shared = NULL;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin((struct remote *) self, WIRE__METHOD__PREPARE_MODEL, version, &q) < 0)
        return hal_fail_preparation(callback, remote_failure(&q));
    status = put_model(&q, model, &shared);
    if (status == HAL_NONE && put_prepare_config(&q, config) < 0)
        status = remote_failure(&q);
    status =
        status == HAL_NONE ? run_prepare(&q, callback) : hal_fail_preparation(callback, status);
    shared_pools_unref(shared);
    remote_end(&q);
    return status;
}

static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    struct remote_call q;
    enum hal_status status;

    if (remote_begin((struct remote *) self, WIRE__METHOD__PREPARE_MODEL_FROM_CACHE, version, &q) <
        0)
        return hal_fail_preparation(callback, remote_failure(&q));
    status = put_prepare_config(&q, config) == 0
                 ? run_prepare(&q, callback)
                 : hal_fail_preparation(callback, remote_failure(&q));
    remote_end(&q);
    return status;
}

/* ---- buffers (memory domains) */

struct remote_buffer {
    struct hal_buffer base;
    struct remote *r;
    uint64_t handle;
};

/* Copies memory of kind ADDRESS through the channel's staging memory. */
static enum hal_status copy_staged(struct remote_call *q, const struct hal_memory *m, bool back)
{
    bool staged = memory_is_plain(m);
    enum hal_status status;

    if (staged && m->size > SIZE_MAX / 4) {
        why_fail(&q->why, WHY_INVALID, "a memory of %" PRIu64 " bytes is too large", m->size);
        return remote_failure(q);
    }
    if ((staged && remote_grow_staging(q, m->size) < 0) ||
        wire_encode_memory(m, 0, q->a, &q->fds, &q->call.memory, &q->why) < 0)
        return remote_failure(q);
    if (staged && !back)
        memcpy(q->c->staging.address, m->address, m->size);
    status = remote_run(q);
    if (staged && back && status == HAL_NONE)
        memcpy(m->address, q->c->staging.address, m->size);
    return status;
}

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct remote_buffer *b = (struct remote_buffer *) self;
    struct remote_call q;
    enum hal_status status;

    if (remote_begin(b->r, WIRE__METHOD__COPY_TO, 0, &q) < 0)
        return remote_failure(&q);
    q.call.object = b->handle;
    status = copy_staged(&q, to, true);
    remote_end(&q);
    return status;
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct remote_buffer *b = (struct remote_buffer *) self;
    struct remote_call q;
    enum hal_status status;

    if (n_dims && !dims)
        return remote_reject("the list of dimensions is NULL");
    if (remote_begin(b->r, WIRE__METHOD__COPY_FROM, 0, &q) < 0)
        return remote_failure(&q);
    q.call.object = b->handle;
    q.call.n_dims = n_dims;
    q.call.dims = (uint32_t *) (uintptr_t) dims;
    status = copy_staged(&q, from, false);
    remote_end(&q);
    return status;
}

static void release_buffer(struct hal_buffer *self)
{
    struct remote_buffer *b = (struct remote_buffer *) self;

    remote_release(b->r, b->handle);
    free(b);
}

/* Takes ownership of the handle; NULL: out of memory, and the handle is released. */
static struct hal_buffer *buffer_new(struct remote *r, uint64_t handle)
{
    static const struct hal_buffer_methods methods = { copy_to, copy_from, release_buffer };
    struct remote_buffer *b = malloc(sizeof(*b));

    if (!b) {
        remote_release(r, handle);
        return NULL;
    }
    *b = (struct remote_buffer){ { &methods }, r, handle };
    return &b->base;
}

static enum hal_status run_allocate(struct remote_call *q, struct hal_buffer **ret_buffer,
                                    uint32_t *ret_token)
{
    enum hal_status status = remote_run(q);

    if (status != HAL_NONE)
        return status;
    struct hal_buffer *b = q->reply->object ? buffer_new(q->r, q->reply->object) : NULL;
    if (q->reply->object && !b)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    *ret_buffer = b;
    *ret_token = q->reply->token;
    return HAL_NONE;
}

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    struct remote *r = (struct remote *) self;
    struct remote_call q;

    *ret_buffer = NULL;
    *ret_token = 0;
    if ((n_models && !models) || (n_input_roles && !input_roles) ||
        (n_output_roles && !output_roles) || (desc->n_dims && !desc->dims))
        return remote_reject("a list of models, roles or dimensions is NULL");
    if (remote_begin(r, WIRE__METHOD__ALLOCATE, 0, &q) < 0)
        return remote_failure(&q);
    uint64_t *handles = arena_alloc(q.a, n_models, sizeof(*handles));
    for (uint32_t i = 0; handles && i < n_models; i++)
        handles[i] = remote_prepared_handle(r, models[i]);
    q.call.n_models = n_models;
    q.call.models = handles;
    q.call.n_input_roles = n_input_roles;
    q.call.n_output_roles = n_output_roles;
    struct wire_passing p = { .arena = q.a };
    enum hal_status status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    if (handles &&
        wire_put(&hal_buffer_desc_record, &wire__buffer_desc__descriptor, desc, &p, &q.call.desc,
                 &q.why) == 0 &&
        wire_put_list(&hal_buffer_role_record, &wire__buffer_role__descriptor, input_roles,
                      n_input_roles, &p, &q.call.input_roles, &q.why) == 0 &&
        wire_put_list(&hal_buffer_role_record, &wire__buffer_role__descriptor, output_roles,
                      n_output_roles, &p, &q.call.output_roles, &q.why) == 0)
        status = run_allocate(&q, ret_buffer, ret_token);
    remote_end(&q);
    return status;
}

int remote_query_info(struct remote *r, struct why *w)
{
    static const struct hal_driver methods = {
        .get_capabilities = get_capabilities,
        .get_type = get_type,
        .get_version_string = get_version_string,
        .get_supported_extensions = get_supported_extensions,
        .get_number_of_cache_files_needed = get_number_of_cache_files_needed,
        .get_status = get_status,
        .get_failure_text = failure_text_get,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .prepare_model_from_cache = prepare_model_from_cache,
        .allocate = allocate,
        .close = remote_close,
    };
    Wire__Call call = WIRE__CALL__INIT;
    const Wire__Reply *reply = NULL;

    r->base = methods;
    call.method = WIRE__METHOD__GET_INFO;
    TRY(remote_call_first(r, &call, &reply, w));
    REQUIRE(w, reply->info, "its reply to GET_INFO is empty");
    if (*reply->breach)
        remote_record_violation(r, "%s", reply->breach);
    /* The properties point into the reply, which stays in r->arena. */
    struct arena *replies = r->arena;
    r->arena = r->first->arena;
    r->first->arena = replies;
    return take_info(r, reply->info, w);
}
