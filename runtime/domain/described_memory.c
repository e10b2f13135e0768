/* Memory from a descriptor: a buffer of the device that all its uses are on, or shared memory. */
#include <stdlib.h>
#include <string.h>

#include "runtime/base/failure.h"
#include "runtime/compile/compilation.h"
#include "runtime/domain/memory_desc.h"
#include "runtime/model/runtime_model.h"
#include "sim/client/driver_client.h"

#define LOG_TAG "Memory"

/* The uses of a descriptor in the steps of its compilations' plans. */
struct buffer_request {
    const ANeuralNetworksDevice *device; /* that all steps are on; NULL: several, or no step */
    uint32_t n_models, n_inputs, n_outputs;
    struct hal_prepared_model **model;
    struct hal_buffer_role *input, *output;
};

static uint32_t model_index(struct buffer_request *q, struct hal_prepared_model *p)
{
    for (uint32_t i = 0; i < q->n_models; i++)
        if (q->model[i] == p)
            return i;
    q->model[q->n_models] = p;
    return q->n_models++;
}

static bool add_unique(struct hal_buffer_role *roles, uint32_t *n, struct hal_buffer_role r)
{
    for (uint32_t i = 0; i < *n; i++)
        if (roles[i].model_index == r.model_index && roles[i].io_index == r.io_index)
            return false;
    roles[(*n)++] = r;
    return true;
}

static uint32_t roles_of(const struct memory_role *r, const struct step_role **ret)
{
    return compilation_roles(r->compilation, r->is_output, r->index, ret);
}

/* *ret_request: allocated in `a`. */
static int collect_roles(const ANeuralNetworksMemoryDesc *d, struct arena *a,
                         struct buffer_request *ret_request)
{
    const struct step_role *step;
    struct buffer_request q = { 0 };
    bool is_one = true;
    size_t n = 0;

    for (uint32_t i = 0; i < d->n_roles; i++)
        n += roles_of(&d->role[i], &step);
    q.model = arena_alloc(a, n + 1, sizeof(struct hal_prepared_model *));
    q.input = arena_alloc(a, n + 1, sizeof(*q.input));
    q.output = arena_alloc(a, n + 1, sizeof(*q.output));
    if (!q.model || !q.input || !q.output)
        return FAIL(OUT_OF_MEMORY, "no memory for %zu roles", n);
    for (uint32_t i = 0; i < d->n_roles; i++) {
        uint32_t n_steps = roles_of(&d->role[i], &step);
        for (uint32_t k = 0; k < n_steps; k++) {
            is_one = is_one && (!q.device || q.device == step[k].device);
            q.device = step[k].device;
            struct hal_buffer_role role = { model_index(&q, step[k].prepared), step[k].index,
                                            d->frequency[i] };
            if (step[k].is_output)
                add_unique(q.output, &q.n_outputs, role);
            else
                add_unique(q.input, &q.n_inputs, role);
        }
    }
    if (!is_one)
        q.device = NULL;
    *ret_request = q;
    return ANEURALNETWORKS_NO_ERROR;
}

/* The driver's buffer; NULL: it provides none. */
static struct hal_buffer *allocate(const ANeuralNetworksMemoryDesc *d,
                                   const struct buffer_request *q, uint32_t *ret_token)
{
    struct hal_driver *driver = q->device->driver;
    struct hal_buffer_desc desc = { d->operand.shape.rank, d->operand.shape.dim };
    struct hal_buffer *buffer = NULL;
    uint32_t token = 0;

    if (q->device->level < L4 || !driver->allocate)
        return NULL;
    enum hal_status status = driver->allocate(driver, &desc, q->n_models, q->model, q->n_inputs,
                                              q->input, q->n_outputs, q->output, &buffer, &token);
    if (status == HAL_NONE && buffer && token) {
        *ret_token = token;
        return buffer;
    }
    if (status == HAL_NONE) {
        log_write(LOG_ERROR, LOG_TAG, "%s: allocate succeeds with %s", q->device->name,
                  buffer ? "token 0" : "no buffer");
        if (buffer)
            DRIVER_RELEASE(buffer);
    }
    return NULL;
}

/* Copies of what the memory needs after descriptor, compilations and models have been freed. */
static struct described_memory *describe(const ANeuralNetworksMemoryDesc *d)
{
    struct arena *a = arena_new(0);
    struct described_memory *m = a ? arena_alloc(a, 1, sizeof(*m)) : NULL;
    struct memory_role *role = m ? arena_alloc(a, d->n_roles, sizeof(*role)) : NULL;
    float *scale = role ? arena_alloc(a, d->operand.n_channels + 1, sizeof(*scale)) : NULL;
    void *extension = scale ? arena_alloc(a, d->operand.extension_length + 1, 1) : NULL;

    if (!extension) {
        arena_free(a);
        return NULL;
    }
    m->arena = a;
    m->operand = d->operand;
    if (d->operand.channel_scale)
        m->operand.channel_scale =
            memcpy(scale, d->operand.channel_scale, d->operand.n_channels * sizeof(*scale));
    if (d->operand.extension)
        m->operand.extension = memcpy(extension, d->operand.extension, d->operand.extension_length);
    m->foreign = d->foreign;
    m->n_roles = d->n_roles;
    m->role = memcpy(role, d->role, d->n_roles * sizeof(*role));
    for (uint32_t i = 0; i < d->n_roles; i++)
        role[i].compilation = NULL;
    m->shape = d->operand.shape;
    return m;
}

static bool is_any_explicit(const ANeuralNetworksMemoryDesc *d)
{
    for (uint32_t i = 0; i < d->n_roles; i++)
        if (d->role[i].compilation->is_explicit)
            return true;
    return false;
}

/* A memory object with the driver's buffer, or with shared memory. */
static int back(const ANeuralNetworksMemoryDesc *d, struct described_memory *m,
                ANeuralNetworksMemory **ret)
{
    struct buffer_request q;
    uint64_t size;

    PASS(collect_roles(d, m->arena, &q));
    if (q.device && !q.device->is_reference) {
        m->session = device_session(q.device, q.model[0]);
        m->buffer = allocate(d, &q, &m->token);
        if (m->buffer && memory_of_buffer(m, ret) == ANEURALNETWORKS_NO_ERROR)
            return ANEURALNETWORKS_NO_ERROR;
        if (m->buffer)
            DRIVER_RELEASE(m->buffer);
        m->buffer = NULL;
    }
    bool is_reference = q.device && q.device->is_reference;
    if (!is_reference && is_any_explicit(d))
        return FAIL(OP_FAILED, "%s provides no memory for these roles",
                    q.device ? q.device->name : "no single device");
    size = operand_type_size(&d->operand, d->foreign);
    if (!size)
        return FAIL(OP_FAILED, "the size of the memory is not known");
    return memory_of_size(size, ret);
}

int memory_create_from_desc(const ANeuralNetworksMemoryDesc *d, ANeuralNetworksMemory **ret)
{
    struct described_memory *m;
    int result;

    if (!d->is_finished)
        return FAIL(BAD_STATE, "the descriptor is not finished");
    m = describe(d);
    if (!m)
        return FAIL(OUT_OF_MEMORY, "no memory for a memory object");
    result = back(d, m, ret);
    if (result == ANEURALNETWORKS_NO_ERROR)
        (*ret)->described = m;
    else
        arena_free(m->arena);
    return result;
}
