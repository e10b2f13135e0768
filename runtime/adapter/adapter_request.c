/* Executions of the C API: made of requests, and their results as those of the HAL. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "golden/model/tensor.h"
#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/base/memory.h"
#include "sim/hal/hal_result.h"
#include "sim/hal_validate.h"

/* ---- memories */

enum hal_status adapter_memory_new(const struct adapter *a, const struct hal_memory *memory,
                                   ANeuralNetworksMemory **ret_memory)
{
    struct memory_identity identity;
    enum hal_status status = HAL_NONE;
    int protection = (memory->protection & HAL_MEMORY_READ ? PROT_READ : 0) |
                     (memory->protection & HAL_MEMORY_WRITE ? PROT_WRITE : 0);

    if (memory_identify(memory, &identity) < 0)
        return adapter_fail(HAL_INVALID_ARGUMENT,
                            "memory of %llu bytes: its file is shorter, or none",
                            (unsigned long long) memory->size);
    adapter_ok(&status,
               a->api.Memory_createFromFd((size_t) memory->size, protection, memory->fd,
                                          (size_t) memory->offset, ret_memory),
               "Memory_createFromFd", "%llu bytes", (unsigned long long) memory->size);
    return status;
}

static enum hal_status take_buffer(struct adapter_execution *x, uint32_t pool, uint32_t token)
{
    x->buffer[pool] = adapter_buffer_find(x->prepared->adapter, token);
    return x->buffer[pool]
               ? HAL_NONE
               : adapter_fail(HAL_INVALID_ARGUMENT, "pool %u: no buffer has token %u", pool, token);
}

/* The memory of each pool that has one in the C API, in order; others are given by address. */
static enum hal_status make_memories(struct adapter_execution *x, const struct hal_request *request,
                                     const struct adapter_setup *setup,
                                     const ANeuralNetworksMemory **to)
{
    enum hal_status status = HAL_NONE;

    for (uint32_t i = 0; i < request->n_pools && status == HAL_NONE; i++) {
        const struct hal_request_pool *pool = &request->pools[i];
        ANeuralNetworksMemory *kept = NULL;
        if (pool->is_token) {
            status = take_buffer(x, i, pool->token);
            to[i] = status == HAL_NONE ? adapter_buffer_memory(x->buffer[i]) : NULL;
        } else if (pool->memory.kind == HAL_MEMORY_ADDRESS) {
            continue;
        } else if (setup->burst && setup->identifiers[i] >= 0) {
            status =
                adapter_burst_memory(setup->burst, setup->identifiers[i], &pool->memory, &kept);
            to[i] = kept;
        } else {
            status = adapter_memory_new(x->prepared->adapter, &pool->memory, &x->memory[i]);
            to[i] = x->memory[i];
        }
    }
    return status;
}

/* ---- sizes */

void adapter_merge_dims(struct shape *to, const ANeuralNetworksOperandType *type)
{
    if (!to->rank && type->dimensionCount <= MAX_RANK) {
        to->rank = type->dimensionCount;
        memset(to->dim, 0, sizeof(to->dim));
    }
    for (uint32_t i = 0; i < to->rank && i < type->dimensionCount; i++)
        if (!to->dim[i])
            to->dim[i] = type->dimensions[i];
}

uint64_t adapter_bytes(const struct shape *s, int32_t type)
{
    const struct dtype_info *info = dtype_find(type);

    if (!info || !info->codec)
        return 0;
    size_t size = info->codec->size;
    if (!info->tensor)
        return size;
    if (!shape_known(s) || shape_check_size(s, size) < 0)
        return 0;
    return shape_count(s) * size;
}

/* Bytes of an argument's value; 0: not known. */
static uint64_t needed_bytes(const struct hal_argument *argument,
                             const ANeuralNetworksOperandType *declared)
{
    struct shape s = { .rank = 0 };

    adapter_merge_dims(&s, &(ANeuralNetworksOperandType){ .dimensionCount = argument->n_dims,
                                                          .dimensions = argument->dims });
    adapter_merge_dims(&s, declared);
    return adapter_bytes(&s, declared->type);
}

/* ---- arguments */

struct place {
    const ANeuralNetworksOperandType *type; /* NULL: as declared */
    const ANeuralNetworksMemory *memory;    /* NULL: at the address */
    uint8_t *address;
    size_t offset, length;
};

/* The declared type with the request's dimensions, where it has some. */
static const ANeuralNetworksOperandType *argument_type(const struct hal_argument *argument,
                                                       const ANeuralNetworksOperandType *declared,
                                                       ANeuralNetworksOperandType *to)
{
    if (!argument->n_dims)
        return NULL;
    *to = *declared;
    to->dimensionCount = argument->n_dims;
    to->dimensions = argument->dims;
    return to;
}

static struct place place_of(const struct hal_request *request, const struct hal_argument *argument,
                             const ANeuralNetworksMemory *const *memory,
                             const ANeuralNetworksOperandType *type)
{
    const struct hal_location *at = &argument->location;

    if (argument->has_no_value)
        return (struct place){ .type = NULL };
    const struct hal_request_pool *pool = &request->pools[at->pool];
    return (struct place){ .type = type,
                           .memory = memory[at->pool],
                           .address = pool->is_token || !pool->memory.address
                                          ? NULL
                                          : (uint8_t *) pool->memory.address + at->offset,
                           .offset = (size_t) at->offset,
                           .length = (size_t) (at->length + at->padding) };
}

/* In the C API a dimension of 0 is an unknown one. */
static bool has_no_elements(const struct hal_argument *argument)
{
    for (uint32_t i = 0; i < argument->n_dims; i++)
        if (!argument->dims[i])
            return true;
    return false;
}

static bool set_input(struct adapter_execution *x, uint32_t i, const struct place *p,
                      enum hal_status *ret_status)
{
    const struct api_library *api = &x->prepared->adapter->api;
    int result = p->memory ? api->Execution_setInputFromMemory(x->execution, (int32_t) i, p->type,
                                                               p->memory, p->offset, p->length)
                           : api->Execution_setInput(x->execution, (int32_t) i, p->type, p->address,
                                                     p->length);

    return adapter_ok(ret_status, result, "Execution_setInput", "input %u", i);
}

static bool set_output(struct adapter_execution *x, uint32_t i, struct place *p,
                       enum hal_status *ret_status)
{
    const struct api_library *api = &x->prepared->adapter->api;
    bool is_nowhere = !p->memory && p->address && !p->length;

    if (is_nowhere) {
        p->address = &x->nowhere;
        p->length = sizeof(x->nowhere);
    }
    int result = p->memory ? api->Execution_setOutputFromMemory(x->execution, (int32_t) i, p->type,
                                                                p->memory, p->offset, p->length)
                           : api->Execution_setOutput(x->execution, (int32_t) i, p->type,
                                                      p->address, p->length);
    return adapter_ok(ret_status, result, "Execution_setOutput", "output %u", i);
}

/* The value is computed elsewhere, for the shapes that the HAL demands with
 * HAL_OUTPUT_INSUFFICIENT_SIZE. */
static enum hal_status make_longer(struct adapter_execution *x, uint32_t i, uint64_t bytes,
                                   struct place *p)
{
    x->longer[i] = malloc(bytes);
    if (!x->longer[i])
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for output %u", i);
    x->n_longer++;
    p->memory = NULL;
    p->address = x->longer[i];
    p->length = (size_t) bytes;
    return HAL_NONE;
}

static bool is_in_buffer(const struct hal_request *r, const struct hal_argument *a, uint32_t token)
{
    const struct hal_request_pool *pool = &r->pools[a->location.pool];

    return !a->has_no_value && pool->is_token && pool->token == token;
}

/* A buffer is an output of one argument, and then no input. */
static enum hal_status check_buffers(const struct hal_request *r)
{
    for (uint32_t o = 0; o < r->n_outputs; o++) {
        const struct hal_argument *a = &r->outputs[o];
        uint32_t uses = 0;
        if (a->has_no_value || !r->pools[a->location.pool].is_token)
            continue;
        const uint32_t token = r->pools[a->location.pool].token;
        for (uint32_t i = 0; i < r->n_inputs; i++)
            uses += is_in_buffer(r, &r->inputs[i], token);
        for (uint32_t i = 0; i < r->n_outputs; i++)
            uses += is_in_buffer(r, &r->outputs[i], token);
        if (uses > 1)
            return adapter_fail(HAL_INVALID_ARGUMENT, "output %u: its buffer has another use", o);
    }
    return HAL_NONE;
}

static enum hal_status set_arguments(struct adapter_execution *x, const struct hal_request *request,
                                     const ANeuralNetworksMemory *const *memory)
{
    const struct adapter_prepared *p = x->prepared;
    enum hal_status status = check_buffers(request);
    ANeuralNetworksOperandType type;

    for (uint32_t i = 0; i < request->n_inputs && status == HAL_NONE; i++) {
        const struct hal_argument *a = &request->inputs[i];
        if (has_no_elements(a))
            return adapter_fail(HAL_GENERAL_FAILURE,
                                "input %u has no elements, which the C API cannot express", i);
        struct place at = place_of(request, a, memory, argument_type(a, &p->input[i], &type));
        set_input(x, i, &at, &status);
    }
    for (uint32_t i = 0; i < request->n_outputs && status == HAL_NONE; i++) {
        const struct hal_argument *a = &request->outputs[i];
        struct place at = place_of(request, a, memory, argument_type(a, &p->output[i], &type));
        uint64_t need = needed_bytes(a, &p->output[i]);
        x->has_unknown_output |= !need && dtype_find(p->output[i].type);
        if (!a->has_no_value && a->location.length < need &&
            !request->pools[a->location.pool].is_token)
            status = make_longer(x, i, need, &at);
        if (status == HAL_NONE)
            set_output(x, i, &at, &status);
    }
    return status;
}

/* ---- settings */

static const char *hint_extension(const struct hal_execution_config *config, int32_t token)
{
    for (uint32_t i = 0; i < config->n_extension_prefixes; i++)
        if (config->extension_name_to_prefix[i].prefix == (uint32_t) token >> 16)
            return config->extension_name_to_prefix[i].name;
    return NULL;
}

static bool set_hints(struct adapter_execution *x, const struct hal_execution_config *config,
                      enum hal_status *ret_status)
{
    const struct adapter *a = x->prepared->adapter;

    for (uint32_t i = 0; i < config->n_hints; i++) {
        const struct hal_token_value *h = &config->hints[i];
        const char *name = hint_extension(config, h->token);
        if (!name || !adapter_has_extension(a, name) || !a->api.Execution_addExtensionAttribute)
            continue;
        if (!adapter_ok(ret_status,
                        a->api.Execution_addExtensionAttribute(
                            x->execution, name, (uint16_t) ((uint32_t) h->token & UINT16_MAX),
                            h->value, h->length),
                        "Execution_addExtensionAttribute", "%s", name))
            return false;
    }
    return true;
}

/* Timing and time-outs exist in the C API for one chosen device only. */
static bool set_up(struct adapter_execution *x, const struct adapter_setup *setup,
                   enum hal_status *ret_status)
{
    const struct adapter *a = x->prepared->adapter;
    const struct api_library *api = &a->api;
    const struct hal_execution_config *c = setup->config;

    x->measure = c->measure && !a->is_runtime;
    return adapter_ok(ret_status, api->Execution_enableInputAndOutputPadding(x->execution, true),
                      "Execution_enableInputAndOutputPadding", "true") &&
           (!setup->is_reusable ||
            adapter_ok(ret_status, api->Execution_setReusable(x->execution, true),
                       "Execution_setReusable", "true")) &&
           (!x->measure ||
            adapter_ok(ret_status, api->Execution_setMeasureTiming(x->execution, true),
                       "Execution_setMeasureTiming", "true")) &&
           (c->loop_timeout == HAL_NO_TIME ||
            adapter_ok(ret_status, api->Execution_setLoopTimeout(x->execution, c->loop_timeout),
                       "Execution_setLoopTimeout", "%llu ns",
                       (unsigned long long) c->loop_timeout)) &&
           (a->is_runtime || setup->time_left == HAL_NO_TIME || !setup->time_left ||
            adapter_ok(ret_status, api->Execution_setTimeout(x->execution, setup->time_left),
                       "Execution_setTimeout", "%llu ns", (unsigned long long) setup->time_left)) &&
           set_hints(x, c, ret_status);
}

/* ---- executions */

void adapter_execution_unref(struct adapter_execution *x)
{
    if (!x || atomic_fetch_sub(&x->references, 1) != 1)
        return;
    const struct api_library *api = &x->prepared->adapter->api;
    api->Execution_free(x->execution);
    for (uint32_t i = 0; i < x->n_memories; i++) {
        api->Memory_free(x->memory[i]);
        adapter_buffer_unref(x->buffer[i]);
    }
    for (uint32_t i = 0; i < x->prepared->main.n_outputs; i++)
        free(x->longer[i]);
    adapter_prepared_unref(x->prepared);
    free(x->memory);
    free(x->buffer);
    free(x->longer);
    free(x);
}

static struct adapter_execution *allocate(struct adapter_prepared *p, uint32_t n_pools)
{
    struct adapter_execution *x = calloc(1, sizeof(*x));

    if (!x)
        return NULL;
    x->memory = calloc((size_t) n_pools + 1, sizeof(ANeuralNetworksMemory *));
    x->buffer = calloc((size_t) n_pools + 1, sizeof(struct adapter_buffer *));
    x->longer = calloc((size_t) p->main.n_outputs + 1, sizeof(void *));
    if (!x->memory || !x->buffer || !x->longer) {
        free(x->memory);
        free(x->buffer);
        free(x->longer);
        free(x);
        return NULL;
    }
    x->n_memories = n_pools;
    x->references = 1;
    x->prepared = p;
    atomic_fetch_add(&p->references, 1);
    return x;
}

static enum hal_status check(const struct adapter_prepared *p, const struct hal_request *request,
                             const struct hal_execution_config *config, enum hal_version version)
{
    char text[HAL_TEXT_BYTES];
    enum hal_status status = hal_validate_request(version, &p->main, request, text, sizeof(text));

    if (status == HAL_NONE)
        status = hal_validate_execution_config(version, config, text, sizeof(text));
    return status == HAL_NONE ? HAL_NONE : adapter_fail(status, "%s", text);
}

static enum hal_status fill(struct adapter_execution *x, const struct hal_request *request,
                            const struct adapter_setup *setup)
{
    const ANeuralNetworksMemory **memory =
        calloc((size_t) request->n_pools + 1, sizeof(const ANeuralNetworksMemory *));
    enum hal_status status = HAL_NONE;

    if (!memory)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for an execution");
    if (adapter_ok(
            &status,
            x->prepared->adapter->api.Execution_create(x->prepared->compilation, &x->execution),
            "Execution_create", "a request") &&
        set_up(x, setup, &status)) {
        status = make_memories(x, request, setup, memory);
        if (status == HAL_NONE)
            status = set_arguments(x, request, memory);
    }
    free(memory);
    return status;
}

enum hal_status adapter_execution_new(struct adapter_prepared *p, const struct hal_request *request,
                                      const struct adapter_setup *setup,
                                      struct adapter_execution **ret_execution)
{
    enum hal_status status = check(p, request, setup->config, setup->version);

    if (status != HAL_NONE)
        return status;
    struct adapter_execution *x = allocate(p, request->n_pools);
    if (!x)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for an execution");
    status = fill(x, request, setup);
    if (status == HAL_NONE)
        *ret_execution = x;
    else
        adapter_execution_unref(x);
    return status;
}

/* ---- results */

uint64_t adapter_duration(const struct adapter_execution *x, int32_t code)
{
    uint64_t ns = HAL_NO_TIME;

    if (!x->measure || x->prepared->adapter->api.Execution_getDuration(x->execution, code, &ns) !=
                           ANEURALNETWORKS_NO_ERROR)
        return HAL_NO_TIME;
    return ns;
}

static enum hal_status read_shape(const struct adapter_execution *x, uint32_t i,
                                  struct hal_output_shape *to)
{
    const struct api_library *api = &x->prepared->adapter->api;
    enum hal_status status;
    uint32_t rank = 0;

    *to = (struct hal_output_shape){ .n_dims = 0 };
    int result = api->Execution_getOutputOperandRank(x->execution, (int32_t) i, &rank);
    to->is_sufficient = result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE;
    if (to->is_sufficient &&
        !adapter_ok(&status, result, "Execution_getOutputOperandRank", "output %u", i))
        return HAL_GENERAL_FAILURE;
    if (!rank)
        return HAL_NONE;
    if (rank > HAL_MAX_RANK)
        return adapter_fail(HAL_GENERAL_FAILURE, "output %u of rank %u", i, rank);
    to->n_dims = rank;
    result = api->Execution_getOutputOperandDimensions(x->execution, (int32_t) i, to->dims);
    if (result != ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE &&
        !adapter_ok(&status, result, "Execution_getOutputOperandDimensions", "output %u", i))
        return HAL_GENERAL_FAILURE;
    return HAL_NONE;
}

enum hal_status adapter_execution_results(struct adapter_execution *x, int result,
                                          const char *function, struct hal_result *ret_result)
{
    const uint32_t n = x->prepared->main.n_outputs;
    enum hal_status status = HAL_NONE, shapes = HAL_NONE;

    adapter_ok(&status, result, function, "%u outputs", n);
    if (status != HAL_NONE && status != HAL_OUTPUT_INSUFFICIENT_SIZE)
        return status;
    if (ret_result->capacity < n)
        return adapter_fail(HAL_INVALID_ARGUMENT, "%u shapes for %u outputs", ret_result->capacity,
                            n);
    for (uint32_t i = 0; i < n && shapes == HAL_NONE; i++)
        shapes = read_shape(x, i, &ret_result->shapes[i]);
    if (shapes != HAL_NONE)
        return shapes;
    ret_result->n_shapes = n;
    for (uint32_t i = 0; i < n; i++)
        if (x->longer[i])
            ret_result->shapes[i].is_sufficient = false;
    if (x->n_longer)
        return adapter_fail(HAL_OUTPUT_INSUFFICIENT_SIZE, "%u outputs are too short", x->n_longer);
    if (status == HAL_NONE)
        ret_result->timing = (struct hal_timing){
            .on_device = adapter_duration(x, ANEURALNETWORKS_DURATION_ON_HARDWARE),
            .in_driver = adapter_duration(x, ANEURALNETWORKS_DURATION_IN_DRIVER)
        };
    return status;
}
