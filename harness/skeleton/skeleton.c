/* @NAME@: a driver skeleton, to be filled in.
 *
 * As it is, it runs ADD on TENSOR_FLOAT32 operands of one known shape and reports all else as not
 * supported.  hal.h is the contract; its first comment has the rules that apply to every method.
 * The parts to replace are marked "Fill in:", in this order:
 *
 *   1. the device: name, version, type, performance
 *   2. kernels.c: the operations that it supports, in which types and shapes
 *   3. the prepared model: here an interpreted copy of the model; yours compiles it
 *   4. the methods that are NULL here: fences, bursts, caching, memory domains
 *
 * load() copies a model into structures of the driver and run_request() executes a request; neither
 * assumes that its argument is valid. */
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "kernels.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- 1. the device */

/* Fill in: the name of the service; a version that changes with every release; the highest and the
 * lowest version of the HAL that it answers. */
#define DRIVER_NAME    "@NAME@"
#define DRIVER_VERSION "@NAME@ 0.1"
#define DRIVER_HAL     HAL_1_2
#define DRIVER_LOWEST  HAL_1_0
#define DRIVER_TYPE    HAL_DEVICE_OTHER

/* Fill in: measured performance relative to the CPU implementation, less is better; a row for each
 * supported type, in ascending order of types.  Clients of HAL 1.0 and 1.1 get exactly two rows. */
static const struct hal_operand_performance performance[] = {
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
};
static const struct hal_operand_performance performance_1_0[] = {
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM, { FLT_MAX, FLT_MAX } },
};
static const struct hal_capabilities capabilities = {
    { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, COUNT(performance), performance,
};

/* ---- versions */

/* Whether a method introduced in version `since` has an entry point of this version in the driver.
 */
static bool has_entry(enum hal_version version, enum hal_version since)
{
    return version >= since && version >= DRIVER_LOWEST && version <= DRIVER_HAL && version != 14;
}

/* Whether arguments that the version does not have are at their defaults. */
static bool has_arguments(enum hal_version version, const struct hal_execution_config *c)
{
    return (version >= HAL_1_2 || !c->measure) &&
           (version >= HAL_1_3 ||
            (c->deadline == HAL_NO_DEADLINE && c->loop_timeout == HAL_NO_TIME)) &&
           (version >= HAL_FL8 || (!c->n_hints && !c->n_extension_prefixes));
}

static bool has_options(enum hal_version version, const struct hal_prepare_config *c)
{
    return (version >= HAL_1_1 || c->preference == HAL_FAST_SINGLE_ANSWER) &&
           (version >= HAL_1_2 || (!c->cache.n_model && !c->cache.n_data)) &&
           (version >= HAL_1_3 ||
            (c->priority == HAL_PRIORITY_MEDIUM && c->deadline == HAL_NO_DEADLINE)) &&
           (version >= HAL_FL8 || (!c->n_hints && !c->n_extension_prefixes)) &&
           (unsigned) c->preference <= HAL_SUSTAINED_SPEED &&
           (unsigned) c->priority <= HAL_PRIORITY_HIGH;
}

/* ---- memory of the client */

struct mapping {
    uint8_t *address;
    uint64_t size;
    bool writable, is_mapped;
};

static void unmap(struct mapping *m, uint32_t n)
{
    for (uint32_t i = 0; m && i < n; i++)
        if (m[i].is_mapped)
            munmap(m[i].address, m[i].size);
    free(m);
}

static bool map_one(const struct hal_memory *h, struct mapping *ret)
{
    struct stat st;

    *ret = (struct mapping){ h->address, h->size, h->protection & HAL_MEMORY_WRITE, false };
    if (h->address || h->kind == HAL_MEMORY_ADDRESS)
        return h->address && h->size;
    if (fstat(h->fd, &st) < 0 || !h->size || h->offset > (uint64_t) st.st_size ||
        h->size > (uint64_t) st.st_size - h->offset)
        return false;
    ret->address = mmap(NULL, h->size, ret->writable ? PROT_READ | PROT_WRITE : PROT_READ,
                        MAP_SHARED, h->fd, (off_t) h->offset);
    return ret->is_mapped = ret->address != MAP_FAILED;
}

/* Address of a location; NULL if it does not lie within the memory. */
static uint8_t *bytes_at(const struct mapping *m, const struct hal_location *l)
{
    return l->offset <= m->size && l->length <= m->size - l->offset ? m->address + l->offset : NULL;
}

/* ---- 3. the prepared model */

struct step {
    const struct kernel *kernel; /* NULL: not supported */
    uint32_t n_in, in[MAX_INPUTS], out;
};

/* Fill in: the output of your compiler instead. */
struct prepared {
    struct hal_prepared_model base;
    uint32_t n_values, n_steps;
    struct value *value;
    struct step *step;
    uint32_t *input, *output; /* indexes of values */
};

static void free_model(struct prepared *p)
{
    for (uint32_t i = 0; p->value && i < p->n_values; i++)
        free(p->value[i].constant);
    free(p->value);
    free(p->step);
    free(p->input);
    free(p->output);
    free(p);
}

static bool has_shape(const struct value *v, uint32_t n_dims, const uint32_t *dims)
{
    return v->n_dims == n_dims && dims && memcmp(v->dims, dims, n_dims * sizeof(*dims)) == 0;
}

/* ---- loading a model */

/* Size of a tensor in bytes; 0 if its shape is not known, its type not supported, or its size over
 * 4 GiB: such operands are legal, but operations on them are not supported.  Fill in: the sizes of
 * more types. */
static size_t bytes_of(const struct value *v)
{
    uint64_t n = sizeof(float);

    for (uint32_t i = 0; i < v->n_dims; i++) {
        n *= v->dims[i];
        if (n > UINT32_MAX)
            return 0;
    }
    return v->type == HAL_TYPE_TENSOR_FLOAT32 && v->n_dims ? n : 0;
}

static bool load_constant(const struct hal_operand *o, const struct mapping *values,
                          const struct mapping *pools, uint32_t n_pools, struct value *v)
{
    const struct mapping *from = values;

    if (o->lifetime == HAL_CONSTANT_REFERENCE && o->location.pool >= n_pools)
        return false;
    if (o->lifetime == HAL_CONSTANT_REFERENCE)
        from = &pools[o->location.pool];
    const uint8_t *bytes = bytes_at(from, &o->location);
    if (!bytes || !o->location.length || (v->bytes && o->location.length != v->bytes) ||
        (v->type == HAL_TYPE_INT32 && o->location.length != sizeof(int32_t)))
        return false;
    v->constant = malloc(o->location.length);
    if (v->constant)
        memcpy(v->constant, bytes, o->location.length);
    return v->constant;
}

/* Fill in: scales, zero points and extra parameters of the types that you support.  False: the
 * operand is invalid.  A valid operand of a type that is not supported is loaded. */
static bool load_operand(const struct hal_operand *o, const struct mapping *values,
                         const struct mapping *pools, uint32_t n_pools, struct value *v)
{
    *v = (struct value){ .type = o->type, .lifetime = o->lifetime, .n_dims = o->n_dims };
    if (o->n_dims > HAL_MAX_RANK || (o->n_dims && !o->dims) || (int) o->lifetime < 0 ||
        o->lifetime > HAL_SUBGRAPH)
        return false;
    if (o->n_dims)
        memcpy(v->dims, o->dims, o->n_dims * sizeof(*o->dims));
    v->bytes = bytes_of(v);
    v->is_set = o->lifetime != HAL_TEMPORARY_VARIABLE && o->lifetime != HAL_SUBGRAPH_OUTPUT;
    return (o->lifetime != HAL_CONSTANT_COPY && o->lifetime != HAL_CONSTANT_REFERENCE) ||
           load_constant(o, values, pools, n_pools, v);
}

static const struct kernel *find_kernel(const struct prepared *p, const struct hal_operation *o)
{
    const struct value *in[MAX_INPUTS];

    if (o->n_inputs > MAX_INPUTS || o->n_outputs != 1)
        return NULL;
    for (uint32_t i = 0; i < o->n_inputs; i++)
        in[i] = &p->value[o->inputs[i]];
    return kernel_for(o->type, o->n_inputs, in, &p->value[o->outputs[0]]);
}

/* Checks that every operand is written only once, and before it is read. */
static bool load_operation(struct prepared *p, const struct hal_operation *o, struct step *s)
{
    if ((o->n_inputs && !o->inputs) || !o->n_outputs || !o->outputs)
        return false;
    for (uint32_t i = 0; i < o->n_inputs; i++)
        if (o->inputs[i] >= p->n_values || !p->value[o->inputs[i]].is_set)
            return false;
    for (uint32_t i = 0; i < o->n_outputs; i++) {
        if (o->outputs[i] >= p->n_values || p->value[o->outputs[i]].is_set)
            return false;
        p->value[o->outputs[i]].is_set = true;
    }
    s->kernel = find_kernel(p, o);
    s->n_in = s->kernel ? o->n_inputs : 0;
    s->out = o->outputs[0];
    for (uint32_t i = 0; i < s->n_in; i++)
        s->in[i] = o->inputs[i];
    return true;
}

static bool load_ends(const struct prepared *p, const uint32_t *list, uint32_t n,
                      enum hal_lifetime lifetime, uint32_t *to)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] >= p->n_values || p->value[list[i]].lifetime != lifetime ||
            !p->value[list[i]].is_set)
            return false;
        to[i] = list[i];
    }
    return true;
}

/* Fill in: the rules of the specification for the operations and types that you support (`halcyon
 * ops NAME` prints them). */
static bool load_graph(struct prepared *p, const struct hal_model *m, const struct mapping *pools)
{
    const struct mapping values = { (uint8_t *) (uintptr_t) m->operand_values,
                                    m->operand_values ? m->operand_values_length : 0, false,
                                    false };
    const struct hal_subgraph *g = &m->main;

    for (uint32_t i = 0; i < g->n_operands; i++)
        if (!load_operand(&g->operands[i], &values, pools, m->n_pools, &p->value[i]))
            return false;
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!load_operation(p, &g->operations[i], &p->step[i]))
            return false;
    return load_ends(p, g->inputs, g->n_inputs, HAL_SUBGRAPH_INPUT, p->input) &&
           load_ends(p, g->outputs, g->n_outputs, HAL_SUBGRAPH_OUTPUT, p->output);
}

static const struct hal_prepared_model_methods prepared_methods;

static struct prepared *new_model(const struct hal_subgraph *g)
{
    struct prepared *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    *p = (struct prepared){
        .base = { &prepared_methods, g->n_inputs, g->n_outputs },
        .n_values = g->n_operands,
        .n_steps = g->n_operations,
        .value = calloc(g->n_operands, sizeof(*p->value)),
        .step = calloc(g->n_operations, sizeof(*p->step)),
        .input = calloc((size_t) g->n_inputs + 1, sizeof(*p->input)),
        .output = calloc(g->n_outputs, sizeof(*p->output)),
    };
    if (p->value && p->step && p->input && p->output)
        return p;
    free_model(p);
    return NULL;
}

static enum hal_status load(enum hal_version version, const struct hal_model *m,
                            struct prepared **ret_model)
{
    const struct hal_subgraph *g = &m->main;
    struct mapping *pools = calloc((size_t) m->n_pools + 1, sizeof(*pools));
    enum hal_status status = HAL_INVALID_ARGUMENT;
    struct prepared *p = NULL;
    uint32_t n = 0;

    if (has_entry(version, HAL_1_0) && g->n_operands && g->operands && g->n_operations &&
        g->operations && g->n_outputs && g->outputs && (!g->n_inputs || g->inputs) &&
        (!m->n_pools || m->pools)) {
        p = new_model(g);
        while (pools && n < m->n_pools && map_one(&m->pools[n], &pools[n]))
            n++;
        if (!p || !pools)
            status = HAL_GENERAL_FAILURE;
        else if (n == m->n_pools && load_graph(p, m, pools))
            status = HAL_NONE;
    }
    unmap(pools, n);
    if (status == HAL_NONE)
        *ret_model = p;
    else if (p)
        free_model(p);
    return status;
}

/* ---- executions */

/* One execution: the address of each value. */
struct run {
    struct mapping *pools;
    uint32_t n_pools;
    uint8_t **data, **own; /* per value; own: allocated by the driver */
    bool is_sufficient;    /* all output buffers are large enough */
};

static bool place_argument(struct run *r, const struct hal_argument *a, const struct value *v,
                           bool is_output, uint8_t **ret)
{
    if (a->has_no_value || a->location.pool >= r->n_pools ||
        (a->n_dims && !has_shape(v, a->n_dims, a->dims)))
        return false;
    const struct mapping *m = &r->pools[a->location.pool];
    *ret = bytes_at(m, &a->location);
    if (is_output && a->location.length < v->bytes)
        r->is_sufficient = false;
    return *ret && (is_output ? m->writable : !v->bytes || a->location.length == v->bytes);
}

static bool place_arguments(const struct prepared *p, const struct hal_request *q, struct run *r)
{
    for (uint32_t i = 0; i < q->n_inputs; i++)
        if (!place_argument(r, &q->inputs[i], &p->value[p->input[i]], false, &r->data[p->input[i]]))
            return false;
    for (uint32_t i = 0; i < q->n_outputs; i++)
        if (!place_argument(r, &q->outputs[i], &p->value[p->output[i]], true,
                            &r->data[p->output[i]]))
            return false;
    return true;
}

/* Fill in: memory pools that are tokens of your own buffers, once you implement allocate(). */
static enum hal_status open_run(const struct prepared *p, const struct hal_request *q,
                                struct run *r)
{
    *r = (struct run){ .is_sufficient = true };
    if (q->n_inputs != p->base.n_inputs || q->n_outputs != p->base.n_outputs || !q->outputs ||
        (q->n_inputs && !q->inputs) || (q->n_pools && !q->pools))
        return HAL_INVALID_ARGUMENT;
    r->pools = calloc((size_t) q->n_pools + 1, sizeof(*r->pools));
    r->data = calloc(p->n_values, sizeof(*r->data));
    r->own = calloc(p->n_values, sizeof(*r->own));
    if (!r->pools || !r->data || !r->own)
        return HAL_GENERAL_FAILURE;
    for (; r->n_pools < q->n_pools; r->n_pools++)
        if (q->pools[r->n_pools].is_token ||
            !map_one(&q->pools[r->n_pools].memory, &r->pools[r->n_pools]))
            return HAL_INVALID_ARGUMENT;
    return place_arguments(p, q, r) ? HAL_NONE : HAL_INVALID_ARGUMENT;
}

static void close_run(const struct prepared *p, struct run *r)
{
    for (uint32_t i = 0; r->own && i < p->n_values; i++)
        free(r->own[i]);
    free(r->own);
    free(r->data);
    unmap(r->pools, r->n_pools);
}

static enum hal_status compute(const struct prepared *p, struct run *r)
{
    for (uint32_t i = 0; i < p->n_values; i++) {
        const struct value *v = &p->value[i];
        if (v->constant)
            r->data[i] = v->constant;
        else if (v->bytes && !r->data[i] && !(r->data[i] = r->own[i] = malloc(v->bytes)))
            return HAL_GENERAL_FAILURE;
    }
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *s = &p->step[i];
        const struct value *in[MAX_INPUTS];
        const uint8_t *data[MAX_INPUTS];
        for (uint32_t k = 0; k < s->n_in; k++) {
            in[k] = &p->value[s->in[k]];
            data[k] = r->data[s->in[k]];
        }
        s->kernel->run(in, data, &p->value[s->out], r->data[s->out]);
    }
    return HAL_NONE;
}

static void report_shapes(const struct prepared *p, const struct hal_request *q,
                          struct hal_result *result)
{
    for (uint32_t i = 0; i < p->base.n_outputs; i++) {
        const struct value *v = &p->value[p->output[i]];
        struct hal_output_shape *s = &result->shapes[i];
        s->n_dims = v->n_dims;
        memcpy(s->dims, v->dims, sizeof(s->dims));
        s->is_sufficient = q->outputs[i].location.length >= v->bytes;
    }
    result->n_shapes = p->base.n_outputs;
}

/* Fill in: result->timing, if config->measure is set; whole microseconds up to HAL 1.3.  For
 * outputs whose shape depends on the inputs (dimensions of 0 in the model): determine the shape
 * before you compute, and return OUTPUT_INSUFFICIENT_SIZE with it if the buffer is too small. */
static enum hal_status run_request(const struct prepared *p, enum hal_version version,
                                   const struct hal_request *request,
                                   const struct hal_execution_config *config,
                                   struct hal_result *result)
{
    struct run r = { 0 };

    if (!has_arguments(version, config))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = open_run(p, request, &r);
    if (status == HAL_NONE)
        status = r.is_sufficient ? compute(p, &r) : HAL_OUTPUT_INSUFFICIENT_SIZE;
    if (version >= HAL_1_2 && (status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE))
        report_shapes(p, request, result);
    close_run(p, &r);
    return status;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    const struct prepared *p = (struct prepared *) self;

    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (!has_entry(version, HAL_1_2) || result->capacity < p->base.n_outputs)
        return HAL_INVALID_ARGUMENT;
    return run_request(p, version, request, config, result);
}

/* Fill in: start the execution, return, and call back when the device is done. */
static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    const struct prepared *p = (struct prepared *) self;
    struct hal_result result = { .capacity = p->base.n_outputs };
    enum hal_status status = HAL_GENERAL_FAILURE;

    result.timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    result.shapes = calloc(p->base.n_outputs, sizeof(*result.shapes));
    if (!has_entry(version, HAL_1_0) || version > HAL_1_3)
        status = HAL_INVALID_ARGUMENT;
    else if (result.shapes)
        status = run_request(p, version, request, config, &result);
    callback->notify(callback, status, result.n_shapes, result.shapes, result.timing);
    free(result.shapes);
    return status == HAL_OUTPUT_INSUFFICIENT_SIZE ? HAL_NONE : status;
}

static void release(struct hal_prepared_model *self)
{
    free_model((struct prepared *) self);
}

/* ---- 4. Fill in: configure_burst (HAL 1.2), execute_fenced (1.3), reusable executions. */
static const struct hal_prepared_model_methods prepared_methods = {
    .execute_synchronously = execute_synchronously,
    .execute = execute,
    .release = release,
};

/* ---- the driver */

/* Members that the version does not have are 0; types that it does not have get no row. */
static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    const struct hal_performance none = { 0, 0 };

    (void) self;
    if (!has_entry(version, HAL_1_0))
        return HAL_INVALID_ARGUMENT;
    *ret_capabilities = capabilities;
    if (version < HAL_1_3)
        ret_capabilities->if_performance = ret_capabilities->while_performance = none;
    while (version < HAL_1_3 && ret_capabilities->n_operands &&
           ret_capabilities->operand[ret_capabilities->n_operands - 1].type >=
               HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED)
        ret_capabilities->n_operands--;
    if (version < HAL_1_2) {
        ret_capabilities->relaxed_scalar = none;
        ret_capabilities->operand = performance_1_0;
        ret_capabilities->n_operands = COUNT(performance_1_0);
    }
    if (version < HAL_1_1)
        ret_capabilities->relaxed_tensor = none;
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    *ret_type = DRIVER_TYPE;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    (void) self;
    *ret_version = DRIVER_VERSION;
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_AVAILABLE;
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct prepared *p = NULL;
    enum hal_status status = load(version, model, &p);

    (void) self;
    if (status != HAL_NONE)
        return status;
    for (uint32_t i = 0; i < p->n_steps; i++)
        supported[i] = p->step[i].kernel;
    *ret_n = p->n_steps;
    free_model(p);
    return HAL_NONE;
}

/* Fill in: deadline and priority (HAL 1.3), cache files (1.2). */
static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct prepared *p = NULL;
    const enum hal_status launched =
        has_options(version, config) ? load(version, model, &p) : HAL_INVALID_ARGUMENT;
    enum hal_status status = launched;

    (void) self;
    /* A valid model that the driver does not support launches; the callback gets the error. */
    for (uint32_t i = 0; status == HAL_NONE && i < p->n_steps; i++)
        if (!p->step[i].kernel)
            status = HAL_INVALID_ARGUMENT;
    if (status != HAL_NONE && p) {
        free_model(p);
        p = NULL;
    }
    callback->notify(callback, status, p ? &p->base : NULL);
    return launched;
}

static void close_driver(struct hal_driver *self)
{
    free(self);
}

/* ---- 4. Fill in: the methods that are NULL here: extensions, caching, allocate (HAL 1.3). */
static const struct hal_driver methods = {
    .abi_version = HAL_ABI_VERSION,
    .hal_version = DRIVER_HAL,
    .lowest_version = DRIVER_LOWEST,
    .name = DRIVER_NAME,
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_status = get_status,
    .get_supported_operations = get_supported_operations,
    .prepare_model = prepare_model,
    .close = close_driver,
};

/* The symbol that Halcyon looks up.  Fill in: open the device; parse arguments, if any. */
hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    const char *reason = abi_version != HAL_ABI_VERSION
                             ? "it was built with another version of hal.h"
                         : *arguments ? "it takes no arguments"
                                      : NULL;
    struct hal_driver *d = reason ? NULL : malloc(sizeof(*d));

    if (d)
        *d = methods;
    else
        snprintf(why, why_size, "%s", reason ? reason : "out of memory");
    return d;
}
