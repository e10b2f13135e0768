/* Buffers of the HAL: memories of the C API that are made from descriptors. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "golden/model/tensor.h"
#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/base/memory.h"

struct adapter_buffer {
    struct hal_buffer base;
    struct adapter *adapter;
    struct adapter_buffer *next;
    uint32_t token;
    ANeuralNetworksMemory *memory;
    struct shape shape;
    uint64_t size;          /* bytes */
    atomic_uint references; /* the client's, and one per execution that uses it */
};

struct adapter_buffer *adapter_buffer_find(struct adapter *a, uint32_t token)
{
    pthread_mutex_lock(&a->lock);
    struct adapter_buffer *b = a->buffers;
    while (b && b->token != token)
        b = b->next;
    if (b)
        atomic_fetch_add(&b->references, 1);
    pthread_mutex_unlock(&a->lock);
    return b;
}

const ANeuralNetworksMemory *adapter_buffer_memory(const struct adapter_buffer *b)
{
    return b->memory;
}

void adapter_buffer_unref(struct adapter_buffer *b)
{
    if (!b || atomic_fetch_sub(&b->references, 1) != 1)
        return;
    b->adapter->api.Memory_free(b->memory);
    free(b);
}

/* ---- copying */

/* Memory that is given by address gets a file of its own, since the C API takes descriptors only.
 */
struct staged {
    struct mapping mapping; /* the client's memory */
    ANeuralNetworksMemory *memory;
    int file;
};

static void unstage(const struct adapter *a, struct staged *s)
{
    a->api.Memory_free(s->memory);
    memory_unmap(&s->mapping);
    if (s->file >= 0)
        close(s->file);
}

static enum hal_status stage_file(const struct adapter *a, struct staged *s,
                                  const struct hal_memory *memory, bool is_source)
{
    struct hal_memory file = { HAL_MEMORY_FD, HAL_MEMORY_READ | HAL_MEMORY_WRITE, NULL, -1, 0,
                               memory->size };

    file.fd = s->file = memfd_create("copy", MFD_CLOEXEC);
    if (s->file < 0 || ftruncate(s->file, (off_t) memory->size) < 0)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "no memory file of %llu bytes",
                            (unsigned long long) memory->size);
    for (uint64_t at = 0; is_source && at < memory->size;) {
        ssize_t n = pwrite(s->file, s->mapping.address + at, memory->size - at, (off_t) at);
        if (n <= 0)
            return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "cannot write a memory file");
        at += (uint64_t) n;
    }
    return adapter_memory_new(a, &file, &s->memory);
}

/* is_source: the client's memory is read, else written.  To be unstaged in any case. */
static enum hal_status stage(const struct adapter *a, const struct hal_memory *memory,
                             bool is_source, struct staged *ret_staged)
{
    struct why w;

    *ret_staged = (struct staged){ .file = -1 };
    if (memory_map(memory, !is_source, &ret_staged->mapping, &w) < 0)
        return adapter_fail(w.code == WHY_INVALID ? HAL_INVALID_ARGUMENT
                                                  : HAL_RESOURCE_EXHAUSTED_TRANSIENT,
                            "%.200s", w.text);
    if (memory->kind != HAL_MEMORY_ADDRESS)
        return adapter_memory_new(a, memory, &ret_staged->memory);
    return stage_file(a, ret_staged, memory, is_source);
}

static enum hal_status fetch(const struct staged *s)
{
    for (uint64_t at = 0; s->file >= 0 && at < s->mapping.size;) {
        ssize_t n = pread(s->file, s->mapping.address + at, s->mapping.size - at, (off_t) at);
        if (n <= 0)
            return adapter_fail(HAL_GENERAL_FAILURE, "cannot read a memory file");
        at += (uint64_t) n;
    }
    return HAL_NONE;
}

/* The C API answers BAD_DATA for a wrong size as for contents that were never written. */
static enum hal_status check_size(const struct adapter_buffer *b, const struct hal_memory *memory)
{
    if (memory->size == b->size)
        return HAL_NONE;
    return adapter_fail(HAL_INVALID_ARGUMENT, "memory of %llu bytes for a buffer of %llu",
                        (unsigned long long) memory->size, (unsigned long long) b->size);
}

static enum hal_status copied(int result)
{
    enum hal_status status = HAL_NONE;

    adapter_ok(&status, result, "Memory_copy", "a buffer");
    return status == HAL_INVALID_ARGUMENT ? HAL_GENERAL_FAILURE : status;
}

static enum hal_status copy_to(struct hal_buffer *self, const struct hal_memory *to)
{
    struct adapter_buffer *b = (struct adapter_buffer *) self;
    struct staged s;

    failure_text_clear();
    enum hal_status status = check_size(b, to);
    if (status != HAL_NONE)
        return status;
    status = stage(b->adapter, to, false, &s);
    if (status == HAL_NONE)
        status = copied(b->adapter->api.Memory_copy(b->memory, s.memory));
    if (status == HAL_NONE)
        status = fetch(&s);
    unstage(b->adapter, &s);
    return status;
}

static enum hal_status copy_from(struct hal_buffer *self, const struct hal_memory *from,
                                 uint32_t n_dims, const uint32_t *dims)
{
    struct adapter_buffer *b = (struct adapter_buffer *) self;
    struct staged s;

    failure_text_clear();
    bool is_same = n_dims == b->shape.rank && dims;
    for (uint32_t i = 0; is_same && i < n_dims; i++)
        is_same = dims[i] == b->shape.dim[i];
    if (n_dims && !is_same)
        return adapter_fail(HAL_INVALID_ARGUMENT, "other dimensions than those of the buffer");
    enum hal_status status = check_size(b, from);
    if (status != HAL_NONE)
        return status;
    status = stage(b->adapter, from, true, &s);
    if (status == HAL_NONE)
        status = copied(b->adapter->api.Memory_copy(s.memory, b->memory));
    unstage(b->adapter, &s);
    return status;
}

static void release(struct hal_buffer *self)
{
    struct adapter_buffer *b = (struct adapter_buffer *) self;
    struct adapter *a = b->adapter;

    pthread_mutex_lock(&a->lock);
    struct adapter_buffer **at = &a->buffers;
    while (*at != b)
        at = &(*at)->next;
    *at = b->next;
    pthread_mutex_unlock(&a->lock);
    adapter_buffer_unref(b);
}

static const struct hal_buffer_methods methods = { copy_to, copy_from, release };

/* ---- allocating */

struct roles {
    struct adapter *a;
    uint32_t n_models;
    struct hal_prepared_model *const *models;
    struct shape shape;
    int32_t type;
};

/* The prepared model of a role, and its argument of that number. */
static enum hal_status find_operand(const struct roles *r, const struct hal_buffer_role *role,
                                    bool is_output, const struct adapter_prepared **ret_prepared,
                                    const ANeuralNetworksOperandType **ret_type)
{
    if (role->model_index >= r->n_models || !r->models[role->model_index])
        return adapter_fail(HAL_INVALID_ARGUMENT, "a role of model %u of %u", role->model_index,
                            r->n_models);
    const struct adapter_prepared *p =
        (const struct adapter_prepared *) r->models[role->model_index];
    if (p->base.methods->configure_burst != adapter_configure_burst || p->adapter != r->a)
        return adapter_fail(HAL_INVALID_ARGUMENT, "a role of a model of another driver");
    uint32_t n = is_output ? p->main.n_outputs : p->main.n_inputs;
    if (role->io_index >= n)
        return adapter_fail(HAL_INVALID_ARGUMENT, "a role of %s %u of %u",
                            is_output ? "output" : "input", role->io_index, n);
    *ret_prepared = p;
    *ret_type = &(is_output ? p->output : p->input)[role->io_index];
    return HAL_NONE;
}

static enum hal_status add_roles(struct roles *r, ANeuralNetworksMemoryDesc *desc, uint32_t n,
                                 const struct hal_buffer_role *roles, bool is_output)
{
    const struct api_library *api = &r->a->api;
    const struct adapter_prepared *p;
    const ANeuralNetworksOperandType *type;
    enum hal_status status = HAL_NONE;

    for (uint32_t i = 0; i < n && status == HAL_NONE; i++) {
        status = find_operand(r, &roles[i], is_output, &p, &type);
        if (status != HAL_NONE)
            break;
        adapter_ok(&status,
                   (is_output ? api->MemoryDesc_addOutputRole : api->MemoryDesc_addInputRole)(
                       desc, p->compilation, roles[i].io_index, roles[i].probability),
                   "MemoryDesc_addRole", "%s role %u", is_output ? "output" : "input", i);
        adapter_merge_dims(&r->shape, type);
        r->type = type->type;
    }
    return status;
}

static enum hal_status create(struct adapter *a, ANeuralNetworksMemoryDesc *desc,
                              const struct hal_buffer_desc *dims, ANeuralNetworksMemory **ret)
{
    enum hal_status status = HAL_NONE;

    if (dims->n_dims &&
        !adapter_ok(&status, a->api.MemoryDesc_setDimensions(desc, dims->n_dims, dims->dims),
                    "MemoryDesc_setDimensions", "%u dimensions", dims->n_dims))
        return status;
    if (adapter_ok(&status, a->api.MemoryDesc_finish(desc), "MemoryDesc_finish", "a buffer"))
        adapter_ok(&status, a->api.Memory_createFromDesc(desc, ret), "Memory_createFromDesc",
                   "a buffer");
    return status;
}

static enum hal_status publish(struct adapter *a, const struct roles *r,
                               ANeuralNetworksMemory *memory, struct hal_buffer **ret_buffer,
                               uint32_t *ret_token)
{
    struct adapter_buffer *b = calloc(1, sizeof(*b));

    if (!b)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a buffer");
    *b = (struct adapter_buffer){ .base = { &methods },
                                  .adapter = a,
                                  .memory = memory,
                                  .shape = r->shape,
                                  .size = adapter_bytes(&r->shape, r->type),
                                  .references = 1 };
    pthread_mutex_lock(&a->lock);
    b->token = ++a->last_token;
    b->next = a->buffers;
    a->buffers = b;
    pthread_mutex_unlock(&a->lock);
    *ret_buffer = &b->base;
    *ret_token = b->token;
    return HAL_NONE;
}

enum hal_status adapter_allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                 uint32_t n_models, struct hal_prepared_model *const *models,
                                 uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                 uint32_t n_output_roles,
                                 const struct hal_buffer_role *output_roles,
                                 struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    struct adapter *a = (struct adapter *) self;
    struct roles r = { .a = a, .n_models = n_models, .models = models };
    ANeuralNetworksMemoryDesc *d = NULL;
    ANeuralNetworksMemory *memory = NULL;
    enum hal_status status = HAL_NONE;

    failure_text_clear();
    *ret_buffer = NULL;
    *ret_token = 0;
    adapter_merge_dims(&r.shape, &(ANeuralNetworksOperandType){ .dimensionCount = desc->n_dims,
                                                                .dimensions = desc->dims });
    if (!adapter_ok(&status, a->api.MemoryDesc_create(&d), "MemoryDesc_create", "a buffer"))
        return status;
    status = add_roles(&r, d, n_input_roles, input_roles, false);
    if (status == HAL_NONE)
        status = add_roles(&r, d, n_output_roles, output_roles, true);
    if (status == HAL_NONE)
        status = create(a, d, desc, &memory);
    a->api.MemoryDesc_free(d);
    /* Contents of a shape that copy_from() tells cannot be expressed in the C API. */
    if (status == HAL_NONE && !adapter_bytes(&r.shape, r.type))
        status = adapter_fail(HAL_GENERAL_FAILURE, "no buffers for operands of unknown size");
    if (status == HAL_NONE)
        status = publish(a, &r, memory, ret_buffer, ret_token);
    if (status != HAL_NONE)
        a->api.Memory_free(memory);
    return status;
}
