/* What a session answers to each method. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/session.h"

/* A call being answered. */
struct answer {
    struct channel *c;
    struct session *s;
    struct hal_driver *d;
    const Wire__Call *call;
    struct wire_fds *fds; /* the client's */
    Wire__Reply *reply;
    struct wire_fds *out;
    struct arena *a;
    struct why *w;
};

typedef int answer_fn(struct answer *q);

static int no_memory(const struct answer *q)
{
    return why_fail(q->w, WHY_MEMORY, "out of memory");
}

static int status(const struct answer *q, enum hal_status s)
{
    q->reply->status = (int32_t) s;
    return 0;
}

/* ---- parts of replies */

static Wire__Shape *reply_shape(struct arena *a, const struct hal_output_shape *s)
{
    Wire__Shape *m = arena_alloc(a, 1, sizeof(*m));

    if (!m)
        return NULL;
    wire__shape__init(m);
    m->n_dims = s->n_dims < HAL_MAX_RANK ? s->n_dims : HAL_MAX_RANK;
    m->dims = arena_copy(a, s->dims, m->n_dims * sizeof(*s->dims));
    m->is_sufficient = s->is_sufficient;
    return m->dims ? m : NULL;
}

int reply_shapes(struct arena *a, uint32_t n, const struct hal_output_shape *shapes, size_t *ret_n,
                 Wire__Shape ***ret_shapes)
{
    Wire__Shape **m = arena_alloc(a, n, sizeof(*m));

    for (uint32_t i = 0; m && i < n; i++)
        if (!(m[i] = reply_shape(a, &shapes[i])))
            return -1;
    if (!m)
        return -1;
    *ret_n = n;
    *ret_shapes = m;
    return 0;
}

Wire__Timing *reply_timing(struct arena *a, const struct hal_timing *t)
{
    Wire__Timing *m = arena_alloc(a, 1, sizeof(*m));

    if (m) {
        wire__timing__init(m);
        m->on_device = t->on_device;
        m->in_driver = t->in_driver;
    }
    return m;
}

static Wire__Performance *reply_performance(struct arena *a, int32_t type,
                                            const struct hal_performance *p)
{
    Wire__Performance *m = arena_alloc(a, 1, sizeof(*m));

    if (m) {
        wire__performance__init(m);
        m->type = type;
        m->exec_time = p->exec_time;
        m->power_usage = p->power_usage;
    }
    return m;
}

/* ---- channels */

static int take_fd(struct answer *q, int *ret_fd)
{
    int fd = wire_fd(q->fds, q->call->fd);

    REQUIRE(q->w, fd >= 0, "method %d without its descriptor", (int) q->call->method);
    q->fds->fd[q->call->fd - 1] = -1;
    *ret_fd = fd;
    return 0;
}

static int open_channel(struct answer *q)
{
    int fd;

    TRY(take_fd(q, &fd));
    return channel_start(q->s, fd, q->w);
}

static int open_events(struct answer *q)
{
    int fd;

    TRY(take_fd(q, &fd));
    pthread_mutex_lock(&q->s->lock);
    bool first = q->s->events < 0 && fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
    if (first)
        q->s->events = fd;
    pthread_mutex_unlock(&q->s->lock);
    if (!first)
        close(fd);
    REQUIRE(q->w, first, "a second channel of events");
    return 0;
}

/* The memory must not shrink under the service. */
static int set_staging(struct answer *q)
{
    struct wire_staging *s = &q->c->staging;
    int fd = wire_fd(q->fds, q->call->fd);
    uint64_t size = q->call->size;
    struct stat st;

    REQUIRE(q->w, fd >= 0 && size && size <= SIZE_MAX / 2, "staging memory of no size");
    REQUIRE(q->w, fstat(fd, &st) == 0 && st.st_size >= 0 && (uint64_t) st.st_size >= size,
            "staging memory smaller than it says");
    REQUIRE(q->w, fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK, "staging memory that may shrink");
    void *address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    REQUIRE(q->w, address != MAP_FAILED, "staging memory that cannot be mapped");
    if (s->address)
        munmap(s->address, s->size);
    *s = (struct wire_staging){ address, size };
    return 0;
}

/* ---- the driver */

static int put_extensions(const struct answer *q, Wire__Info *m)
{
    const struct hal_extension *e = NULL;
    uint32_t n = 0;

    m->extensions_status = q->d->get_supported_extensions
                               ? (int32_t) q->d->get_supported_extensions(q->d, &n, &e)
                               : HAL_NONE;
    if (m->extensions_status != HAL_NONE)
        return 0;
    m->extensions = arena_alloc(q->a, n, sizeof(*m->extensions));
    for (; m->extensions && m->n_extensions < n; m->n_extensions++) {
        const struct hal_extension *x = &e[m->n_extensions];
        Wire__Extension *to = arena_alloc(q->a, 1, sizeof(*to));
        if (!to)
            return no_memory(q);
        wire__extension__init(to);
        to->name = (char *) (uintptr_t) x->name;
        to->types = arena_alloc(q->a, x->n_types, sizeof(*to->types));
        for (; to->types && to->n_types < x->n_types; to->n_types++) {
            Wire__ExtensionType *t = arena_alloc(q->a, 1, sizeof(*t));
            if (!t)
                return no_memory(q);
            wire__extension_type__init(t);
            t->type = x->type[to->n_types].type;
            t->is_tensor = x->type[to->n_types].is_tensor;
            t->byte_size = x->type[to->n_types].byte_size;
            to->types[to->n_types] = t;
        }
        m->extensions[m->n_extensions] = to;
    }
    return m->extensions ? 0 : no_memory(q);
}

static int get_info(struct answer *q)
{
    Wire__Info *m = arena_alloc(q->a, 1, sizeof(*m));
    enum hal_device_type type = HAL_DEVICE_OTHER;
    const char *version = "";

    if (!m)
        return no_memory(q);
    wire__info__init(m);
    m->abi_version = q->d->abi_version;
    m->hal_version = (int32_t) q->d->hal_version;
    m->name = (char *) (uintptr_t) q->d->name;
    m->type_status = (int32_t) q->d->get_type(q->d, &type);
    m->type = (int32_t) type;
    m->version_status = (int32_t) q->d->get_version_string(q->d, &version);
    m->version = (char *) (uintptr_t) version;
    m->cache_status = q->d->get_number_of_cache_files_needed
                          ? (int32_t) q->d->get_number_of_cache_files_needed(
                                q->d, &m->n_model_cache, &m->n_data_cache)
                          : HAL_NONE;
    q->reply->info = m;
    return put_extensions(q, m);
}

static int get_status(struct answer *q)
{
    q->reply->device_status = (int32_t) q->d->get_status(q->d);
    return 0;
}

static int get_capabilities(struct answer *q)
{
    struct hal_capabilities h;
    Wire__Capabilities *m = arena_alloc(q->a, 1, sizeof(*m));
    enum hal_status s = q->d->get_capabilities(q->d, (enum hal_version) q->call->version, &h);

    if (!m)
        return no_memory(q);
    if (s != HAL_NONE)
        return status(q, s);
    wire__capabilities__init(m);
    m->relaxed_scalar = reply_performance(q->a, 0, &h.relaxed_scalar);
    m->relaxed_tensor = reply_performance(q->a, 0, &h.relaxed_tensor);
    m->if_performance = reply_performance(q->a, 0, &h.if_performance);
    m->while_performance = reply_performance(q->a, 0, &h.while_performance);
    m->operands = arena_alloc(q->a, h.n_operands, sizeof(*m->operands));
    if (!m->operands)
        return no_memory(q);
    for (; m->n_operands < h.n_operands; m->n_operands++) {
        const struct hal_operand_performance *p = &h.operand[m->n_operands];
        m->operands[m->n_operands] = reply_performance(q->a, p->type, &p->info);
        if (!m->operands[m->n_operands])
            return no_memory(q);
    }
    q->reply->capabilities = m;
    return 0;
}

static int take_model(struct answer *q, struct hal_model *ret_model)
{
    REQUIRE(q->w, q->call->model, "method %d without a model", (int) q->call->method);
    return wire_take_model(q->call->model, q->fds, q->a, ret_model, q->w);
}

static int get_supported_operations(struct answer *q)
{
    struct hal_model model;
    uint32_t n = 0;

    TRY(take_model(q, &model));
    bool *supported = arena_alloc(q->a, model.main.n_operations, sizeof(*supported));
    protobuf_c_boolean *answers = arena_alloc(q->a, model.main.n_operations, sizeof(*answers));
    if (!supported || !answers)
        return no_memory(q);
    enum hal_status s = q->d->get_supported_operations(q->d, (enum hal_version) q->call->version,
                                                       &model, supported, &n);
    if (s != HAL_NONE)
        return status(q, s);
    /* How many the driver says is passed on, as far as there is room for answers. */
    n = n < model.main.n_operations ? n : model.main.n_operations;
    for (uint32_t i = 0; i < n; i++)
        answers[i] = supported[i];
    q->reply->supported = answers;
    q->reply->n_supported = n;
    return 0;
}

static int take_hints(const struct answer *q, size_t n, Wire__TokenValue *const *m,
                      const struct hal_token_value **ret_hints)
{
    struct hal_token_value *h = arena_alloc(q->a, n, sizeof(*h));

    if (!h)
        return no_memory(q);
    for (size_t i = 0; i < n; i++)
        h[i] = (struct hal_token_value){ m[i]->token, m[i]->value.data, m[i]->value.len };
    *ret_hints = h;
    return 0;
}

static int take_cache(const struct answer *q, const Wire__PrepareConfig *m, struct hal_cache *h)
{
    int *files[2];
    const size_t n[] = { m->n_model_cache, m->n_data_cache };
    const uint32_t *names[] = { m->model_cache, m->data_cache };

    for (int k = 0; k < 2; k++) {
        REQUIRE(q->w, n[k] <= WIRE_MAX_FDS, "%zu cache files", n[k]);
        files[k] = arena_alloc(q->a, n[k], sizeof(int));
        if (!files[k])
            return no_memory(q);
        for (size_t i = 0; i < n[k]; i++)
            files[k][i] = wire_fd(q->fds, names[k][i]);
    }
    *h = (struct hal_cache){ (uint32_t) n[0], (uint32_t) n[1], files[0], files[1], { 0 } };
    REQUIRE(q->w, !m->token.len || m->token.len == HAL_TOKEN_BYTES, "a token of %zu bytes",
            m->token.len);
    if (m->token.len)
        memcpy(h->token, m->token.data, HAL_TOKEN_BYTES);
    return 0;
}

static int take_prepare_config(const struct answer *q, struct hal_prepare_config *h)
{
    const Wire__PrepareConfig *m = q->call->prepare;

    REQUIRE(q->w, m, "method %d without its configuration", (int) q->call->method);
    *h = (struct hal_prepare_config){ .preference = (enum hal_preference) m->preference,
                                      .priority = (enum hal_priority) m->priority,
                                      .deadline = m->deadline,
                                      .n_hints = (uint32_t) m->n_hints };
    TRY(take_hints(q, m->n_hints, m->hints, &h->hints));
    return take_cache(q, m, &h->cache);
}

static int prepare_model(struct answer *q)
{
    struct hal_prepare_callback *callback;
    struct hal_prepare_config config;
    struct hal_model model;

    TRY(take_model(q, &model));
    TRY(take_prepare_config(q, &config));
    callback = session_prepare_callback(q->s, q->call->callback);
    if (!callback)
        return no_memory(q);
    return status(q, q->d->prepare_model(q->d, (enum hal_version) q->call->version, &model, &config,
                                         callback));
}

static int prepare_model_from_cache(struct answer *q)
{
    struct hal_prepare_callback *callback;
    struct hal_prepare_config config;

    TRY(take_prepare_config(q, &config));
    callback = session_prepare_callback(q->s, q->call->callback);
    if (!callback)
        return no_memory(q);
    if (!q->d->prepare_model_from_cache) {
        callback->notify(callback, HAL_GENERAL_FAILURE, NULL);
        return status(q, HAL_GENERAL_FAILURE);
    }
    return status(q, q->d->prepare_model_from_cache(q->d, (enum hal_version) q->call->version,
                                                    &config, callback));
}

/* ---- prepared models */

/* staging: only where the call lasts as long as the execution does, for the client may change it.
 */
static int take_request(struct answer *q, const struct wire_staging *staging,
                        struct hal_request *ret_request, struct hal_execution_config *ret_config)
{
    const Wire__ExecutionConfig *m = q->call->execution;

    REQUIRE(q->w, q->call->request && m, "method %d without a request", (int) q->call->method);
    *ret_config = (struct hal_execution_config){ .measure = m->measure,
                                                 .deadline = m->deadline,
                                                 .loop_timeout = m->loop_timeout,
                                                 .n_hints = (uint32_t) m->n_hints };
    TRY(take_hints(q, m->n_hints, m->hints, &ret_config->hints));
    return wire_take_request(q->call->request, q->fds, staging, q->a, ret_request, q->w);
}

/* Room for the shapes of as many outputs as the model can have. */
static int make_room(const struct answer *q, uint32_t n, struct hal_result *ret_result)
{
    struct hal_output_shape *shapes = arena_alloc(q->a, n, sizeof(*shapes));

    if (!shapes)
        return no_memory(q);
    *ret_result = (struct hal_result){ .shapes = shapes,
                                       .capacity = n,
                                       .timing = { HAL_NO_TIME, HAL_NO_TIME } };
    return 0;
}

static int put_result(struct answer *q, enum hal_status s, const struct hal_result *r)
{
    uint32_t n = r->n_shapes < r->capacity ? r->n_shapes : r->capacity;

    q->reply->timing = reply_timing(q->a, &r->timing);
    if (!q->reply->timing ||
        reply_shapes(q->a, n, r->shapes, &q->reply->n_shapes, &q->reply->shapes) < 0)
        return no_memory(q);
    return status(q, s);
}

/* Runs f with what the call names; a handle that is none is the client's mistake, which a driver
 * would have answered so. */
static int with_object(struct answer *q, enum object_kind kind,
                       int (*f)(struct answer *q, struct object *o))
{
    struct object *o = object_pin(q->s, q->call->object, kind);

    if (!o)
        return status(q, HAL_INVALID_ARGUMENT);
    int rc = f(q, o);
    object_unpin(q->s, o);
    return rc;
}

static int execute_synchronously_on(struct answer *q, struct object *o)
{
    struct hal_prepared_model *p = o->of_driver;
    struct hal_execution_config config;
    struct hal_request request;
    struct hal_result result;

    TRY(take_request(q, &q->c->staging, &request, &config));
    TRY(make_room(q, request.n_outputs, &result));
    return put_result(q,
                      p->methods->execute_synchronously(p, (enum hal_version) q->call->version,
                                                        &request, &config, &result),
                      &result);
}

static int execute_synchronously(struct answer *q)
{
    return with_object(q, OBJECT_PREPARED, execute_synchronously_on);
}

static int execute_on(struct answer *q, struct object *o)
{
    struct hal_prepared_model *p = o->of_driver;
    struct hal_execution_callback *callback;
    struct hal_execution_config config;
    struct hal_request request;

    TRY(take_request(q, NULL, &request, &config));
    callback = session_execution_callback(q->s, q->call->callback);
    if (!callback)
        return no_memory(q);
    if (!p->methods->execute) {
        callback->notify(callback, HAL_GENERAL_FAILURE, 0, NULL,
                         (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME });
        return status(q, HAL_GENERAL_FAILURE);
    }
    return status(q, p->methods->execute(p, (enum hal_version) q->call->version, &request, &config,
                                         callback));
}

static int execute(struct answer *q)
{
    return with_object(q, OBJECT_PREPARED, execute_on);
}

static int take_fences(const struct answer *q, const int **ret_fences)
{
    int *fences = arena_alloc(q->a, q->call->n_wait_for, sizeof(*fences));

    if (!fences)
        return no_memory(q);
    for (size_t i = 0; i < q->call->n_wait_for; i++)
        fences[i] = wire_fd(q->fds, q->call->wait_for[i]);
    *ret_fences = fences;
    return 0;
}

/* The fence goes to the client, which asks the other object later. */
static int put_fenced(struct answer *q, enum hal_status s, int fence, struct hal_fenced_info *info)
{
    if (s != HAL_NONE)
        return status(q, s);
    q->reply->fd = fence == HAL_NO_FENCE ? 0 : wire_put_fd(q->out, fence);
    q->reply->info_object = info ? object_add(q->s, OBJECT_INFO, info, NULL) : 0;
    if (info && !q->reply->info_object) {
        info->methods->release(info);
        return no_memory(q);
    }
    return 0;
}

static int execute_fenced_on(struct answer *q, struct object *o)
{
    struct hal_prepared_model *p = o->of_driver;
    struct hal_fenced_info *info = NULL;
    struct hal_execution_config config;
    struct hal_request request;
    const int *fences;
    int fence = HAL_NO_FENCE;

    TRY(take_request(q, NULL, &request, &config));
    TRY(take_fences(q, &fences));
    if (!p->methods->execute_fenced)
        return status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->execute_fenced(p, (enum hal_version) q->call->version, &request,
                                                   (uint32_t) q->call->n_wait_for, fences, &config,
                                                   q->call->duration, &fence, &info);
    return put_fenced(q, s, fence, info);
}

static int execute_fenced(struct answer *q)
{
    return with_object(q, OBJECT_PREPARED, execute_fenced_on);
}

static int put_object(struct answer *q, enum hal_status s, enum object_kind kind, void *of_driver,
                      struct object *parent)
{
    if (s != HAL_NONE)
        return status(q, s);
    q->reply->object = object_add(q->s, kind, of_driver, parent);
    if (q->reply->object)
        return 0;
    return no_memory(q);
}

static int configure_burst_on(struct answer *q, struct object *o)
{
    struct hal_prepared_model *p = o->of_driver;
    struct hal_burst *burst = NULL;

    if (!p->methods->configure_burst)
        return status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->configure_burst(p, (enum hal_version) q->call->version, &burst);
    return put_object(q, s, OBJECT_BURST, burst, o);
}

static int configure_burst(struct answer *q)
{
    return with_object(q, OBJECT_PREPARED, configure_burst_on);
}

static int create_reusable_on(struct answer *q, struct object *o)
{
    struct hal_prepared_model *p = o->of_driver;
    struct hal_execution_config config;
    struct hal_execution *execution = NULL;
    struct hal_request request;

    TRY(take_request(q, NULL, &request, &config));
    if (!p->methods->create_reusable_execution)
        return status(q, HAL_GENERAL_FAILURE);
    enum hal_status s = p->methods->create_reusable_execution(p, &request, &config, &execution);
    return put_object(q, s, OBJECT_EXECUTION, execution, o);
}

static int create_reusable_execution(struct answer *q)
{
    return with_object(q, OBJECT_PREPARED, create_reusable_on);
}

static int release(struct answer *q)
{
    return status(q, object_release(q->s, q->call->object) ? HAL_NONE : HAL_INVALID_ARGUMENT);
}

/* ---- bursts and reusable executions */

static int burst_execute_on(struct answer *q, struct object *o)
{
    struct hal_burst *b = o->of_driver;
    struct hal_execution_config config;
    struct hal_request request;
    struct hal_result result;

    TRY(take_request(q, &q->c->staging, &request, &config));
    TRY(make_room(q, request.n_outputs, &result));
    return put_result(q,
                      b->methods->execute_synchronously(b, &request,
                                                        (uint32_t) q->call->n_identifiers,
                                                        q->call->identifiers, &config, &result),
                      &result);
}

static int burst_execute(struct answer *q)
{
    return with_object(q, OBJECT_BURST, burst_execute_on);
}

static int burst_release_on(struct answer *q, struct object *o)
{
    struct hal_burst *b = o->of_driver;

    return status(q, b->methods->release_memory(b, q->call->identifier));
}

static int burst_release_memory(struct answer *q)
{
    return with_object(q, OBJECT_BURST, burst_release_on);
}

enum { MOST_OUTPUTS = 1 << 16 };

static int reusable_execute_on(struct answer *q, struct object *o)
{
    struct hal_execution *x = o->of_driver;
    struct hal_result result;

    REQUIRE(q->w, q->call->size <= MOST_OUTPUTS, "room for %llu shapes",
            (unsigned long long) q->call->size);
    TRY(make_room(q, (uint32_t) q->call->size, &result));
    return put_result(q, x->methods->execute_synchronously(x, q->call->duration, &result), &result);
}

static int reusable_execute(struct answer *q)
{
    return with_object(q, OBJECT_EXECUTION, reusable_execute_on);
}

static int reusable_fenced_on(struct answer *q, struct object *o)
{
    struct hal_execution *x = o->of_driver;
    struct hal_fenced_info *info = NULL;
    const int *fences;
    int fence = HAL_NO_FENCE;

    REQUIRE(q->w, q->call->execution, "no deadline");
    TRY(take_fences(q, &fences));
    enum hal_status s =
        x->methods->execute_fenced(x, (uint32_t) q->call->n_wait_for, fences,
                                   q->call->execution->deadline, q->call->duration, &fence, &info);
    return put_fenced(q, s, fence, info);
}

static int reusable_execute_fenced(struct answer *q)
{
    return with_object(q, OBJECT_EXECUTION, reusable_fenced_on);
}

static int execution_info_on(struct answer *q, struct object *o)
{
    struct hal_fenced_info *i = o->of_driver;
    struct hal_timing launched = { HAL_NO_TIME, HAL_NO_TIME }, fenced = launched;
    enum hal_status s = i->methods->get_execution_info(i, &launched, &fenced);

    q->reply->timing = reply_timing(q->a, &launched);
    q->reply->fenced = reply_timing(q->a, &fenced);
    return q->reply->timing && q->reply->fenced ? status(q, s) : no_memory(q);
}

static int get_execution_info(struct answer *q)
{
    return with_object(q, OBJECT_INFO, execution_info_on);
}

/* ---- buffers */

static const struct hal_buffer_role *take_roles(const struct answer *q, size_t n,
                                                Wire__Role *const *m)
{
    struct hal_buffer_role *r = arena_alloc(q->a, n, sizeof(*r));

    for (size_t i = 0; r && i < n; i++)
        r[i] = (struct hal_buffer_role){ m[i]->model_index, m[i]->io_index, m[i]->probability };
    return r;
}

static int allocate_for(struct answer *q, struct hal_prepared_model *const *models)
{
    const Wire__Call *m = q->call;
    const struct hal_buffer_desc desc = { (uint32_t) m->n_dims, m->dims };
    const struct hal_buffer_role *in = take_roles(q, m->n_input_roles, m->input_roles);
    const struct hal_buffer_role *out = take_roles(q, m->n_output_roles, m->output_roles);
    struct hal_buffer *buffer = NULL;

    if (!in || !out)
        return no_memory(q);
    if (!q->d->allocate)
        return status(q, HAL_GENERAL_FAILURE);
    enum hal_status s =
        q->d->allocate(q->d, &desc, (uint32_t) m->n_models, models, (uint32_t) m->n_input_roles, in,
                       (uint32_t) m->n_output_roles, out, &buffer, &q->reply->token);
    return put_object(q, s, OBJECT_BUFFER, buffer, NULL);
}

/* Handles that are none stand for NULL, which the driver refuses. */
static int allocate(struct answer *q)
{
    size_t n = q->call->n_models;
    struct object **pinned = arena_alloc(q->a, n, sizeof(*pinned));
    struct hal_prepared_model **models = arena_alloc(q->a, n, sizeof(*models));

    if (!pinned || !models)
        return no_memory(q);
    for (size_t i = 0; i < n; i++) {
        pinned[i] = object_pin(q->s, q->call->models[i], OBJECT_PREPARED);
        models[i] = pinned[i] ? pinned[i]->of_driver : NULL;
    }
    int rc = allocate_for(q, models);
    for (size_t i = 0; i < n; i++)
        object_unpin(q->s, pinned[i]);
    return rc;
}

static int copy_on(struct answer *q, struct object *o)
{
    struct hal_buffer *b = o->of_driver;
    struct hal_memory memory;

    REQUIRE(q->w, q->call->memory, "method %d without memory", (int) q->call->method);
    TRY(wire_take_memory(q->call->memory, q->fds, &q->c->staging, &memory, q->w));
    return status(
        q, q->call->method == WIRE__METHOD__COPY_TO
               ? b->methods->copy_to(b, &memory)
               : b->methods->copy_from(b, &memory, (uint32_t) q->call->n_dims, q->call->dims));
}

static int copy(struct answer *q)
{
    return with_object(q, OBJECT_BUFFER, copy_on);
}

/* ---- */

static answer_fn *const answers[] = {
    [WIRE__METHOD__OPEN_CHANNEL] = open_channel,
    [WIRE__METHOD__OPEN_EVENTS] = open_events,
    [WIRE__METHOD__SET_STAGING] = set_staging,
    [WIRE__METHOD__GET_INFO] = get_info,
    [WIRE__METHOD__GET_STATUS] = get_status,
    [WIRE__METHOD__GET_CAPABILITIES] = get_capabilities,
    [WIRE__METHOD__GET_SUPPORTED_OPERATIONS] = get_supported_operations,
    [WIRE__METHOD__PREPARE_MODEL] = prepare_model,
    [WIRE__METHOD__PREPARE_MODEL_FROM_CACHE] = prepare_model_from_cache,
    [WIRE__METHOD__ALLOCATE] = allocate,
    [WIRE__METHOD__EXECUTE_SYNCHRONOUSLY] = execute_synchronously,
    [WIRE__METHOD__EXECUTE] = execute,
    [WIRE__METHOD__EXECUTE_FENCED] = execute_fenced,
    [WIRE__METHOD__CONFIGURE_BURST] = configure_burst,
    [WIRE__METHOD__CREATE_REUSABLE_EXECUTION] = create_reusable_execution,
    [WIRE__METHOD__RELEASE] = release,
    [WIRE__METHOD__BURST_EXECUTE] = burst_execute,
    [WIRE__METHOD__BURST_RELEASE_MEMORY] = burst_release_memory,
    [WIRE__METHOD__REUSABLE_EXECUTE] = reusable_execute,
    [WIRE__METHOD__REUSABLE_EXECUTE_FENCED] = reusable_execute_fenced,
    [WIRE__METHOD__GET_EXECUTION_INFO] = get_execution_info,
    [WIRE__METHOD__COPY_TO] = copy,
    [WIRE__METHOD__COPY_FROM] = copy,
};

int session_answer(struct channel *c, const Wire__Call *call, struct wire_fds *fds,
                   Wire__Reply *reply, struct wire_fds *ret_fds, struct why *w)
{
    struct answer q = { c, c->session, c->session->driver, call, fds, reply, ret_fds, c->arena, w };
    unsigned method = (unsigned) call->method;

    REQUIRE(w, method < sizeof(answers) / sizeof(*answers) && answers[method], "unknown method %u",
            method);
    if (answers[method](&q) == 0)
        return 0;
    /* Memory is the service's affair; everything else that a message gets wrong ends the channel.
     */
    if (w->code != WHY_MEMORY)
        return -1;
    *reply = (Wire__Reply) WIRE__REPLY__INIT;
    reply->status = HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    return 0;
}
