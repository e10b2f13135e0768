/* The driver of hostile.h: wraps that of `halcyon new-driver`, which runs ADD on HAL 1.2, adds the
 * methods of later versions, and does the action at the end of the chosen method. */
#define _GNU_SOURCE
#include "tests/harness/hostile/hostile_methods.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

hal_driver_open_fn skeleton_open; /* harness/skeleton/, renamed */

/* ---- objects */

static struct hal_driver *inner;
static enum hal_version own_version = HAL_FL8;

enum { MAX_ARGUMENTS = 8 };

struct model {
    struct hal_prepared_model base;
    struct hal_prepared_model *inner;
    uint64_t in_bytes[MAX_ARGUMENTS], out_bytes[MAX_ARGUMENTS]; /* 0: unknown */
};

struct buffer {
    struct hal_buffer base;
    uint32_t token;
    uint64_t bytes;
    bool is_written;
    uint8_t *data;
    struct buffer *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer *buffers;

struct burst {
    struct hal_burst base;
    struct model *model;
};

struct info {
    struct hal_fenced_info base;
};

/* The request with tokens of buffers resolved; its arrays are its own. */
struct request {
    struct hal_request hal;
    struct hal_argument arguments[2 * MAX_ARGUMENTS];
    uint32_t dims[2 * MAX_ARGUMENTS][HAL_MAX_RANK];
    struct hal_request_pool pools[2 * MAX_ARGUMENTS];
};

struct execution {
    struct hal_execution base;
    struct model *model;
    struct request request;
};

static struct buffer *find_buffer(uint32_t token)
{
    pthread_mutex_lock(&lock);
    struct buffer *b = buffers;
    while (b && b->token != token)
        b = b->next;
    pthread_mutex_unlock(&lock);
    return b;
}

static bool copy_arguments(struct request *to, uint32_t first, const struct hal_argument *a,
                           uint32_t n, const uint64_t *bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        struct hal_argument *own = &to->arguments[first + i];
        *own = a[i];
        if (a[i].n_dims > HAL_MAX_RANK ||
            (!a[i].has_no_value && a[i].location.pool >= to->hal.n_pools))
            return false;
        if (a[i].n_dims)
            memcpy(to->dims[first + i], a[i].dims, a[i].n_dims * sizeof(uint32_t));
        own->dims = to->dims[first + i];
        if (!a[i].has_no_value && to->pools[a[i].location.pool].is_token)
            own->location.length = bytes[i];
    }
    return true;
}

/* Copies a request.  False: it is one that the inner driver rejects, too. */
static bool copy_request(struct request *to, const struct model *m, const struct hal_request *q)
{
    to->hal = *q;
    if (q->n_inputs > MAX_ARGUMENTS || q->n_outputs > MAX_ARGUMENTS ||
        q->n_pools > COUNT(to->pools) || (q->n_inputs && !q->inputs) ||
        (q->n_outputs && !q->outputs) || (q->n_pools && !q->pools))
        return false;
    for (uint32_t i = 0; i < q->n_pools; i++)
        to->pools[i] = q->pools[i];
    if (!copy_arguments(to, 0, q->inputs, q->n_inputs, m->in_bytes) ||
        !copy_arguments(to, MAX_ARGUMENTS, q->outputs, q->n_outputs, m->out_bytes))
        return false;
    to->hal.inputs = to->arguments;
    to->hal.outputs = to->arguments + MAX_ARGUMENTS;
    to->hal.pools = to->pools;
    return true;
}

/* Tokens become addresses. */
static bool resolve_buffers(struct request *r)
{
    for (uint32_t i = 0; i < r->hal.n_pools; i++) {
        struct buffer *b = r->pools[i].is_token ? find_buffer(r->pools[i].token) : NULL;
        if (b)
            r->pools[i].memory = (struct hal_memory){
                HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, b->data, -1, 0, b->bytes
            };
        if (r->pools[i].is_token && !b)
            return false;
        r->pools[i].is_token = false;
    }
    return true;
}

static void mark_written(const struct hal_request *q)
{
    for (uint32_t i = 0; i < q->n_outputs; i++) {
        const struct hal_request_pool *p = &q->pools[q->outputs[i].location.pool];
        struct buffer *b = p->is_token ? find_buffer(p->token) : NULL;
        if (b)
            b->is_written = true;
    }
}

/* The numbers of every kind of execution. */
static enum hal_status compute(struct model *m, enum hal_version version,
                               const struct hal_request *q,
                               const struct hal_execution_config *config, struct hal_result *result)
{
    const struct hal_execution_config plain = { config->measure, HAL_NO_DEADLINE, HAL_NO_TIME, 0,
                                                NULL };
    struct request r;

    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (!copy_request(&r, m, q) || !resolve_buffers(&r))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status =
        m->inner->methods->execute_synchronously(m->inner, version, &r.hal, &plain, result);
    if (status == HAL_NONE)
        mark_written(q);
    return status;
}

/* ---- bursts, reusable executions and fences */

static enum hal_status burst_execute(struct hal_burst *self, const struct hal_request *request,
                                     uint32_t n_identifiers, const int64_t *identifiers,
                                     const struct hal_execution_config *config,
                                     struct hal_result *result)
{
    struct hostile_call c = { .request = request, .result = result };

    (void) identifiers;
    c.status = HAL_INVALID_ARGUMENT;
    if (n_identifiers == request->n_pools)
        c.status = compute(((struct burst *) self)->model, own_version, request, config, result);
    return (enum hal_status) hostile_act(AT_BURST_EXECUTE, &c);
}

static enum hal_status burst_release_memory(struct hal_burst *self, int64_t identifier)
{
    (void) self;
    return hostile_act_status(AT_BURST_RELEASE_MEMORY,
                              identifier < 0 ? HAL_INVALID_ARGUMENT : HAL_NONE);
}

static void release_burst(struct hal_burst *self)
{
    free(self);
    hostile_act_status(AT_RELEASE_BURST, HAL_NONE);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods table = { burst_execute, burst_release_memory,
                                                    release_burst };
    struct burst *b = malloc(sizeof(*b));
    struct hostile_call c = { .status = b ? HAL_NONE : HAL_GENERAL_FAILURE, .object = b };

    (void) version;
    if (b)
        *b = (struct burst){ { &table }, (struct model *) self };
    hostile_act(AT_CONFIGURE_BURST, &c);
    *ret_burst = c.object;
    return (enum hal_status) c.status;
}

static enum hal_status get_execution_info(struct hal_fenced_info *self,
                                          struct hal_timing *ret_launched,
                                          struct hal_timing *ret_fenced)
{
    (void) self;
    *ret_launched = *ret_fenced = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    return hostile_act_value(AT_GET_EXECUTION_INFO, HAL_NONE, ret_fenced, sizeof(*ret_fenced));
}

static void release_info(struct hal_fenced_info *self)
{
    free(self);
    hostile_act_status(AT_RELEASE_INFO, HAL_NONE);
}

/* Whether the shapes of all outputs are known before the execution, as a fenced one requires. */
static bool has_known_outputs(const struct model *m, const struct hal_request *q)
{
    for (uint32_t i = 0; i < q->n_outputs && i < MAX_ARGUMENTS; i++) {
        bool known = q->outputs[i].n_dims > 0;
        for (uint32_t k = 0; k < q->outputs[i].n_dims; k++)
            known = known && q->outputs[i].dims[k] != 0;
        if (!known && !m->out_bytes[i])
            return false;
    }
    return true;
}

/* Executes when all fences have signalled; it has then completed. */
static enum hal_status execute_after(enum at at, struct model *m, enum hal_version version,
                                     const struct hal_request *request, uint32_t n_wait_for,
                                     const int *wait_for, const struct hal_execution_config *config,
                                     int *ret_fence, struct hal_fenced_info **ret_info)
{
    static const struct hal_fenced_info_methods table = { get_execution_info, release_info };
    struct hal_output_shape shapes[MAX_ARGUMENTS];
    struct hal_result result = { .shapes = shapes, .capacity = MAX_ARGUMENTS };
    struct info *info = malloc(sizeof(*info));
    struct hostile_call c = { .request = request,
                              .value = ret_fence,
                              .value_size = sizeof(*ret_fence) };

    for (uint32_t i = 0; i < n_wait_for; i++)
        poll(&(struct pollfd){ wait_for[i], POLLIN, 0 }, 1, -1);
    c.status = HAL_GENERAL_FAILURE;
    if (info)
        c.status = has_known_outputs(m, request) ? compute(m, version, request, config, &result)
                                                 : HAL_INVALID_ARGUMENT;
    if (info)
        *info = (struct info){ { &table } };
    *ret_fence = HAL_NO_FENCE;
    if (c.status == HAL_NONE)
        c.object = info;
    else
        free(info);
    hostile_act(at, &c);
    *ret_info = c.object;
    return (enum hal_status) c.status;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    (void) duration;
    return execute_after(AT_EXECUTE_FENCED, (struct model *) self, version, request, n_wait_for,
                         wait_for, config, ret_fence, ret_info);
}

static const struct hal_execution_config no_config = { .deadline = HAL_NO_DEADLINE,
                                                       .loop_timeout = HAL_NO_TIME };

static enum hal_status reusable_execute(struct hal_execution *self, uint64_t deadline,
                                        struct hal_result *result)
{
    struct execution *e = (struct execution *) self;
    struct hostile_call c = { .request = &e->request.hal, .result = result };

    (void) deadline;
    c.status = compute(e->model, HAL_FL8, &e->request.hal, &no_config, result);
    return (enum hal_status) hostile_act(AT_REUSABLE_EXECUTE, &c);
}

static enum hal_status reusable_execute_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                               const int *wait_for, uint64_t deadline,
                                               uint64_t duration, int *ret_fence,
                                               struct hal_fenced_info **ret_info)
{
    struct execution *e = (struct execution *) self;

    (void) deadline, (void) duration;
    return execute_after(AT_REUSABLE_EXECUTE_FENCED, e->model, HAL_FL8, &e->request.hal, n_wait_for,
                         wait_for, &no_config, ret_fence, ret_info);
}

static void release_execution(struct hal_execution *self)
{
    const struct request *r = &((struct execution *) self)->request;

    for (uint32_t i = 0; i < r->hal.n_pools; i++)
        if (r->pools[i].memory.fd >= 0)
            close(r->pools[i].memory.fd);
    free(self);
    hostile_act_status(AT_RELEASE_EXECUTION, HAL_NONE);
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    static const struct hal_execution_methods table = { reusable_execute, reusable_execute_fenced,
                                                        release_execution };
    struct execution *e = malloc(sizeof(*e));
    struct hostile_call c = { .request = request, .status = HAL_GENERAL_FAILURE };

    (void) config;
    if (e) {
        e->base.methods = &table;
        e->model = (struct model *) self;
        c.status = copy_request(&e->request, e->model, request) ? HAL_NONE : HAL_INVALID_ARGUMENT;
    }
    for (uint32_t i = 0; c.status == HAL_NONE && i < request->n_pools; i++)
        if (e->request.pools[i].memory.fd >= 0)
            e->request.pools[i].memory.fd = dup(request->pools[i].memory.fd);
    if (c.status == HAL_NONE)
        c.object = e;
    else
        free(e);
    hostile_act(AT_CREATE_REUSABLE_EXECUTION, &c);
    *ret_execution = c.object;
    return (enum hal_status) c.status;
}

/* ---- prepared models */

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    struct hostile_call c = { .request = request, .result = result };

    c.status = compute((struct model *) self, version, request, config, result);
    return (enum hal_status) hostile_act(AT_EXECUTE_SYNCHRONOUSLY, &c);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct hal_output_shape shapes[MAX_ARGUMENTS];
    struct hal_result result = { .shapes = shapes, .capacity = MAX_ARGUMENTS };
    struct hostile_call c = { .request = request, .execution = callback };

    (void) version;
    c.status = compute((struct model *) self, HAL_1_2, request, config, &result);
    return hostile_finish(AT_EXECUTE, &c);
}

static void release_model(struct hal_prepared_model *self)
{
    struct model *m = (struct model *) self;

    m->inner->methods->release(m->inner);
    free(m);
    hostile_act_status(AT_RELEASE_MODEL, HAL_NONE);
}

static uint64_t bytes_of(const struct hal_operand *o)
{
    uint64_t bytes = sizeof(float);

    for (uint32_t i = 0; i < o->n_dims; i++)
        bytes *= o->dims[i];
    return o->n_dims ? bytes : 0;
}

static struct model *new_model(const struct hal_subgraph *g, struct hal_prepared_model *prepared)
{
    static const struct hal_prepared_model_methods table = {
        execute_synchronously,     execute,       execute_fenced, configure_burst,
        create_reusable_execution, release_model,
    };
    struct model *m = prepared ? calloc(1, sizeof(*m)) : NULL;

    if (!m)
        return NULL;
    m->base = (struct hal_prepared_model){ &table, g->n_inputs, g->n_outputs };
    m->inner = prepared;
    for (uint32_t i = 0; i < g->n_inputs && i < MAX_ARGUMENTS; i++)
        m->in_bytes[i] = bytes_of(&g->operands[g->inputs[i]]);
    for (uint32_t i = 0; i < g->n_outputs && i < MAX_ARGUMENTS; i++)
        m->out_bytes[i] = bytes_of(&g->operands[g->outputs[i]]);
    return m;
}

/* The inner driver's callback, which it calls before it returns. */
struct inner_callback {
    struct hal_prepare_callback base;
    enum hal_status status;
    struct hal_prepared_model *prepared;
};

static void keep_prepared(struct hal_prepare_callback *self, enum hal_status status,
                          struct hal_prepared_model *prepared)
{
    struct inner_callback *kept = (struct inner_callback *) self;

    kept->status = status;
    kept->prepared = prepared;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    const struct hal_prepare_config plain = { .preference = config->preference,
                                              .priority = HAL_PRIORITY_MEDIUM,
                                              .deadline = HAL_NO_DEADLINE };
    struct inner_callback kept = { .base = { keep_prepared } };
    struct hostile_call c = { .model = model, .prepare = callback };

    (void) self;
    c.status = inner->prepare_model(inner, version, model, &plain, &kept.base);
    if (kept.prepared)
        c.object = new_model(&model->main, kept.prepared);
    if (c.status != HAL_NONE || kept.prepared)
        return hostile_finish(AT_PREPARE_MODEL, &c);
    c.status = kept.status; /* a model that is not supported: launched, its callback fails */
    hostile_finish(AT_PREPARE_MODEL, &c);
    return HAL_NONE;
}

/* There are no cache files. */
static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    struct hostile_call c = { .prepare = callback, .status = HAL_GENERAL_FAILURE };

    (void) self, (void) version, (void) config;
    return hostile_finish(AT_PREPARE_MODEL_FROM_CACHE, &c);
}

/* ---- buffers */

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct buffer *b = (struct buffer *) self;
    enum hal_status status = !b->is_written         ? HAL_GENERAL_FAILURE
                             : to->size != b->bytes ? HAL_INVALID_ARGUMENT
                                                    : HAL_NONE;

    if (status == HAL_NONE && to->kind == HAL_MEMORY_ADDRESS)
        memcpy(to->address, b->data, b->bytes);
    else if (status == HAL_NONE &&
             pwrite(to->fd, b->data, b->bytes, (off_t) to->offset) != (ssize_t) b->bytes)
        status = HAL_GENERAL_FAILURE;
    return hostile_act_status(AT_COPY_TO, status);
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct buffer *b = (struct buffer *) self;
    enum hal_status status = from->size != b->bytes ? HAL_INVALID_ARGUMENT : HAL_NONE;

    (void) n_dims, (void) dims;
    if (status == HAL_NONE && from->kind == HAL_MEMORY_ADDRESS)
        memcpy(b->data, from->address, b->bytes);
    else if (status == HAL_NONE &&
             pread(from->fd, b->data, b->bytes, (off_t) from->offset) != (ssize_t) b->bytes)
        status = HAL_GENERAL_FAILURE;
    b->is_written = status == HAL_NONE;
    return hostile_act_status(AT_COPY_FROM, status);
}

static void release_buffer(struct hal_buffer *self)
{
    struct buffer *b = (struct buffer *) self, **at = &buffers;

    pthread_mutex_lock(&lock);
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    pthread_mutex_unlock(&lock);
    free(b->data);
    free(b);
    hostile_act_status(AT_RELEASE_BUFFER, HAL_NONE);
}

static struct buffer *new_buffer(uint64_t bytes)
{
    static const struct hal_buffer_methods table = { copy_to, copy_from, release_buffer };
    static uint32_t tokens;
    struct buffer *b = bytes ? calloc(1, sizeof(*b)) : NULL;
    uint8_t *data = b ? calloc(1, bytes) : NULL;

    if (!data) {
        free(b);
        return NULL;
    }
    pthread_mutex_lock(&lock);
    *b = (struct buffer){
        .base = { &table }, .token = ++tokens, .bytes = bytes, .data = data, .next = buffers
    };
    buffers = b;
    pthread_mutex_unlock(&lock);
    return b;
}

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    const struct hal_buffer_role *role = n_input_roles ? input_roles : output_roles;
    struct buffer *b = NULL;

    (void) self, (void) desc;
    if (n_input_roles + n_output_roles && role->model_index < n_models &&
        role->io_index < MAX_ARGUMENTS) {
        const struct model *m = (const struct model *) models[role->model_index];
        b = new_buffer((n_input_roles ? m->in_bytes : m->out_bytes)[role->io_index]);
    }
    *ret_token = b ? b->token : 0;
    struct hostile_call c = { .status = b ? HAL_NONE : HAL_INVALID_ARGUMENT,
                              .object = b,
                              .value = ret_token,
                              .value_size = sizeof(*ret_token) };
    hostile_act(AT_ALLOCATE, &c);
    *ret_buffer = c.object;
    return (enum hal_status) c.status;
}

/* ---- the driver */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret)
{
    enum hal_status status = inner->get_capabilities(inner, version, ret);

    (void) self;
    if (status == HAL_NONE && version >= HAL_1_3)
        ret->if_performance = ret->while_performance = ret->relaxed_tensor;
    return hostile_act_value(AT_GET_CAPABILITIES, status, ret, sizeof(*ret));
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    return hostile_act_value(AT_GET_TYPE, inner->get_type(inner, ret_type), ret_type,
                             sizeof(*ret_type));
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    (void) self;
    return hostile_act_value(AT_GET_VERSION_STRING, inner->get_version_string(inner, ret_version),
                             ret_version, sizeof(const char *));
}

static enum hal_status get_supported_extensions(struct hal_driver *self, uint32_t *ret_n,
                                                const struct hal_extension **ret_extension)
{
    (void) self;
    *ret_n = 0;
    *ret_extension = NULL;
    return hostile_act_value(AT_GET_SUPPORTED_EXTENSIONS, HAL_NONE, ret_n, sizeof(*ret_n));
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    (void) self;
    *ret_n_model = *ret_n_data = 0;
    return hostile_act_value(AT_GET_NUMBER_OF_CACHE_FILES_NEEDED, HAL_NONE, ret_n_data,
                             sizeof(*ret_n_data));
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return (enum hal_device_status) hostile_act(
        AT_GET_STATUS, &(struct hostile_call){ .status = HAL_DEVICE_AVAILABLE });
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct hostile_call c = {
        .model = model, .supported = supported, .value = ret_n, .value_size = sizeof(*ret_n)
    };

    (void) self;
    c.status = inner->get_supported_operations(inner, version, model, supported, ret_n);
    return (enum hal_status) hostile_act(AT_GET_SUPPORTED_OPERATIONS, &c);
}

static void close_driver(struct hal_driver *self)
{
    (void) self;
    inner->close(inner);
    inner = NULL;
    hostile_act_status(AT_CLOSE, HAL_NONE);
}

static struct hal_driver driver = {
    .abi_version = HAL_ABI_VERSION,
    .lowest_version = HAL_1_0,
    .name = "hostile",
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_supported_extensions = get_supported_extensions,
    .get_number_of_cache_files_needed = get_number_of_cache_files_needed,
    .get_status = get_status,
    .get_supported_operations = get_supported_operations,
    .prepare_model = prepare_model,
    .prepare_model_from_cache = prepare_model_from_cache,
    .allocate = allocate,
    .close = close_driver,
};

hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    struct hostile_call c = { .object = &driver };

    if (*arguments && !hostile_choose(arguments)) {
        snprintf(why, why_size, "expected ACTION@METHOD[:N][&FOLDER] that fit each other");
        return NULL;
    }
    if (hostile_is_chosen(AT_EXECUTE) || hostile_is_chosen(AT_EXECUTE_CALLBACK))
        own_version = HAL_1_1;
    driver.hal_version = own_version;
    inner = skeleton_open(abi_version, "", why, why_size);
    if (!inner)
        return NULL;
    hostile_act(AT_OPEN, &c);
    return c.object;
}

__attribute__((destructor)) static void destructor(void)
{
    hostile_act_status(AT_DESTRUCTOR, HAL_NONE);
}
