/* A driver in a shared library that answers what its arguments tell (of devices in HALCYON_DEVICES,
 * so without commas):
 *
 *     lib:scripted_driver.so?name=a&hal=13&prepare=2&execute=1
 *
 *     name       the driver's; "scripted"
 *     hal        enum hal_version; HAL_FL8
 *     status     of get_status (enum hal_device_status); AVAILABLE
 *     supports   0: no operation
 *     prepare, execute, fenced, wait     statuses of preparations, executions, launches of fenced
 *                executions, and of these at their end; NONE
 *     shapes     0: none, 1: a shape {1} that is sufficient, 2: {1} that is not, 3: {2}
 *     ns         durations that it measures; unknown
 *     fence      1: fenced executions return a fence, which is signalled, 2: which has failed
 *     row        performance; 0.5
 *     models, data, counted     cache files that it needs, and the status of that method; none
 *     restore    status of preparations from the cache; GENERAL_FAILURE
 *
 * It exports what it was given with the last preparation (tests/runtime/scripted_driver.h).
 * An execution that succeeds writes MARKER to every element of its outputs of type FLOAT32. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/runtime/scripted_driver.h"

#define MARKER (-1.0f)

struct script {
    struct hal_driver base;
    char name[64];
    bool was_asked; /* for its status */
    long status, supports, prepare, execute, fenced, wait, shapes, ns, fence;
    long models, data, counted, restore;
    float row;
};

struct prepared {
    struct hal_prepared_model base;
    const struct script *script;
};
struct burst {
    struct hal_burst base;
    struct prepared *prepared;
};
struct reusable {
    struct hal_execution base;
    struct prepared *prepared;
    struct hal_request request;
};
struct info {
    struct hal_fenced_info base;
    const struct script *script;
};

/* ---- executions */

static void write_marker(const struct hal_request *request)
{
    for (uint32_t i = 0; i < request->n_outputs; i++) {
        const struct hal_argument *a = &request->outputs[i];
        if (a->has_no_value)
            continue;
        uint8_t *at = (uint8_t *) request->pools[a->location.pool].memory.address;
        for (uint64_t k = 0; k + sizeof(float) <= a->location.length; k += sizeof(float))
            memcpy(at + a->location.offset + k, &(float){ MARKER }, sizeof(float));
    }
}

static struct hal_timing timing(const struct script *s)
{
    const uint64_t ns = s->ns < 0 ? HAL_NO_TIME : (uint64_t) s->ns;

    return (struct hal_timing){ ns, ns };
}

static enum hal_status run(const struct script *s, const struct hal_request *request, bool measure,
                           struct hal_result *result)
{
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    result->n_shapes = s->shapes ? request->n_outputs : 0;
    for (uint32_t i = 0; i < result->n_shapes; i++)
        result->shapes[i] =
            (struct hal_output_shape){ 1, { s->shapes == 3 ? 2 : 1 }, s->shapes != 2 };
    if (s->execute != HAL_NONE)
        return (enum hal_status) s->execute;
    if (measure)
        result->timing = timing(s);
    write_marker(request);
    return HAL_NONE;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    (void) version;
    return run(((struct prepared *) self)->script, request, config->measure, result);
}

static enum hal_status execute(struct hal_prepared_model *self, enum hal_version version,
                               const struct hal_request *request,
                               const struct hal_execution_config *config,
                               struct hal_execution_callback *callback)
{
    struct hal_output_shape shapes[4];
    struct hal_result result = { .shapes = shapes, .capacity = 4 };
    enum hal_status status =
        run(((struct prepared *) self)->script, request, config->measure, &result);

    if (version < HAL_1_2)
        result.n_shapes = 0;
    callback->notify(callback, status, result.n_shapes, result.shapes, result.timing);
    return HAL_NONE;
}

/* ---- fenced */

static enum hal_status get_info(struct hal_fenced_info *self, struct hal_timing *ret_launched,
                                struct hal_timing *ret_fenced)
{
    const struct script *s = ((struct info *) self)->script;

    *ret_launched = *ret_fenced = timing(s);
    return (enum hal_status) s->wait;
}

static void release_info(struct hal_fenced_info *self)
{
    free(self);
}

static int open_fence(const struct script *s)
{
    int ends[2];

    if (s->fence == 1)
        return eventfd(1, EFD_CLOEXEC);
    if (s->fence != 2 || pipe(ends) < 0)
        return HAL_NO_FENCE;
    close(ends[1]); /* without a byte: an error */
    return ends[0];
}

static enum hal_status launch(const struct script *s, const struct hal_request *request,
                              int *ret_fence, struct hal_fenced_info **ret_info)
{
    static const struct hal_fenced_info_methods methods = { get_info, release_info };
    struct info *i = NULL;

    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    if (s->fenced != HAL_NONE)
        return (enum hal_status) s->fenced;
    i = malloc(sizeof(*i));
    if (!i)
        return HAL_GENERAL_FAILURE;
    *i = (struct info){ { &methods }, s };
    *ret_info = &i->base;
    *ret_fence = open_fence(s);
    write_marker(request);
    return HAL_NONE;
}

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    (void) version, (void) n_wait_for, (void) wait_for, (void) config, (void) duration;
    return launch(((struct prepared *) self)->script, request, ret_fence, ret_info);
}

/* ---- bursts and reusable executions */

static enum hal_status run_burst(struct hal_burst *self, const struct hal_request *request,
                                 uint32_t n_identifiers, const int64_t *identifiers,
                                 const struct hal_execution_config *config,
                                 struct hal_result *result)
{
    (void) n_identifiers, (void) identifiers;
    return run(((struct burst *) self)->prepared->script, request, config->measure, result);
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    (void) self;
    return identifier < 0 ? HAL_INVALID_ARGUMENT : HAL_NONE;
}

static void release_burst(struct hal_burst *self)
{
    free(self);
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { run_burst, release_memory, release_burst };
    struct burst *b = malloc(sizeof(*b));

    (void) version;
    *b = (struct burst){ { &methods }, (struct prepared *) self };
    *ret_burst = &b->base;
    return HAL_NONE;
}

static enum hal_status run_reusable(struct hal_execution *self, uint64_t deadline,
                                    struct hal_result *result)
{
    struct reusable *r = (struct reusable *) self;

    (void) deadline;
    return run(r->prepared->script, &r->request, true, result);
}

static enum hal_status run_reusable_fenced(struct hal_execution *self, uint32_t n_wait_for,
                                           const int *wait_for, uint64_t deadline,
                                           uint64_t duration, int *ret_fence,
                                           struct hal_fenced_info **ret_info)
{
    struct reusable *r = (struct reusable *) self;

    (void) n_wait_for, (void) wait_for, (void) deadline, (void) duration;
    return launch(r->prepared->script, &r->request, ret_fence, ret_info);
}

static void release_reusable(struct hal_execution *self)
{
    struct reusable *r = (struct reusable *) self;

    free((void *) (uintptr_t) r->request.outputs);
    free((void *) (uintptr_t) r->request.pools);
    free(r);
}

static enum hal_status create_reusable_execution(struct hal_prepared_model *self,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution **ret_execution)
{
    static const struct hal_execution_methods methods = { run_reusable, run_reusable_fenced,
                                                          release_reusable };
    const size_t n_outputs = request->n_outputs * sizeof(*request->outputs),
                 n_pools = request->n_pools * sizeof(*request->pools);
    struct reusable *r = malloc(sizeof(*r));

    (void) config;
    *r = (struct reusable){ { &methods }, (struct prepared *) self, *request };
    r->request.outputs = memcpy(malloc(n_outputs), request->outputs, n_outputs);
    r->request.pools = memcpy(malloc(n_pools), request->pools, n_pools);
    *ret_execution = &r->base;
    return HAL_NONE;
}

/* ---- the driver */

static void release_prepared(struct hal_prepared_model *self)
{
    free(self);
}

static void answer(const struct script *s, long status, uint32_t n_inputs, uint32_t n_outputs,
                   struct hal_prepare_callback *callback)
{
    static const struct hal_prepared_model_methods methods = {
        execute_synchronously,     execute,         execute_fenced, configure_burst,
        create_reusable_execution, release_prepared
    };
    struct prepared *p = NULL;

    if (status == HAL_NONE) {
        p = malloc(sizeof(*p));
        *p = (struct prepared){ { &methods, n_inputs, n_outputs }, s };
    }
    callback->notify(callback, (enum hal_status) status, p ? &p->base : NULL);
}

__attribute__((visibility("default"))) struct scripted_record scripted_record;

static void record(const struct hal_prepare_config *config)
{
    scripted_record.n_model = config->cache.n_model;
    scripted_record.n_data = config->cache.n_data;
    memcpy(scripted_record.token, config->cache.token, sizeof(scripted_record.token));
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    const struct script *s = (const struct script *) self;

    (void) version;
    scripted_record.prepared++;
    record(config);
    scripted_record.n_inputs = model->main.n_inputs;
    scripted_record.n_outputs = model->main.n_outputs;
    answer(s, s->prepare, model->main.n_inputs, model->main.n_outputs, callback);
    return HAL_NONE;
}

/* The model prepared last. */
static enum hal_status prepare_model_from_cache(struct hal_driver *self, enum hal_version version,
                                                const struct hal_prepare_config *config,
                                                struct hal_prepare_callback *callback)
{
    const struct script *s = (const struct script *) self;

    (void) version;
    scripted_record.restored++;
    record(config);
    answer(s, s->restore, scripted_record.n_inputs, scripted_record.n_outputs, callback);
    return HAL_NONE;
}

static enum hal_status get_number_of_cache_files_needed(struct hal_driver *self,
                                                        uint32_t *ret_n_model, uint32_t *ret_n_data)
{
    const struct script *s = (const struct script *) self;

    *ret_n_model = s->counted == HAL_NONE ? (uint32_t) s->models : 0;
    *ret_n_data = s->counted == HAL_NONE ? (uint32_t) s->data : 0;
    return (enum hal_status) s->counted;
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    (void) version;
    for (uint32_t i = 0; i < model->main.n_operations; i++)
        supported[i] = ((struct script *) self)->supports;
    *ret_n = model->main.n_operations;
    return HAL_NONE;
}

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret)
{
    static struct hal_operand_performance rows[2];
    const float row = ((struct script *) self)->row;
    const struct hal_performance p = { row, row }, none = { 0, 0 };

    rows[0] = (struct hal_operand_performance){ HAL_TYPE_TENSOR_FLOAT32, p };
    rows[1] = (struct hal_operand_performance){ HAL_TYPE_TENSOR_QUANT8_ASYMM, p };
    *ret = (struct hal_capabilities){ version < HAL_1_2 ? none : p,
                                      version < HAL_1_1 ? none : p,
                                      version < HAL_1_3 ? none : p,
                                      version < HAL_1_3 ? none : p,
                                      2,
                                      rows };
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
    (void) self;
    *ret_version = "script 1";
    return HAL_NONE;
}

/* The list of devices needs it available; later it is what the script tells. */
static enum hal_device_status get_status(struct hal_driver *self)
{
    struct script *s = (struct script *) self;
    enum hal_device_status status =
        s->was_asked ? (enum hal_device_status) s->status : HAL_DEVICE_AVAILABLE;

    s->was_asked = true;
    return status;
}

static void close_driver(struct hal_driver *self)
{
    free(self);
}

static void read_argument(struct script *s, const char *text)
{
    const struct {
        const char *name;
        long *to;
    } numbers[] = { { "supports=", &s->supports },
                    { "prepare=", &s->prepare },
                    { "execute=", &s->execute },
                    { "fenced=", &s->fenced },
                    { "wait=", &s->wait },
                    { "shapes=", &s->shapes },
                    { "ns=", &s->ns },
                    { "fence=", &s->fence },
                    { "status=", &s->status },
                    { "models=", &s->models },
                    { "data=", &s->data },
                    { "counted=", &s->counted },
                    { "restore=", &s->restore } };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
        if (strncmp(text, numbers[i].name, strlen(numbers[i].name)) == 0)
            *numbers[i].to = atol(text + strlen(numbers[i].name));
    if (strncmp(text, "hal=", 4) == 0)
        s->base.hal_version = (enum hal_version) atoi(text + 4);
    if (strncmp(text, "row=", 4) == 0)
        s->row = (float) atof(text + 4);
    if (strncmp(text, "name=", 5) == 0)
        snprintf(s->name, sizeof(s->name), "%s", text + 5);
}

__attribute__((visibility("default"))) hal_driver_open_fn hal_driver_open;

struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    struct script *s = malloc(sizeof(*s));
    char *copy = strdup(arguments), *rest = NULL;

    (void) abi_version, (void) why, (void) why_size;
    *s = (struct script){ .base = { .abi_version = HAL_ABI_VERSION,
                                    .hal_version = HAL_FL8,
                                    .lowest_version = HAL_1_0,
                                    .get_capabilities = get_capabilities,
                                    .get_type = get_type,
                                    .get_version_string = get_version_string,
                                    .get_status = get_status,
                                    .get_supported_operations = get_supported_operations,
                                    .get_number_of_cache_files_needed =
                                        get_number_of_cache_files_needed,
                                    .prepare_model = prepare_model,
                                    .prepare_model_from_cache = prepare_model_from_cache,
                                    .close = close_driver },
                          .name = "scripted",
                          .restore = HAL_GENERAL_FAILURE,
                          .supports = 1,
                          .ns = -1,
                          .row = 0.5f };
    for (char *at = strtok_r(copy, "&", &rest); at; at = strtok_r(NULL, "&", &rest))
        read_argument(s, at);
    free(copy);
    s->base.name = s->name;
    return &s->base;
}
