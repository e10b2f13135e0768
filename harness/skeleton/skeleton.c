/* @NAME@: a driver skeleton, to be filled in.
 *
 * As it is, it runs ADD, SVDF and CONV_2D in some types, and reports all else as not supported.  It
 * compiles as C11 and as C++17.  hal.h is the contract; its first comment has the rules that apply
 * to every method.  hal_validate.h has the checks of models and requests that every driver makes.
 * The parts to replace are marked "Fill in:", in this order:
 *
 *   1. the device: name, version, type, performance
 *   2. kernels.c, kernel_conv_2d.c: the operations that it supports, in which types and shapes
 *   3. the prepared model: here an interpreted copy of the model; yours compiles it
 *   4. the methods that are NULL here: fences, bursts, caching, memory domains */
#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "hal_validate.h"
#include "kernels.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* ---- 1. the device */

/* Fill in: the name of the service, VENDOR-DEVICE; a version that changes with every release; the
 * highest and the lowest version of the HAL that it answers. */
#define DRIVER_NAME    "vendor-@WORD@"
#define DRIVER_VERSION "@NAME@ 0.1"
#define DRIVER_HAL     HAL_1_2
#define DRIVER_LOWEST  HAL_1_0
#define DRIVER_TYPE    HAL_DEVICE_OTHER

/* Fill in: measured performance relative to the CPU implementation, less is better; a row for each
 * supported type, in ascending order of types.  Clients of HAL 1.0 and 1.1 get exactly two rows. */
static const struct hal_operand_performance performance[] = {
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, { 1, 1 } },
};
static const struct hal_operand_performance performance_1_0[] = {
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM, { 1, 1 } },
};
static const struct hal_capabilities capabilities = {
    { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, COUNT(performance), performance,
};

/* ---- failures */

/* Why the last call of this thread failed: Halcyon prints it with the verdict. */
static __thread char failure[HAL_TEXT_BYTES];

__attribute__((format(printf, 2, 3))) static enum hal_status fail(enum hal_status status,
                                                                  const char *format, ...)
{
    va_list values;

    va_start(values, format);
    vsnprintf(failure, sizeof(failure), format, values);
    va_end(values);
    return status;
}

static enum hal_status no_memory(void)
{
    return fail(HAL_GENERAL_FAILURE, "out of memory");
}

static void get_failure_text(struct hal_driver *self, char *ret_text, size_t size)
{
    (void) self;
    snprintf(ret_text, size, "%s", failure);
}

/* Whether the driver has an entry point of this version for a method that exists from `since` to
 * `last`. */
static enum hal_status check_entry(enum hal_version version, enum hal_version since,
                                   enum hal_version last)
{
    if (version < since || version > last || version < DRIVER_LOWEST || version > DRIVER_HAL ||
        version == 14)
        return fail(HAL_INVALID_ARGUMENT, "no such method in HAL version %d", (int) version);
    return HAL_NONE;
}

/* ---- memory of the client */

struct mapping {
    uint8_t *address;
    uint64_t size;
    bool is_mapped;
};

static void unmap(struct mapping *m, uint32_t n)
{
    for (uint32_t i = 0; m && i < n; i++)
        if (m[i].is_mapped)
            munmap(m[i].address, m[i].size);
    free(m);
}

/* False: the file is too short, or cannot be mapped. */
static bool map_one(const struct hal_memory *h, struct mapping *ret)
{
    const int protection = h->protection & HAL_MEMORY_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
    struct stat st;

    ret->address = (uint8_t *) h->address;
    ret->size = h->size;
    ret->is_mapped = false;
    if (h->address)
        return true;
    if (fstat(h->fd, &st) < 0 || h->offset > (uint64_t) st.st_size ||
        h->size > (uint64_t) st.st_size - h->offset)
        return false;
    void *address = mmap(NULL, h->size, protection, MAP_SHARED, h->fd, (off_t) h->offset);
    ret->address = (uint8_t *) address;
    ret->is_mapped = address != MAP_FAILED;
    return ret->is_mapped;
}

/* ---- 3. the prepared model */

struct step {
    const struct kernel *kernel; /* NULL: not supported */
    uint32_t n_in, n_out, in[MAX_INPUTS], out[MAX_OUTPUTS];
};

/* Fill in: the output of your compiler instead. */
struct prepared {
    struct hal_prepared_model base;
    uint32_t n_operands, n_steps;
    struct operand *operand;
    struct step *step;
    uint32_t *input, *output; /* indexes of operands */

    /* The types and dimensions of the operands, which requests are checked against. */
    struct hal_operand *declared;
    struct hal_subgraph main;
};

static void free_model(struct prepared *p)
{
    for (uint32_t i = 0; p->operand && i < p->n_operands; i++) {
        free(p->operand[i].data);
        free(p->operand[i].scales);
    }
    free(p->operand);
    free(p->step);
    free(p->input);
    free(p->output);
    free(p->declared);
    free(p);
}

/* A copy; of size 0 it is not NULL. */
static void *copy(const void *from, size_t size)
{
    void *to = malloc(size ? size : 1);

    if (to && size)
        memcpy(to, from, size);
    return to;
}

/* The arguments of a step among the operands of a model or of an execution. */
static void collect(const struct step *s, struct operand *all, struct arguments *ret)
{
    ret->n_in = s->n_in;
    ret->n_out = s->n_out;
    for (uint32_t i = 0; i < s->n_in; i++)
        ret->in[i] = &all[s->in[i]];
    for (uint32_t i = 0; i < s->n_out; i++)
        ret->out[i] = &all[s->out[i]];
}

/* ---- loading a model that hal_validate_model() has found valid */

/* Where the bytes of a constant are. */
static const uint8_t *constant_bytes(const struct hal_model *m, const struct mapping *pools,
                                     const struct hal_operand *o)
{
    if (o->lifetime == HAL_CONSTANT_COPY)
        return m->operand_values + o->location.offset;
    if (o->lifetime == HAL_CONSTANT_REFERENCE)
        return pools[o->location.pool].address + o->location.offset;
    return NULL;
}

/* Fill in: what else of an operand your kernels need.  False: out of memory. */
static bool load_operand(const struct hal_model *m, const struct mapping *pools,
                         const struct hal_operand *from, struct operand *to)
{
    const uint8_t *bytes = constant_bytes(m, pools, from);

    to->type = from->type;
    to->n_dims = from->n_dims;
    if (from->n_dims)
        memcpy(to->dims, from->dims, from->n_dims * sizeof(*from->dims));
    to->scale = from->scale;
    to->zero = from->zero;
    to->is_omitted = from->lifetime == HAL_NO_VALUE;
    if (from->extra == HAL_EXTRA_CHANNEL_QUANT) {
        to->channel_dim = from->channel_dim;
        to->n_scales = from->n_channel_scales;
        to->scales =
            (float *) copy(from->channel_scales, from->n_channel_scales * sizeof(*to->scales));
        if (!to->scales)
            return false;
    }
    if (bytes)
        to->data = (uint8_t *) copy(bytes, from->location.length);
    return !bytes || to->data;
}

static void load_operation(struct prepared *p, const struct hal_operation *from, struct step *to)
{
    struct arguments a;

    if (from->n_inputs > MAX_INPUTS || from->n_outputs > MAX_OUTPUTS)
        return; /* no kernel */
    to->n_in = from->n_inputs;
    to->n_out = from->n_outputs;
    memcpy(to->in, from->inputs, from->n_inputs * sizeof(*to->in));
    memcpy(to->out, from->outputs, from->n_outputs * sizeof(*to->out));
    collect(to, p->operand, &a);
    to->kernel = kernel_for(from->type, &a);
}

/* ---- executions */

/* One execution: the operands, with their shapes and the addresses of their values. */
struct run {
    const struct prepared *p;
    struct operand *operand;
    uint8_t **own; /* per operand: memory of the driver, or NULL */
    struct mapping *pools;
    uint32_t n_pools;
};

static uint64_t byte_count(const struct operand *o)
{
    const uint64_t n = element_count(o);

    return n == UINT64_MAX ? n : n * element_size(o->type);
}

static void set_dims(struct operand *o, const struct hal_argument *a)
{
    if (!a->n_dims)
        return;
    o->n_dims = a->n_dims;
    memcpy(o->dims, a->dims, a->n_dims * sizeof(*a->dims));
}

/* Memory of an argument; NULL: omitted. */
static uint8_t *place_of(const struct run *r, const struct hal_argument *a)
{
    return a->has_no_value ? NULL : r->pools[a->location.pool].address + a->location.offset;
}

/* Fill in: pools that are tokens of your own buffers, once you implement allocate(). */
static enum hal_status open_run(struct run *r, const struct hal_request *q)
{
    const struct prepared *p = r->p;

    r->operand = (struct operand *) copy(p->operand, p->n_operands * sizeof(*p->operand));
    r->own = (uint8_t **) calloc(p->n_operands, sizeof(*r->own));
    r->pools = (struct mapping *) calloc((size_t) q->n_pools + 1, sizeof(*r->pools));
    if (!r->operand || !r->own || !r->pools)
        return no_memory();
    for (; r->n_pools < q->n_pools; r->n_pools++) {
        if (q->pools[r->n_pools].is_token)
            return fail(HAL_INVALID_ARGUMENT, "pool %u: unknown token", r->n_pools);
        if (!map_one(&q->pools[r->n_pools].memory, &r->pools[r->n_pools]))
            return fail(HAL_INVALID_ARGUMENT, "pool %u cannot be mapped", r->n_pools);
    }
    for (uint32_t i = 0; i < q->n_inputs; i++) {
        struct operand *o = &r->operand[p->input[i]];
        set_dims(o, &q->inputs[i]);
        o->data = place_of(r, &q->inputs[i]);
    }
    return HAL_NONE;
}

static void close_run(struct run *r)
{
    for (uint32_t i = 0; r->own && i < r->p->n_operands; i++)
        free(r->own[i]);
    free(r->own);
    free(r->operand);
    unmap(r->pools, r->n_pools);
}

/* Whether a computed shape has the dimensions that the model and the request specify. */
static bool fits(const struct operand *o, uint32_t n_dims, const uint32_t *dims)
{
    bool good = !n_dims || o->n_dims == n_dims;

    for (uint32_t d = 0; good && d < n_dims; d++)
        good = !dims[d] || dims[d] == o->dims[d];
    return good;
}

static bool has_inputs(const struct step *s, const struct run *r)
{
    for (uint32_t i = 0; i < s->n_in; i++) {
        const struct operand *o = &r->operand[s->in[i]];
        const bool is_argument =
            o->is_omitted || r->p->main.operands[s->in[i]].lifetime == HAL_SUBGRAPH_INPUT;
        if (is_argument && !o->data && !(s->kernel->optional >> i & 1))
            return false;
    }
    return true;
}

/* Computes the shape of every operand from those of the inputs.  Fill in: operations whose shapes
 * follow from values need their inputs computed first. */
static enum hal_status compute_shapes(struct run *r)
{
    struct arguments a;

    for (uint32_t i = 0; i < r->p->n_steps; i++) {
        const struct step *s = &r->p->step[i];
        collect(s, r->operand, &a);
        if (!has_inputs(s, r))
            return fail(HAL_INVALID_ARGUMENT, "operation %u: an input is omitted", i);
        if (!s->kernel->shape(&a))
            return fail(HAL_GENERAL_FAILURE, "operation %u: the shapes of its inputs contradict",
                        i);
        for (uint32_t k = 0; k < s->n_out; k++) {
            const struct operand *declared = &r->p->operand[s->out[k]];
            if (!fits(a.out[k], declared->n_dims, declared->dims) ||
                byte_count(a.out[k]) > UINT32_MAX)
                return fail(HAL_GENERAL_FAILURE, "operation %u: output %u has another shape", i, k);
        }
    }
    return HAL_NONE;
}

/* The outputs in the client's memory: the request's dimensions, and lengths. */
static enum hal_status place_outputs(struct run *r, const struct hal_request *q)
{
    enum hal_status status = HAL_NONE;

    for (uint32_t i = 0; i < q->n_outputs; i++) {
        const struct hal_argument *a = &q->outputs[i];
        struct operand *o = &r->operand[r->p->output[i]];
        if (!fits(o, a->n_dims, a->dims))
            return fail(HAL_GENERAL_FAILURE, "output %u has another shape", i);
        if (!a->has_no_value && a->location.length < byte_count(o))
            status =
                fail(HAL_OUTPUT_INSUFFICIENT_SIZE, "output %u: %llu bytes, needs %llu", i,
                     (unsigned long long) a->location.length, (unsigned long long) byte_count(o));
        o->data = place_of(r, a);
    }
    return status;
}

static enum hal_status compute(struct run *r)
{
    struct arguments a;

    for (uint32_t i = 0; i < r->p->n_steps; i++) {
        const struct step *s = &r->p->step[i];
        collect(s, r->operand, &a);
        for (uint32_t k = 0; k < s->n_out; k++) {
            if (a.out[k]->data)
                continue;
            a.out[k]->data = (uint8_t *) malloc((size_t) byte_count(a.out[k]) + 1);
            if (!a.out[k]->data)
                return no_memory();
            r->own[s->out[k]] = a.out[k]->data;
        }
        s->kernel->run(&a);
    }
    return HAL_NONE;
}

static void report_shapes(const struct run *r, const struct hal_request *q,
                          struct hal_result *result)
{
    for (uint32_t i = 0; i < q->n_outputs; i++) {
        const struct operand *o = &r->operand[r->p->output[i]];
        struct hal_output_shape *s = &result->shapes[i];
        s->n_dims = o->n_dims;
        memcpy(s->dims, o->dims, sizeof(s->dims));
        s->is_sufficient =
            q->outputs[i].has_no_value || q->outputs[i].location.length >= byte_count(o);
    }
    result->n_shapes = q->n_outputs;
}

/* Fill in: result->timing, if config->measure is set; whole microseconds up to HAL 1.3. */
static enum hal_status run_request(const struct prepared *p, enum hal_version version,
                                   const struct hal_request *request,
                                   const struct hal_execution_config *config,
                                   struct hal_result *result)
{
    struct run r = { p, NULL, NULL, NULL, 0 };
    enum hal_status status =
        hal_validate_execution_config(version, config, failure, sizeof(failure));

    if (status == HAL_NONE)
        status = hal_validate_request(version, &p->main, request, failure, sizeof(failure));
    if (status != HAL_NONE)
        return status;
    status = open_run(&r, request);
    if (status == HAL_NONE)
        status = compute_shapes(&r);
    if (status == HAL_NONE)
        status = place_outputs(&r, request);
    if (status == HAL_NONE)
        status = compute(&r);
    if (version >= HAL_1_2 && (status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE))
        report_shapes(&r, request, result);
    close_run(&r);
    return status;
}

static void clear_result(struct hal_result *result)
{
    result->n_shapes = 0;
    result->timing.on_device = result->timing.in_driver = HAL_NO_TIME;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    const struct prepared *p = (struct prepared *) self;
    enum hal_status status = check_entry(version, HAL_1_2, HAL_FL8);

    clear_result(result);
    if (status != HAL_NONE)
        return status;
    if (result->capacity < p->base.n_outputs)
        return fail(HAL_INVALID_ARGUMENT, "no space for the shapes of the outputs");
    return run_request(p, version, request, config, result);
}

/* Fill in: start the execution, return, and call back when the device is done. */
static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    const struct prepared *p = (struct prepared *) self;
    enum hal_status status = check_entry(version, HAL_1_0, HAL_1_3);
    struct hal_result result;

    clear_result(&result);
    result.capacity = p->base.n_outputs;
    result.shapes = (struct hal_output_shape *) calloc(result.capacity, sizeof(*result.shapes));
    if (status == HAL_NONE)
        status = result.shapes ? run_request(p, version, request, config, &result) : no_memory();
    callback->notify(callback, status, result.n_shapes, result.shapes, result.timing);
    free(result.shapes);
    return status == HAL_OUTPUT_INSUFFICIENT_SIZE ? HAL_NONE : status;
}

static void release(struct hal_prepared_model *self)
{
    free_model((struct prepared *) self);
}

/* ---- 4. Fill in: the methods that are NULL here. */
static const struct hal_prepared_model_methods prepared_methods = {
    execute_synchronously,
    execute,
    NULL, /* execute_fenced, HAL 1.3 */
    NULL, /* configure_burst, HAL 1.2 */
    NULL, /* create_reusable_execution, feature level 8 */
    release,
};

/* ---- preparing */

static struct prepared *new_model(const struct hal_subgraph *g)
{
    struct prepared *p = (struct prepared *) calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->base.methods = &prepared_methods;
    p->base.n_inputs = g->n_inputs;
    p->base.n_outputs = g->n_outputs;
    p->n_operands = g->n_operands;
    p->n_steps = g->n_operations;
    p->operand = (struct operand *) calloc(g->n_operands, sizeof(*p->operand));
    p->step = (struct step *) calloc(g->n_operations, sizeof(*p->step));
    p->input = (uint32_t *) copy(g->inputs, g->n_inputs * sizeof(*p->input));
    p->output = (uint32_t *) copy(g->outputs, g->n_outputs * sizeof(*p->output));
    p->declared = (struct hal_operand *) copy(g->operands, g->n_operands * sizeof(*p->declared));
    if (p->operand && p->step && p->input && p->output && p->declared)
        return p;
    free_model(p);
    return NULL;
}

static bool load_graph(struct prepared *p, const struct hal_model *m, const struct mapping *pools)
{
    const struct hal_subgraph *g = &m->main;

    for (uint32_t i = 0; i < g->n_operands; i++) {
        if (!load_operand(m, pools, &g->operands[i], &p->operand[i]))
            return false;
        p->declared[i].dims = p->operand[i].dims;
    }
    for (uint32_t i = 0; i < g->n_operations; i++)
        load_operation(p, &g->operations[i], &p->step[i]);
    p->main.n_operands = g->n_operands;
    p->main.n_inputs = g->n_inputs;
    p->main.n_outputs = g->n_outputs;
    p->main.operands = p->declared;
    p->main.inputs = p->input;
    p->main.outputs = p->output;
    return true;
}

/* Checks a model and copies it into structures of the driver. */
static enum hal_status load(enum hal_version version, const struct hal_model *m,
                            struct prepared **ret_model)
{
    enum hal_status status = check_entry(version, HAL_1_0, HAL_FL8);

    if (status == HAL_NONE)
        status = hal_validate_model(version, m, failure, sizeof(failure));
    if (status != HAL_NONE)
        return status;
    struct mapping *pools = (struct mapping *) calloc((size_t) m->n_pools + 1, sizeof(*pools));
    struct prepared *p = new_model(&m->main);
    uint32_t n = 0;
    while (pools && n < m->n_pools && map_one(&m->pools[n], &pools[n]))
        n++;
    if (!p || !pools)
        status = no_memory();
    else if (n < m->n_pools)
        status = fail(HAL_INVALID_ARGUMENT, "pool %u cannot be mapped", n);
    else if (!load_graph(p, m, pools))
        status = no_memory();
    unmap(pools, n);
    if (status == HAL_NONE)
        *ret_model = p;
    else if (p)
        free_model(p);
    return status;
}

/* A valid model can have operations that the driver does not support. */
static enum hal_status check_supported(const struct prepared *p, const struct hal_model *m)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (!p->step[i].kernel)
            return fail(HAL_INVALID_ARGUMENT,
                        "operation %u (code %d) is not supported with these operands", i,
                        (int) m->main.operations[i].type);
    return HAL_NONE;
}

/* ---- the driver */

/* Members that the version does not have are 0; types that it does not have get no row. */
static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    const struct hal_performance none = { 0, 0 };
    const enum hal_status status = check_entry(version, HAL_1_0, HAL_FL8);

    (void) self;
    if (status != HAL_NONE)
        return status;
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
        supported[i] = p->step[i].kernel != NULL;
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
    enum hal_status launched = load(version, model, &p);

    (void) self;
    if (launched == HAL_NONE)
        launched = hal_validate_prepare_config(version, config, failure, sizeof(failure));
    /* A valid model that the driver does not support launches; the callback gets the error. */
    enum hal_status status = launched == HAL_NONE ? check_supported(p, model) : launched;
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
static void set_methods(struct hal_driver *d)
{
    d->abi_version = HAL_ABI_VERSION;
    d->hal_version = DRIVER_HAL;
    d->lowest_version = DRIVER_LOWEST;
    d->name = DRIVER_NAME;
    d->get_capabilities = get_capabilities;
    d->get_type = get_type;
    d->get_version_string = get_version_string;
    d->get_status = get_status;
    d->get_failure_text = get_failure_text;
    d->get_supported_operations = get_supported_operations;
    d->prepare_model = prepare_model;
    d->close = close_driver;
}

/* The symbol that Halcyon looks up.  Fill in: open the device; parse arguments, if any. */
#ifdef __cplusplus
extern "C"
#endif
    hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    const char *reason = abi_version != HAL_ABI_VERSION
                             ? "it was built with another version of hal.h"
                         : *arguments ? "it takes no arguments"
                                      : NULL;
    struct hal_driver *d = reason ? NULL : (struct hal_driver *) calloc(1, sizeof(*d));

    if (d)
        set_methods(d);
    else
        snprintf(why, why_size, "%s", reason ? reason : "out of memory");
    return d;
}
