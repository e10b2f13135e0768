#include "runtime/devices/service_driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "sim/client/runtime.h"
#include "sim/hal/hal_result.h"

#define LOG_TAG "Manager"

struct connection {
    struct connection *next; /* of `unused` */
    struct target *target;
    struct hal_driver *driver;
    unsigned references; /* under the service's lock: of the service, calls, models, buffers */
};

struct service {
    struct hal_driver base;
    const struct target_info *info;
    const char *uri;
    pthread_mutex_t lock;
    struct connection first; /* its target is not closed here */
    struct connection *current;
    struct connection *unused; /* to be closed, by another thread than their own */
};

/* What a service has made: its own object, and the connection. */
struct service_model {
    struct hal_prepared_model base;
    struct service *service;
    struct connection *connection;
    struct hal_prepared_model *inner;
};

struct service_buffer {
    struct hal_buffer base;
    struct service *service;
    struct connection *connection;
    struct hal_buffer *inner;
};

/* ---- connections */

static void connection_ref(struct service *s, struct connection *c)
{
    pthread_mutex_lock(&s->lock);
    c->references++;
    pthread_mutex_unlock(&s->lock);
}

/* Leaves the connection to be closed: callbacks come from its own thread, which closing it waits
 * for. */
static void unref_in_callback(struct service *s, struct connection *c)
{
    pthread_mutex_lock(&s->lock);
    if (--c->references == 0 && c != &s->first) {
        c->next = s->unused;
        s->unused = c;
    }
    pthread_mutex_unlock(&s->lock);
}

static void close_unused(struct service *s)
{
    pthread_mutex_lock(&s->lock);
    struct connection *c = s->unused;
    s->unused = NULL;
    pthread_mutex_unlock(&s->lock);
    while (c) {
        struct connection *next = c->next;
        target_free(c->target);
        free(c);
        c = next;
    }
}

static void connection_unref(struct service *s, struct connection *c)
{
    unref_in_callback(s, c);
    close_unused(s);
}

/* Whether the service that is at the path now is the same device. */
static int check_same(const struct target_info *was, const struct target_info *is, struct why *w)
{
    REQUIRE(w, strcmp(was->name, is->name) == 0 && strcmp(was->version, is->version) == 0,
            "it serves %s, version %s, in place of %s, version %s", is->name, is->version,
            was->name, was->version);
    REQUIRE(w,
            was->type == is->type && was->hal_version == is->hal_version &&
                was->lowest_version == is->lowest_version &&
                was->n_extensions == is->n_extensions && was->n_model_cache == is->n_model_cache &&
                was->n_data_cache == is->n_data_cache,
            "%s has other properties than before", is->name);
    return 0;
}

static int open_again(const struct service *s, struct target **ret_target, struct why *w)
{
    const struct target_host host = { .isolation = ISOLATE_NONE };
    struct target_info info;
    struct target *t;

    TRY(target_open(s->uri, &host, &t, w));
    if (target_info(t, &info, w) < 0 || check_same(s->info, &info, w) < 0) {
        target_free(t);
        return -1;
    }
    *ret_target = t;
    return 0;
}

/* In place of a connection that has failed.  The lock is held.  -1: there is still none. */
static int reconnect(struct service *s)
{
    struct connection *c = calloc(1, sizeof(*c));
    struct why w, cause = { .text = "" };

    target_is_dead(s->current->target, &cause);
    if (!c || open_again(s, &c->target, &w) < 0) {
        if (!c)
            why_no_memory(&w);
        log_write(LOG_ERROR, LOG_TAG, "%s has failed (%s) and cannot be connected to again: %s",
                  s->uri, cause.text, w.text);
        free(c);
        return -1;
    }
    log_write(LOG_INFO, LOG_TAG, "%s has failed (%s) and is connected to again", s->uri,
              cause.text);
    c->driver = (struct hal_driver *) (uintptr_t) target_driver(c->target);
    c->references = 1;
    s->current = c;
    return 0;
}

/* A living connection, which the caller unrefs; NULL: there is none. */
static struct connection *connect_to(struct service *s)
{
    struct connection *dead = NULL, *c = NULL;

    pthread_mutex_lock(&s->lock);
    if (!target_is_dead(s->current->target, NULL)) {
        c = s->current;
    } else {
        dead = s->current;
        if (reconnect(s) == 0)
            c = s->current;
        else
            dead = NULL;
    }
    if (c)
        c->references++;
    pthread_mutex_unlock(&s->lock);
    if (dead)
        connection_unref(s, dead);
    return c;
}

/* ---- prepared models */

static struct hal_prepared_model *inner_of(struct hal_prepared_model *p)
{
    return ((struct service_model *) p)->inner;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct hal_prepared_model *p = inner_of(self);

    return p->methods->execute_synchronously(p, version, request, config, result);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct hal_prepared_model *p = inner_of(self);

    return p->methods->execute(p, version, request, config, callback);
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    struct hal_prepared_model *p = inner_of(self);

    return p->methods->execute_fenced(p, version, request, n_wait_for, wait_for, config, duration,
                                      ret_fence, ret_info);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    struct hal_prepared_model *p = inner_of(self);

    return p->methods->configure_burst(p, version, ret_burst);
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    struct hal_prepared_model *p = inner_of(self);

    return p->methods->create_reusable_execution(p, request, config, ret_execution);
}

static void release_model(struct hal_prepared_model *self)
{
    struct service_model *m = (struct service_model *) self;

    m->inner->methods->release(m->inner);
    connection_unref(m->service, m->connection);
    free(m);
}

/* Takes ownership of the service's model, also on failure: NULL, out of memory. */
static struct hal_prepared_model *model_new(struct service *s, struct connection *c,
                                            struct hal_prepared_model *inner)
{
    static const struct hal_prepared_model_methods methods = {
        execute_synchronously,     execute,      execute_fenced, configure_burst,
        create_reusable_execution, release_model
    };
    struct service_model *m = malloc(sizeof(*m));

    if (!m) {
        inner->methods->release(inner);
        return NULL;
    }
    *m = (struct service_model){ { &methods, inner->n_inputs, inner->n_outputs }, s, c, inner };
    connection_ref(s, c);
    return &m->base;
}

const void *service_driver_connection(const struct hal_prepared_model *p)
{
    return ((const struct service_model *) p)->connection;
}

/* ---- preparations */

struct preparing {
    struct hal_prepare_callback base, *client;
    struct service *service;
    struct connection *connection;
};

/* The connection calls it once, also when it fails. */
static void prepared(struct hal_prepare_callback *self, enum hal_status status,
                     struct hal_prepared_model *inner)
{
    struct preparing p = *(struct preparing *) self;
    struct hal_prepared_model *m = NULL;

    free(self);
    if (inner)
        m = model_new(p.service, p.connection, inner);
    if (inner && !m)
        status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    p.client->notify(p.client, status, m);
    unref_in_callback(p.service, p.connection);
}

/* The connection for a preparation, which the caller unrefs; *ret_callback has a reference of its
 * own. NULL: *ret_status, with which the client's callback has been called. */
static struct connection *begin(struct service *s, struct hal_prepare_callback *client,
                                struct hal_prepare_callback **ret_callback,
                                enum hal_status *ret_status)
{
    struct preparing *p = malloc(sizeof(*p));
    struct connection *c = p ? connect_to(s) : NULL;

    if (!c) {
        *ret_status =
            hal_fail_preparation(client, p ? HAL_DEVICE_UNAVAILABLE : HAL_GENERAL_FAILURE);
        free(p);
        return NULL;
    }
    connection_ref(s, c);
    *p = (struct preparing){ { prepared }, client, s, c };
    *ret_callback = &p->base;
    return c;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct service *s = (struct service *) self;
    struct hal_prepare_callback *own;
    enum hal_status status;
    struct connection *c = begin(s, callback, &own, &status);

    if (!c)
        return status;
    status = c->driver->prepare_model(c->driver, version, model, config, own);
    connection_unref(s, c);
    return status;
}

static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    struct service *s = (struct service *) self;
    struct hal_prepare_callback *own;
    enum hal_status status;
    struct connection *c = begin(s, callback, &own, &status);

    if (!c)
        return status;
    status = c->driver->prepare_model_from_cache(c->driver, version, config, own);
    connection_unref(s, c);
    return status;
}

/* Asked again where the service ends meanwhile and has been started again. */
static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct service *s = (struct service *) self;
    enum hal_status status = HAL_DEVICE_UNAVAILABLE;
    bool has_died = true;

    for (int i = 0; i < 2 && has_died; i++) {
        struct connection *c = connect_to(s);
        if (!c)
            return HAL_DEVICE_UNAVAILABLE;
        status = c->driver->get_supported_operations(c->driver, version, model, supported, ret_n);
        has_died = status == HAL_DEVICE_UNAVAILABLE && target_is_dead(c->target, NULL);
        connection_unref(s, c);
    }
    return status;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    struct service *s = (struct service *) self;
    struct connection *c = connect_to(s);

    if (!c)
        return HAL_DEVICE_OFFLINE;
    enum hal_device_status status = c->driver->get_status(c->driver);
    if (target_is_dead(c->target, NULL))
        status = HAL_DEVICE_OFFLINE;
    connection_unref(s, c);
    return status;
}

/* ---- buffers */

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct hal_buffer *b = ((struct service_buffer *) self)->inner;

    return b->methods->copy_to(b, to);
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct hal_buffer *b = ((struct service_buffer *) self)->inner;

    return b->methods->copy_from(b, from, n_dims, dims);
}

static void release_buffer(struct hal_buffer *self)
{
    struct service_buffer *b = (struct service_buffer *) self;

    b->inner->methods->release(b->inner);
    connection_unref(b->service, b->connection);
    free(b);
}

/* The connection that has made all the models; NULL: several have. */
static struct connection *connection_of(uint32_t n, struct hal_prepared_model *const *models,
                                        struct hal_prepared_model **ret_inner)
{
    struct connection *c = n ? ((struct service_model *) models[0])->connection : NULL;

    for (uint32_t i = 0; i < n; i++) {
        struct service_model *m = (struct service_model *) models[i];
        c = m->connection == c ? c : NULL;
        ret_inner[i] = m->inner;
    }
    return c;
}

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_inputs, const struct hal_buffer_role *inputs,
                                uint32_t n_outputs, const struct hal_buffer_role *outputs,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    static const struct hal_buffer_methods methods = { copy_to, copy_from, release_buffer };
    struct hal_prepared_model **inner = calloc(n_models + 1, sizeof(*inner));
    struct service_buffer *b = malloc(sizeof(*b));
    struct connection *c = inner ? connection_of(n_models, models, inner) : NULL;
    enum hal_status status = HAL_GENERAL_FAILURE;
    struct hal_buffer *buffer = NULL;

    if (b && c)
        status = c->driver->allocate(c->driver, desc, n_models, inner, n_inputs, inputs, n_outputs,
                                     outputs, &buffer, ret_token);
    free((void *) inner);
    if (status != HAL_NONE || !buffer) {
        free(b);
        return status;
    }
    *b = (struct service_buffer){ { &methods }, (struct service *) self, c, buffer };
    connection_ref(b->service, c);
    *ret_buffer = &b->base;
    return status;
}

/* ---- the driver: constant properties are those of the first connection */

static struct hal_driver *first_of(struct hal_driver *self)
{
    return ((struct service *) self)->first.driver;
}

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret)
{
    return first_of(self)->get_capabilities(first_of(self), version, ret);
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    return first_of(self)->get_type(first_of(self), ret_type);
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    return first_of(self)->get_version_string(first_of(self), ret_version);
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret)
{
    return first_of(self)->get_supported_extensions(first_of(self), ret_n, ret);
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    return first_of(self)->get_number_of_cache_files_needed(first_of(self), ret_n_model,
                                                            ret_n_data);
}

/* The text is one of the calling thread, whatever the connection. */
static void get_failure_text(struct hal_driver *self, char *ret_text, size_t size)
{
    first_of(self)->get_failure_text(first_of(self), ret_text, size);
}

static void close_service(struct hal_driver *self)
{
    struct service *s = (struct service *) self;

    connection_unref(s, s->current); /* and those that callbacks have left */
    pthread_mutex_destroy(&s->lock);
    free(s);
}

struct hal_driver *service_driver_new(struct target *t, const struct target_info *info)
{
    struct hal_driver *d = (struct hal_driver *) (uintptr_t) target_driver(t);
    struct service *s = malloc(sizeof(*s));

    if (!s)
        return NULL;
    *s = (struct service){ .info = info,
                           .uri = target_uri(t),
                           .first = { .target = t, .driver = d, .references = 1 } };
    s->base = (struct hal_driver){
        .abi_version = d->abi_version,
        .hal_version = d->hal_version,
        .lowest_version = d->lowest_version,
        .name = d->name,
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
        .allocate = allocate,
        .close = close_service,
    };
    s->current = &s->first;
    pthread_mutex_init(&s->lock, NULL);
    return &s->base;
}
