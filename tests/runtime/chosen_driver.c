/* A driver in a shared library that supports chosen operations, and computes as the reference does
 * (of devices in HALCYON_DEVICES, so without commas):
 *
 *     lib:chosen_driver.so?name=a&row=0.5&hal=12&ops=0.1-18-37&execute=2
 *
 *     name               the driver's
 *     row                performance for every type, IF and WHILE
 *     hal                enum hal_version; HAL_FL8
 *     ops                codes of operations, some with a fused activation (third input)
 *     prepare, execute, allocate   statuses of preparations, executions and allocations; NONE
 *     version            the driver's version string; "chosen 1"
 *     inner              target that computes; golden.  With sim:cpu there is a compilation cache
 *     fault              a defect of one call, with its status: NAME.STATUS (call_faults.h)
 *
 * It exports what it was given with preparations (tests/runtime/chosen_driver.h).  Every execution
 * adds the driver's name and a blank to chosen_log, in a burst after a '*'; every buffer the same
 * after a '+'. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/sim.h"
#include "tests/runtime/chosen_driver.h"
#include "tests/runtime/faults/call_faults.h"

#define EXPORTED __attribute__((visibility("default")))

/* Read by tests that have one execution at a time. */
EXPORTED extern char chosen_log[1024];
char chosen_log[1024];
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

enum { MOST_OPERATIONS = 32, ROWS = 3 };

struct chosen {
    int32_t code, activation; /* -1: any */
};

struct chosen_driver {
    struct hal_driver base;
    struct hal_driver *reference;
    char name[64], version[64], inner[64], fault[64];
    float row;
    long prepare, execute, allocate;
    uint32_t n;
    struct chosen operation[MOST_OPERATIONS];
    struct hal_operand_performance rows[ROWS];
};

struct chosen_model {
    struct hal_prepared_model base;
    struct chosen_driver *driver;
    struct hal_prepared_model *reference;
};

struct chosen_burst {
    struct hal_burst base;
    struct chosen_driver *driver;
    struct hal_burst *reference;
};

struct chosen_execution {
    struct hal_execution base;
    struct chosen_driver *driver;
    struct hal_execution *reference;
};

/* Notes the execution; the status that it fails with. */
static enum hal_status note(const struct chosen_driver *d, const char *mark)
{
    pthread_mutex_lock(&log_lock);
    size_t n = strlen(chosen_log);
    snprintf(chosen_log + n, sizeof chosen_log - n, "%s%s ", mark, d->name);
    pthread_mutex_unlock(&log_lock);
    return (enum hal_status) d->execute;
}

static void fail(struct hal_result *result)
{
    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
}

/* ---- executions */

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    const struct chosen_model *m = (const struct chosen_model *) self;
    enum hal_status status = note(m->driver, "");

    if (status == HAL_NONE)
        return m->reference->methods->execute_synchronously(m->reference, version, request, config,
                                                            result);
    fail(result);
    return status;
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    const struct chosen_model *m = (const struct chosen_model *) self;
    enum hal_status status = note(m->driver, "");

    if (status == HAL_NONE)
        return m->reference->methods->execute(m->reference, version, request, config, callback);
    callback->notify(callback, status, 0, NULL, (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME });
    return HAL_NONE;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    const struct chosen_model *m = (const struct chosen_model *) self;
    enum hal_status status = note(m->driver, "");

    if (status == HAL_NONE)
        return m->reference->methods->execute_fenced(m->reference, version, request, n_wait_for,
                                                     wait_for, config, duration, ret_fence,
                                                     ret_info);
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    return status;
}

static enum hal_status run_burst(struct hal_burst *self, const struct hal_request *request,
                                 uint32_t n_identifiers, const int64_t *identifiers,
                                 const struct hal_execution_config *config,
                                 struct hal_result *result)
{
    const struct chosen_burst *b = (const struct chosen_burst *) self;
    enum hal_status status = note(b->driver, "*");

    if (status == HAL_NONE)
        return b->reference->methods->execute_synchronously(b->reference, request, n_identifiers,
                                                            identifiers, config, result);
    fail(result);
    return status;
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    struct hal_burst *b = ((struct chosen_burst *) self)->reference;

    return b->methods->release_memory(b, identifier);
}

static void release_burst(struct hal_burst *self)
{
    struct hal_burst *b = ((struct chosen_burst *) self)->reference;

    b->methods->release(b);
    free(self);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { run_burst, release_memory, release_burst };
    const struct chosen_model *m = (const struct chosen_model *) self;
    struct hal_burst *reference;
    enum hal_status status =
        m->reference->methods->configure_burst(m->reference, version, &reference);

    if (status != HAL_NONE)
        return status;
    struct chosen_burst *b = malloc(sizeof *b);
    *b = (struct chosen_burst){ { &methods }, m->driver, reference };
    *ret_burst = &b->base;
    return HAL_NONE;
}

/* ---- reusable executions */

static enum hal_status run_reusable(struct hal_execution *self, uint64_t deadline,
                                    struct hal_result *result)
{
    const struct chosen_execution *x = (const struct chosen_execution *) self;
    enum hal_status status = note(x->driver, "");

    if (status == HAL_NONE)
        return x->reference->methods->execute_synchronously(x->reference, deadline, result);
    fail(result);
    return status;
}

static enum hal_status run_reusable_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                           const int *wait_for, uint64_t deadline,
                                           uint64_t duration, int *ret_fence,
                                           struct hal_fenced_info **ret_info)
{
    const struct chosen_execution *x = (const struct chosen_execution *) self;
    enum hal_status status = note(x->driver, "");

    if (status == HAL_NONE)
        return x->reference->methods->execute_fenced(x->reference, n_wait_for, wait_for, deadline,
                                                     duration, ret_fence, ret_info);
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    return status;
}

static void release_reusable(struct hal_execution *self)
{
    struct hal_execution *x = ((struct chosen_execution *) self)->reference;

    x->methods->release(x);
    free(self);
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    static const struct hal_execution_methods methods = { run_reusable, run_reusable_fenced,
                                                          release_reusable };
    const struct chosen_model *m = (const struct chosen_model *) self;
    struct hal_execution *reference;
    enum hal_status status =
        m->reference->methods->create_reusable_execution(m->reference, request, config, &reference);

    if (status != HAL_NONE)
        return status;
    struct chosen_execution *x = malloc(sizeof *x);
    *x = (struct chosen_execution){ { &methods }, m->driver, reference };
    *ret_execution = &x->base;
    return HAL_NONE;
}

/* ---- preparation */

static void release_model(struct hal_prepared_model *self)
{
    struct hal_prepared_model *p = ((struct chosen_model *) self)->reference;

    p->methods->release(p);
    free(self);
}

EXPORTED extern struct chosen_record chosen_record;
struct chosen_record chosen_record;

struct preparing {
    struct hal_prepare_callback base, *client;
    struct chosen_driver *driver;
    struct chosen_preparation noted;
};

static void prepared(struct hal_prepare_callback *self, enum hal_status status,
                     struct hal_prepared_model *reference)
{
    static const struct hal_prepared_model_methods methods = {
        .execute_synchronously = execute_synchronously,
        .execute = execute,
        .execute_fenced = execute_fenced,
        .configure_burst = configure_burst,
        .create_reusable_execution = create_reusable_execution,
        .release = release_model,
    };
    struct preparing *p = (struct preparing *) self;
    struct chosen_model *m = NULL;

    if (reference) {
        m = malloc(sizeof *m);
        *m = (struct chosen_model){ { &methods, reference->n_inputs, reference->n_outputs },
                                    p->driver,
                                    reference };
    }
    pthread_mutex_lock(&log_lock);
    if (m && chosen_record.n < CHOSEN_MOST_PREPARATIONS)
        chosen_record.preparation[chosen_record.n++] = p->noted;
    pthread_mutex_unlock(&log_lock);
    p->client->notify(p->client, status, m ? &m->base : NULL);
    free(p);
}

static struct preparing *preparing_new(struct chosen_driver *d,
                                       const struct hal_prepare_config *config,
                                       struct hal_prepare_callback *client, bool is_restored)
{
    struct preparing *p = malloc(sizeof *p);

    *p = (struct preparing){ .base = { prepared }, .client = client, .driver = d };
    snprintf(p->noted.name, sizeof p->noted.name, "%.15s", d->name);
    p->noted.is_restored = is_restored;
    p->noted.n_files = config->cache.n_model + config->cache.n_data;
    memcpy(p->noted.token, config->cache.token, sizeof p->noted.token);
    return p;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct chosen_driver *d = (struct chosen_driver *) self;

    if (d->prepare != HAL_NONE) {
        callback->notify(callback, (enum hal_status) d->prepare, NULL);
        return HAL_NONE;
    }
    return d->reference->prepare_model(d->reference, version, model, config,
                                       &preparing_new(d, config, callback, false)->base);
}

static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    struct chosen_driver *d = (struct chosen_driver *) self;

    return d->reference->prepare_model_from_cache(d->reference, version, config,
                                                  &preparing_new(d, config, callback, true)->base);
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    struct hal_driver *r = ((struct chosen_driver *) self)->reference;

    return r->get_number_of_cache_files_needed(r, ret_n_model, ret_n_data);
}

static bool is_chosen(const struct chosen_driver *d, const struct hal_model *m,
                      const struct hal_operation *o)
{
    for (uint32_t i = 0; i < d->n; i++) {
        int32_t activation;
        if (d->operation[i].code != o->type)
            continue;
        if (d->operation[i].activation < 0)
            return true;
        memcpy(&activation, m->operand_values + m->main.operands[o->inputs[2]].location.offset,
               sizeof activation);
        if (d->operation[i].activation == activation)
            return true;
    }
    return false;
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    (void) version;
    for (uint32_t i = 0; i < model->main.n_operations; i++)
        supported[i] = is_chosen((struct chosen_driver *) self, model, &model->main.operations[i]);
    *ret_n = model->main.n_operations;
    return HAL_NONE;
}

/* ---- buffers */

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_inputs, const struct hal_buffer_role *input,
                                uint32_t n_outputs, const struct hal_buffer_role *output,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    struct chosen_driver *d = (struct chosen_driver *) self;
    struct hal_prepared_model *reference[8];

    note(d, "+");
    if (d->allocate != HAL_NONE)
        return (enum hal_status) d->allocate;
    for (uint32_t i = 0; i < n_models; i++)
        reference[i] = ((struct chosen_model *) models[i])->reference;
    return d->reference->allocate(d->reference, desc, n_models, reference, n_inputs, input,
                                  n_outputs, output, ret_buffer, ret_token);
}

/* ---- the driver */

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret)
{
    static const int32_t types[ROWS] = { HAL_TYPE_TENSOR_FLOAT32, HAL_TYPE_TENSOR_QUANT8_ASYMM,
                                         HAL_TYPE_TENSOR_BOOL8 };
    struct chosen_driver *d = (struct chosen_driver *) self;
    const struct hal_performance p = { d->row, d->row }, none = { 0, 0 };

    for (int i = 0; i < ROWS; i++)
        d->rows[i] = (struct hal_operand_performance){ types[i], p };
    *ret = (struct hal_capabilities){
        version < HAL_1_2 ? none : p,        version < HAL_1_1 ? none : p,
        version < HAL_1_3 ? none : p,        version < HAL_1_3 ? none : p,
        version < HAL_1_2 ? ROWS - 1 : ROWS, d->rows
    };
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    *ret_type = HAL_DEVICE_ACCELERATOR;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    *ret_version = ((struct chosen_driver *) self)->version;
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_AVAILABLE;
}

static void close_driver(struct hal_driver *self)
{
    struct hal_driver *r = ((struct chosen_driver *) self)->reference;

    r->close(r);
    free(self);
}

static void read_operations(struct chosen_driver *d, const char *text)
{
    for (char *end; *text && d->n < MOST_OPERATIONS; text = *end == '-' ? end + 1 : end) {
        struct chosen *o = &d->operation[d->n++];
        o->code = (int32_t) strtol(text, &end, 10);
        o->activation = *end == '.' ? (int32_t) strtol(end + 1, &end, 10) : -1;
    }
}

static void read_argument(struct chosen_driver *d, const char *text)
{
    const char *value = strchr(text, '=') + 1;

    if (strncmp(text, "name=", 5) == 0)
        snprintf(d->name, sizeof d->name, "%s", value);
    if (strncmp(text, "version=", 8) == 0)
        snprintf(d->version, sizeof d->version, "%s", value);
    if (strncmp(text, "inner=", 6) == 0)
        snprintf(d->inner, sizeof d->inner, "%s", value);
    if (strncmp(text, "row=", 4) == 0)
        d->row = (float) atof(value);
    if (strncmp(text, "hal=", 4) == 0)
        d->base.hal_version = (enum hal_version) atoi(value);
    if (strncmp(text, "ops=", 4) == 0)
        read_operations(d, value);
    if (strncmp(text, "prepare=", 8) == 0)
        d->prepare = atol(value);
    if (strncmp(text, "execute=", 8) == 0)
        d->execute = atol(value);
    if (strncmp(text, "allocate=", 9) == 0)
        d->allocate = atol(value);
    if (strncmp(text, "fault=", 6) == 0)
        snprintf(d->fault, sizeof d->fault, "%s", value);
}

EXPORTED hal_driver_open_fn hal_driver_open;

struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    const struct target_host host = { .isolation = ISOLATE_NONE };
    struct chosen_driver *d = calloc(1, sizeof *d);
    char *copy = strdup(arguments), *rest = NULL;
    struct target *t;
    struct why w;

    (void) abi_version;
    d->row = 0.5f;
    strcpy(d->version, "chosen 1");
    strcpy(d->inner, "golden");
    d->base = (struct hal_driver){ .abi_version = HAL_ABI_VERSION,
                                   .hal_version = HAL_FL8,
                                   .lowest_version = HAL_1_0,
                                   .name = d->name,
                                   .get_capabilities = get_capabilities,
                                   .get_type = get_type,
                                   .get_version_string = get_version_string,
                                   .get_status = get_status,
                                   .get_supported_operations = get_supported_operations,
                                   .prepare_model = prepare_model,
                                   .allocate = allocate,
                                   .close = close_driver };
    for (char *at = strtok_r(copy, "&", &rest); at; at = strtok_r(NULL, "&", &rest))
        read_argument(d, at);
    free(copy);
    if (target_open(d->inner, &host, &t, &w) < 0) {
        snprintf(why, why_size, "%s", w.text);
        free(d);
        return NULL;
    }
    d->reference = target_take_driver(t);
    if (d->reference->get_number_of_cache_files_needed) {
        d->base.get_number_of_cache_files_needed = get_number_of_cache_files_needed;
        d->base.prepare_model_from_cache = prepare_model_from_cache;
    }
    return *d->fault ? call_fault_add(&d->base, d->fault) : &d->base;
}
