#include "sim/driver/memory_domain.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/base/logging.h"
#include "sim/base/memory.h"
#include "sim/driver/driver.h"

#define LOG_TAG "Memory"

void buffers_init(struct buffers *b, enum hal_version version, struct client_quotas *client_quotas)
{
    *b = (struct buffers){ .version = version, .client_quotas = client_quotas };
    pthread_mutex_init(&b->lock, NULL);
}

void buffers_done(struct buffers *b)
{
    pthread_mutex_destroy(&b->lock);
}

struct device_buffer *buffer_find(struct buffers *b, uint32_t token)
{
    struct device_buffer *found;

    pthread_mutex_lock(&b->lock);
    for (found = b->first; found && found->token != token;)
        found = found->next;
    if (found)
        atomic_fetch_add(&found->references, 1);
    pthread_mutex_unlock(&b->lock);
    return found;
}

void buffer_unref(struct device_buffer *b)
{
    if (atomic_fetch_sub(&b->references, 1) != 1)
        return;
    client_quota_release(b->all->client_quotas, b->client, QUOTA_MEMORY, b->size);
    pthread_mutex_destroy(&b->lock);
    free(b->roles);
    free(b->data);
    free(b);
}

/* ---- contents */

static size_t bytes_of(const struct device_buffer *b, const struct shape *s)
{
    struct tensor t = b->declared;

    t.shape = *s;
    return tensor_bytes(&t);
}

static bool is_complete(const struct device_buffer *b, const struct shape *s)
{
    return !dtype_info[b->declared.dtype].tensor || shape_known(s);
}

/* Grows data to at least `size` bytes; with the buffer locked or not yet published. */
static enum hal_status make_room(struct device_buffer *b, size_t size)
{
    enum hal_status status;
    uint8_t *data;

    if (size <= b->size)
        return HAL_NONE;
    status = client_quota_charge(b->all->client_quotas, b->client, QUOTA_MEMORY, size - b->size);
    if (status != HAL_NONE)
        return status;
    data = realloc(b->data, size);
    if (!data) {
        client_quota_release(b->all->client_quotas, b->client, QUOTA_MEMORY, size - b->size);
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    }
    b->data = data;
    b->size = size;
    return HAL_NONE;
}

int buffer_read(struct device_buffer *b, struct arena *a, struct shape *ret_shape, void **ret_data,
                struct why *w)
{
    void *copy = NULL;

    pthread_mutex_lock(&b->lock);
    struct shape shape = b->shape;
    bool is_initialised = b->is_initialised;
    if (is_initialised)
        copy = arena_copy(a, b->data ? b->data : (uint8_t *) "", bytes_of(b, &shape));
    pthread_mutex_unlock(&b->lock);
    if (!is_initialised)
        return why_fail(w, WHY_EXECUTION, "buffer %u is not initialised", b->token);
    if (!copy)
        return why_no_memory(w);
    *ret_shape = shape;
    *ret_data = copy;
    return 0;
}

int buffer_write(struct device_buffer *b, const struct tensor *t, struct why *w)
{
    size_t size = tensor_bytes(t);

    if (!shape_matches(&t->shape, &b->declared.shape))
        return why_fail(w, WHY_EXECUTION, "shape of the result contradicts that of buffer %u",
                        b->token);
    pthread_mutex_lock(&b->lock);
    bool ok = make_room(b, size) == HAL_NONE;
    if (ok) {
        if (size)
            memcpy(b->data, t->data, size);
        b->shape = t->shape;
        b->is_initialised = true;
    }
    pthread_mutex_unlock(&b->lock);
    return ok ? 0 : why_no_memory(w);
}

/* A malloced copy of the contents, which must have `size` bytes; with the buffer locked. */
static enum hal_status copy_contents(struct device_buffer *b, uint64_t size, uint8_t **ret_copy)
{
    uint8_t *copy;

    if (!b->is_initialised) {
        failure_text_set("the buffer was never written");
        return HAL_GENERAL_FAILURE;
    }
    if (size != bytes_of(b, &b->shape)) {
        failure_text_set("%" PRIu64 " bytes, the buffer has %zu", size, bytes_of(b, &b->shape));
        return HAL_INVALID_ARGUMENT;
    }
    copy = malloc(size);
    if (!copy)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    *ret_copy = memcpy(copy, b->data, size);
    return HAL_NONE;
}

/* The pages of the client's memory may be slow to arrive.  The buffer is not locked while they are
 * accessed, here and in copy_memory(), so that no running execution waits for them. */
static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct device_buffer *b = (struct device_buffer *) self;
    uint8_t *copy = NULL;
    struct mapping m;
    struct why w;

    failure_text_clear();
    if (memory_map(to, true, &m, &w) < 0)
        return driver_log_failure("copy_to", b->all->version, &w);
    pthread_mutex_lock(&b->lock);
    enum hal_status status = copy_contents(b, m.size, &copy);
    pthread_mutex_unlock(&b->lock);
    if (status == HAL_NONE)
        memcpy(m.address, copy, m.size);
    free(copy);
    memory_unmap(&m);
    VLOG(MEMORY, "buffer %u: copy_to: %s", b->token, hal_status_name(status));
    return status;
}

/* The shape of contents that are copied from memory: the given dimensions, or the buffer's; fully
 * specified and consistent with the buffer's. */
static int incoming_shape(const struct device_buffer *b, uint32_t n_dims, const uint32_t *dims,
                          struct shape *ret_shape, struct why *w)
{
    struct shape s = b->declared.shape;

    REQUIRE(w, n_dims <= MAX_RANK && (!n_dims || dims), "invalid rank %u or no dimensions", n_dims);
    TRY(hal_dims_comply(dims, n_dims, b->all->version, w));
    REQUIRE(w, !n_dims || dtype_info[b->declared.dtype].tensor, "a scalar with dimensions");
    if (n_dims) {
        s.rank = n_dims;
        memcpy(s.dim, dims, n_dims * sizeof(*dims));
    }
    REQUIRE(w, shape_matches(&s, &b->declared.shape), "dimensions contradict the buffer's");
    REQUIRE(w, is_complete(b, &s), "dimensions are not fully specified");
    REQUIRE(w, shape_check_size(&s, dtype_info[b->declared.dtype].codec->size) == 0, "too large");
    *ret_shape = s;
    return 0;
}

static int copy_mapped(struct device_buffer *b, const struct mapping *from,
                       const struct shape *shape, struct why *w)
{
    struct tensor t = b->declared;

    t.shape = *shape;
    REQUIRE(w, from->size == tensor_bytes(&t), "%" PRIu64 " bytes, expected %zu", from->size,
            tensor_bytes(&t));
    t.data = malloc(from->size);
    if (!t.data)
        return why_no_memory(w);
    memcpy(t.data, from->address, from->size);
    int rc = buffer_write(b, &t, w);
    free(t.data);
    return rc;
}

static int copy_memory(struct device_buffer *b, const struct hal_memory *from,
                       const struct shape *shape, struct why *w)
{
    struct mapping m;

    TRY(memory_map(from, false, &m, w));
    int rc = copy_mapped(b, &m, shape, w);
    memory_unmap(&m);
    return rc;
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct device_buffer *b = (struct device_buffer *) self;
    struct shape shape;
    struct why w;

    failure_text_clear();
    if (incoming_shape(b, n_dims, dims, &shape, &w) < 0 || copy_memory(b, from, &shape, &w) < 0)
        return driver_log_failure("copy_from", b->all->version, &w);
    VLOG(MEMORY, "buffer %u: copy_from: %" PRIu64 " bytes", b->token, from->size);
    return HAL_NONE;
}

/* Invalidates the token and drops the client's reference; running requests keep theirs. */
static void release(struct hal_buffer *self)
{
    struct device_buffer *b = (struct device_buffer *) self, **at;

    pthread_mutex_lock(&b->all->lock);
    for (at = &b->all->first; *at && *at != b;)
        at = &(*at)->next;
    if (*at)
        *at = b->next;
    pthread_mutex_unlock(&b->all->lock);
    VLOG(MEMORY, "buffer %u released", b->token);
    buffer_unref(b);
}

static const struct hal_buffer_methods methods = { copy_to, copy_from, release };

/* ---- allocation */

static int compare_roles(const void *a, const void *b)
{
    const struct buffer_role *x = a, *y = b;

    if (x->model != y->model)
        return x->model < y->model ? -1 : 1;
    if (x->io != y->io)
        return x->io < y->io ? -1 : 1;
    return x->is_output - y->is_output;
}

bool buffer_has_role(const struct device_buffer *b, uint64_t model, uint32_t io, bool is_output)
{
    const struct buffer_role role = { model, io, is_output };

    return bsearch(&role, b->roles, b->n_roles, sizeof(role), compare_roles);
}

static int merge_shape(const struct shape *s, struct shape *into, struct why *w)
{
    REQUIRE(w, !s->rank || !into->rank || s->rank == into->rank, "ranks %u and %u", s->rank,
            into->rank);
    for (uint32_t d = 0; d < s->rank; d++) {
        uint32_t known = d < into->rank ? into->dim[d] : 0;
        REQUIRE(w, !known || !s->dim[d] || known == s->dim[d], "dimension %u: %u and %u", d,
                s->dim[d], known);
        into->dim[d] = known ? known : s->dim[d];
    }
    into->rank = s->rank ? s->rank : into->rank;
    return 0;
}

static int add_role(struct device_buffer *b, const struct driver *d,
                    const struct hal_buffer_role *role, bool is_output, uint32_t n_models,
                    struct hal_prepared_model *const *models, struct why *w)
{
    REQUIRE(w, role->model_index < n_models, "model %u of %u", role->model_index, n_models);
    struct prepared *p = prepared_of(d, models[role->model_index]);
    REQUIRE(w, p, "prepared model %u belongs to another driver", role->model_index);
    const struct graph *g = &p->loaded.model.graph[0];
    uint32_t n = is_output ? g->n_outputs : g->n_inputs;
    REQUIRE(w, role->io_index < n, "operand %u of %u", role->io_index, n);
    REQUIRE(w, role->probability > 0 && role->probability <= 1, "probability %g, expected (0, 1]",
            (double) role->probability);
    const struct tensor *t = &g->operand[(is_output ? g->output : g->input)[role->io_index]].tensor;
    if (!b->n_roles) {
        struct shape wanted = b->declared.shape;
        b->declared = *t;
        b->declared.data = NULL;
        b->declared.shape = wanted;
    }
    REQUIRE(w, t->dtype == b->declared.dtype && tensor_same_quant(t, &b->declared),
            "roles of different types");
    REQUIRE(w, dtype_info[t->dtype].tensor || !b->declared.shape.rank, "a scalar with dimensions");
    b->roles[b->n_roles++] = (struct buffer_role){ p->number, role->io_index, is_output };
    return merge_shape(&t->shape, &b->declared.shape, w);
}

static int add_roles(struct device_buffer *b, const struct driver *d, uint32_t n_models,
                     struct hal_prepared_model *const *models, bool is_output, uint32_t n,
                     const struct hal_buffer_role *roles, struct why *w)
{
    REQUIRE(w, (roles || !n) && (models || !n_models), "a list is NULL");
    for (uint32_t i = 0; i < n; i++)
        TRY(add_role(b, d, &roles[i], is_output, n_models, models, w));
    return 0;
}

/* Sorts the roles; -1 if there are none or a role is given twice. */
static int check_roles(struct device_buffer *b, struct why *w)
{
    REQUIRE(w, b->n_roles, "a buffer without roles");
    qsort(b->roles, b->n_roles, sizeof(*b->roles), compare_roles);
    for (uint32_t i = 1; i < b->n_roles; i++)
        REQUIRE(w, compare_roles(&b->roles[i - 1], &b->roles[i]), "a role is given twice");
    return 0;
}

static int describe(struct device_buffer *b, const struct hal_buffer_desc *desc, struct why *w)
{
    REQUIRE(w, desc->n_dims <= MAX_RANK && (!desc->n_dims || desc->dims),
            "invalid rank %u or no dimensions", desc->n_dims);
    TRY(hal_dims_comply(desc->dims, desc->n_dims, b->all->version, w));
    b->declared.shape.rank = desc->n_dims;
    if (desc->n_dims)
        memcpy(b->declared.shape.dim, desc->dims, desc->n_dims * sizeof(*desc->dims));
    return 0;
}

static struct device_buffer *buffer_new(struct buffers *all, uint64_t n_roles)
{
    struct device_buffer *b = calloc(1, sizeof(*b));
    struct buffer_role *roles = calloc(n_roles + 1, sizeof(*roles));

    if (!b || !roles) {
        free(b);
        free(roles);
        return NULL;
    }
    *b = (struct device_buffer){
        .base = { &methods }, .all = all, .client = caller_client(), .roles = roles, .references = 1
    };
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

/* Allocates the data now if the shape is known, so that a failure is reported by allocate(). */
static enum hal_status reserve(struct device_buffer *b, const struct driver *d)
{
    size_t size = 0;

    if (b->declared.dtype >= DT_COUNT) /* extension data of the operand belong to the model */
        return HAL_GENERAL_FAILURE;
    if (is_complete(b, &b->declared.shape)) {
        size_t element = dtype_info[b->declared.dtype].codec->size;
        if (shape_check_size(&b->declared.shape, element) < 0)
            return HAL_INVALID_ARGUMENT;
        size = bytes_of(b, &b->declared.shape);
    }
    if (d->engine->memory && size > d->engine->memory)
        return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    return make_room(b, size);
}

/* Assigns a token and adds the buffer to the list.  A released token is reused only after all
 * others have been used. */
static void publish(struct buffers *all, struct device_buffer *b)
{
    bool taken = true;

    pthread_mutex_lock(&all->lock);
    while (taken) {
        all->last_token = all->last_token == INT32_MAX ? 1 : all->last_token + 1;
        taken = false;
        for (const struct device_buffer *o = all->first; o; o = o->next)
            taken |= o->token == all->last_token;
    }
    b->token = all->last_token;
    b->next = all->first;
    all->first = b;
    pthread_mutex_unlock(&all->lock);
}

enum hal_status driver_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    static const char method[] = "allocate";
    struct driver *d = (struct driver *) self;
    const enum hal_version version = d->engine->hal;
    struct device_buffer *b;
    struct why w;

    *ret_buffer = NULL;
    *ret_token = 0;
    failure_text_clear();
    if (version < HAL_1_3)
        return driver_too_old(HAL_1_3);
    b = buffer_new(&d->buffers, (uint64_t) n_input_roles + n_output_roles);
    if (!b)
        return HAL_RESOURCE_EXHAUSTED_TRANSIENT;
    if (describe(b, desc, &w) < 0 ||
        add_roles(b, d, n_models, models, false, n_input_roles, input_roles, &w) < 0 ||
        add_roles(b, d, n_models, models, true, n_output_roles, output_roles, &w) < 0 ||
        check_roles(b, &w) < 0) {
        buffer_unref(b);
        return driver_log_failure(method, version, &w);
    }
    enum hal_status status = reserve(b, d);
    if (status != HAL_NONE) {
        buffer_unref(b);
        return driver_log_status(method, version, status);
    }
    publish(&d->buffers, b);
    VLOG(MEMORY, "buffer %u of client %u: %zu bytes for %u roles", b->token, b->client, b->size,
         b->n_roles);
    *ret_buffer = &b->base;
    *ret_token = b->token;
    return driver_log_status(method, version, HAL_NONE);
}
