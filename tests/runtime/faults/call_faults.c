#include "tests/runtime/faults/call_faults.h"

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/fence.h"
#include "sim/faulty/faulty.h"
#include "sim/hal/hal_result.h"

__attribute__((visibility("default"))) uint32_t call_faults_met;

static enum hal_status failing = HAL_GENERAL_FAILURE;

static bool is_deadly;

static enum hal_status fail(void)
{
    call_faults_met++;
    if (is_deadly)
        raise(SIGKILL);
    return failing;
}

static void meet(void)
{
    call_faults_met++;
}

/* ---- properties */

static enum hal_status capabilities_fail(struct hal_driver *self, enum hal_version version,
                                         struct hal_capabilities *ret)
{
    (void) self, (void) version, (void) ret;
    return fail();
}

static enum hal_status no_performance(struct hal_driver *self, enum hal_version version,
                                      struct hal_capabilities *ret)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_capabilities(d, version, ret);

    meet();
    ret->relaxed_tensor.exec_time = 0;
    return status;
}

static enum hal_status no_rows(struct hal_driver *self, enum hal_version version,
                               struct hal_capabilities *ret)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_capabilities(d, version, ret);

    meet();
    ret->operand = NULL;
    return status;
}

static enum hal_status type_fails(struct hal_driver *self, enum hal_device_type *ret)
{
    (void) self, (void) ret;
    return fail();
}

static enum hal_status no_such_type(struct hal_driver *self, enum hal_device_type *ret)
{
    (void) self;
    meet();
    *ret = (enum hal_device_type) 9;
    return HAL_NONE;
}

static enum hal_status version_fails(struct hal_driver *self, const char **ret)
{
    (void) self, (void) ret;
    return fail();
}

static enum hal_status no_version(struct hal_driver *self, const char **ret)
{
    (void) self;
    meet();
    *ret = NULL;
    return HAL_NONE;
}

static enum hal_status extensions_fail(struct hal_driver *self, uint32_t *ret_n,
                                       const struct hal_extension **ret)
{
    (void) self, (void) ret_n, (void) ret;
    return fail();
}

static enum hal_status no_extensions(struct hal_driver *self, uint32_t *ret_n,
                                     const struct hal_extension **ret)
{
    (void) self;
    meet();
    *ret_n = 3;
    *ret = NULL;
    return HAL_NONE;
}

static enum hal_status files_fail(struct hal_driver *self, uint32_t *ret_n_model,
                                  uint32_t *ret_n_data)
{
    (void) self, (void) ret_n_model, (void) ret_n_data;
    return fail();
}

static enum hal_status many_files(struct hal_driver *self, uint32_t *ret_n_model,
                                  uint32_t *ret_n_data)
{
    (void) self;
    meet();
    *ret_n_model = 0;
    *ret_n_data = HAL_MAX_CACHE_FILES + 1;
    return HAL_NONE;
}

static enum hal_status one_file(struct hal_driver *self, uint32_t *ret_n_model,
                                uint32_t *ret_n_data)
{
    (void) self;
    *ret_n_model = 1;
    *ret_n_data = 0;
    return HAL_NONE;
}

static enum hal_device_status offline(struct hal_driver *self)
{
    (void) self;
    meet();
    return HAL_DEVICE_OFFLINE;
}

/* ---- supported operations */

static enum hal_status support_fails(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model, bool *supported,
                                     uint32_t *ret_n)
{
    (void) self, (void) version, (void) model, (void) supported, (void) ret_n;
    return fail();
}

static enum hal_status support_of_few(struct hal_driver *self, enum hal_version version,
                                      const struct hal_model *model, bool *supported,
                                      uint32_t *ret_n)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_supported_operations(d, version, model, supported, ret_n);

    meet();
    --*ret_n;
    return status;
}

static enum hal_status support_of_many(struct hal_driver *self, enum hal_version version,
                                       const struct hal_model *model, bool *supported,
                                       uint32_t *ret_n)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    enum hal_status status = d->get_supported_operations(d, version, model, supported, ret_n);

    meet();
    *ret_n += 1000;
    return status;
}

/* ---- preparations */

static enum hal_status launch_fails(struct hal_driver *self, enum hal_version version,
                                    const struct hal_model *model,
                                    const struct hal_prepare_config *config,
                                    struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) model, (void) config;
    return hal_fail_preparation(callback, fail());
}

static enum hal_status preparation_fails(struct hal_driver *self, enum hal_version version,
                                         const struct hal_model *model,
                                         const struct hal_prepare_config *config,
                                         struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) model, (void) config;
    callback->notify(callback, fail(), NULL);
    return HAL_NONE;
}

static void without_model(struct hal_prepare_callback *client, enum hal_status status,
                          struct faulty_model *m)
{
    (void) status;
    meet();
    if (m)
        m->base.methods->release(&m->base);
    client->notify(client, HAL_NONE, NULL);
}

static void with_status(struct hal_prepare_callback *client, enum hal_status status,
                        struct faulty_model *m)
{
    (void) status;
    client->notify(client, fail(), m ? &m->base : NULL);
}

static void with_arity(struct hal_prepare_callback *client, enum hal_status status,
                       struct faulty_model *m)
{
    meet();
    if (m)
        m->base.n_inputs++;
    client->notify(client, status, m ? &m->base : NULL);
}

static void without_methods(struct hal_prepare_callback *client, enum hal_status status,
                            struct faulty_model *m)
{
    static struct hal_prepared_model hollow = { NULL, 2, 1 };

    meet();
    if (m)
        m->base.methods->release(&m->base);
    client->notify(client, status, &hollow);
}

static void called_twice(struct hal_prepare_callback *client, enum hal_status status,
                         struct faulty_model *m)
{
    meet();
    client->notify(client, status, m ? &m->base : NULL);
    client->notify(client, HAL_GENERAL_FAILURE, NULL);
}

/* The launch fails, the callback brings a prepared model. */
static enum hal_status contradictory(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    d->prepare_model(d, version, model, config, callback);
    return fail();
}

static enum hal_status silent(struct hal_driver *self, enum hal_version version,
                              const struct hal_model *model,
                              const struct hal_prepare_config *config,
                              struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) model, (void) config, (void) callback;
    return fail();
}

static enum hal_status restoring_fails(struct hal_driver *self, enum hal_version version,
                                       const struct hal_prepare_config *config,
                                       struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) config;
    return hal_fail_preparation(callback, fail());
}

static enum hal_status nothing_restored(struct hal_driver *self, enum hal_version version,
                                        const struct hal_prepare_config *config,
                                        struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) config;
    meet();
    callback->notify(callback, HAL_NONE, NULL);
    return HAL_NONE;
}

/* ---- executions */

static enum hal_status failed(struct hal_result *result)
{
    hal_clear_result(result);
    return fail();
}

static enum hal_status execution_fails(struct hal_prepared_model *self, enum hal_version version,
                                       const struct hal_request *request,
                                       const struct hal_execution_config *config,
                                       struct hal_result *result)
{
    (void) self, (void) version, (void) request, (void) config;
    return failed(result);
}

static enum hal_status burst_fails(struct hal_burst *self, const struct hal_request *request,
                                   uint32_t n_identifiers, const int64_t *identifiers,
                                   const struct hal_execution_config *config,
                                   struct hal_result *result)
{
    (void) self, (void) request, (void) n_identifiers, (void) identifiers, (void) config;
    return failed(result);
}

static enum hal_status reusable_fails(struct hal_execution *self, uint64_t deadline,
                                      struct hal_result *result)
{
    (void) self, (void) deadline;
    return failed(result);
}

static enum hal_status asynchronous_launch_fails(struct hal_prepared_model *self,
                                                 enum hal_version version,
                                                 const struct hal_request *request,
                                                 const struct hal_execution_config *config,
                                                 struct hal_execution_callback *callback)
{
    (void) self, (void) version, (void) request, (void) config;
    return hal_fail_execution(callback, fail());
}

static enum hal_status asynchronous_fails(struct hal_prepared_model *self, enum hal_version version,
                                          const struct hal_request *request,
                                          const struct hal_execution_config *config,
                                          struct hal_execution_callback *callback)
{
    (void) self, (void) version, (void) request, (void) config;
    callback->notify(callback, fail(), 0, NULL, hal_unknown_timing);
    return HAL_NONE;
}

static void executed_twice(struct hal_execution_callback *client, enum hal_status status,
                           const struct hal_result *result)
{
    meet();
    client->notify(client, status, result->n_shapes, result->shapes, result->timing);
    client->notify(client, status, result->n_shapes, result->shapes, result->timing);
}

/* Shapes that contradict the request {2} or the status. */
static void report(struct faulty_call *x, uint32_t n, uint32_t rank, uint32_t dim,
                   bool is_sufficient)
{
    if (!x->result)
        return; /* fenced */
    meet();
    x->result->n_shapes = n;
    x->result->shapes[0] = (struct hal_output_shape){ rank, { dim }, is_sufficient };
}

static void other_shape(struct faulty_call *x)
{
    report(x, 1, 1, 3, true);
}

static void other_rank(struct faulty_call *x)
{
    report(x, 1, UINT32_MAX, 2, true);
}

static void many_shapes(struct faulty_call *x)
{
    report(x, 1u << 30, 1, 2, true);
}

static void too_small(struct faulty_call *x)
{
    report(x, 1, 1, 2, false);
}

static void small_without_shape(struct faulty_call *x)
{
    report(x, 0, 0, 0, false);
    if (x->result)
        x->status = HAL_OUTPUT_INSUFFICIENT_SIZE;
}

static void small(struct faulty_call *x)
{
    report(x, 1, 1, 2, false);
    if (x->result)
        x->status = HAL_OUTPUT_INSUFFICIENT_SIZE;
}

static void failed_with_shape(struct faulty_call *x)
{
    report(x, 1, 1, 2, true);
    if (x->result)
        x->status = failing;
}

/* ---- with fences */

static enum hal_status fenced_fails(struct hal_prepared_model *self, enum hal_version version,
                                    const struct hal_request *request, uint32_t n_wait_for,
                                    const int *wait_for, const struct hal_execution_config *config,
                                    uint64_t duration, int *ret_fence,
                                    struct hal_fenced_info **ret_info)
{
    (void) self, (void) version, (void) request, (void) n_wait_for, (void) wait_for;
    (void) config, (void) duration;
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    return fail();
}

static enum hal_status reusable_fenced_fails(struct hal_execution *self, uint32_t n_wait_for,
                                             const int *wait_for, uint64_t deadline,
                                             uint64_t duration, int *ret_fence,
                                             struct hal_fenced_info **ret_info)
{
    (void) self, (void) n_wait_for, (void) wait_for, (void) deadline, (void) duration;
    *ret_fence = HAL_NO_FENCE;
    *ret_info = NULL;
    return fail();
}

static enum hal_status info_fails(struct hal_fenced_info *self, struct hal_timing *ret_launched,
                                  struct hal_timing *ret_fenced)
{
    struct hal_fenced_info *inner = ((struct faulty_info *) self)->inner;

    inner->methods->get_execution_info(inner, ret_launched, ret_fenced);
    *ret_launched = *ret_fenced = hal_unknown_timing;
    return fail();
}

static enum hal_status done(struct hal_fenced_info *self, struct hal_timing *ret_launched,
                            struct hal_timing *ret_fenced)
{
    (void) self;
    *ret_launched = *ret_fenced = hal_unknown_timing;
    return HAL_NONE;
}

static void keep(struct hal_fenced_info *self)
{
    (void) self;
}

/* A fenced execution that has nothing behind it. */
static struct hal_fenced_info *hollow_info(void)
{
    static const struct hal_fenced_info_methods methods = { done, keep };
    static struct hal_fenced_info info = { &methods };

    return &info;
}

/* A signalled fence, or one that has failed. */
static int own_fence(bool ok)
{
    struct fence f;

    if (fence_open(&f) < 0)
        abort();
    fence_complete(&f, ok);
    return f.wait;
}

#define FENCED(function, status, fence, info)                                                      \
    static enum hal_status function(struct hal_prepared_model *self, enum hal_version version,     \
                                    const struct hal_request *request, uint32_t n_wait_for,        \
                                    const int *wait_for,                                           \
                                    const struct hal_execution_config *config, uint64_t duration,  \
                                    int *ret_fence, struct hal_fenced_info **ret_info)             \
    {                                                                                              \
        (void) self, (void) version, (void) request, (void) n_wait_for, (void) wait_for;           \
        (void) config, (void) duration;                                                            \
        meet();                                                                                    \
        *ret_fence = (fence);                                                                      \
        *ret_info = (info);                                                                        \
        return status;                                                                             \
    }
FENCED(fenced_without_info, HAL_NONE, own_fence(true), NULL)
FENCED(fenced_without_fence, HAL_NONE, INT_MAX, hollow_info())
FENCED(fenced_to_fail, HAL_NONE, own_fence(false), hollow_info())
/* The driver keeps what it gives with a failure. */
FENCED(fenced_contradictory, HAL_GENERAL_FAILURE, STDERR_FILENO, hollow_info())
#undef FENCED

/* ---- bursts and reusable executions */

static enum hal_status no_burst(struct hal_prepared_model *self, enum hal_version version,
                                struct hal_burst **ret_burst)
{
    (void) self, (void) version, (void) ret_burst;
    return fail();
}

static enum hal_status null_burst(struct hal_prepared_model *self, enum hal_version version,
                                  struct hal_burst **ret_burst)
{
    (void) self, (void) version;
    meet();
    *ret_burst = NULL;
    return HAL_NONE;
}

static enum hal_status memory_stays(struct hal_burst *self, int64_t identifier)
{
    (void) self, (void) identifier;
    return fail();
}

static enum hal_status no_reusable(struct hal_prepared_model *self,
                                   const struct hal_request *request,
                                   const struct hal_execution_config *config,
                                   struct hal_execution **ret_execution)
{
    (void) self, (void) request, (void) config, (void) ret_execution;
    return fail();
}

static enum hal_status null_reusable(struct hal_prepared_model *self,
                                     const struct hal_request *request,
                                     const struct hal_execution_config *config,
                                     struct hal_execution **ret_execution)
{
    (void) self, (void) request, (void) config;
    meet();
    *ret_execution = NULL;
    return HAL_NONE;
}

/* ---- buffers */

static enum hal_status no_buffer(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                 uint32_t n_models, struct hal_prepared_model *const *models,
                                 uint32_t n_inputs, const struct hal_buffer_role *inputs,
                                 uint32_t n_outputs, const struct hal_buffer_role *outputs,
                                 struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    (void) self, (void) desc, (void) n_models, (void) models, (void) n_inputs, (void) inputs;
    (void) n_outputs, (void) outputs;
    *ret_buffer = NULL;
    *ret_token = 0;
    return fail();
}

static enum hal_status null_buffer(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                   uint32_t n_models, struct hal_prepared_model *const *models,
                                   uint32_t n_inputs, const struct hal_buffer_role *inputs,
                                   uint32_t n_outputs, const struct hal_buffer_role *outputs,
                                   struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    (void) self, (void) desc, (void) n_models, (void) models, (void) n_inputs, (void) inputs;
    (void) n_outputs, (void) outputs;
    meet();
    *ret_buffer = NULL;
    *ret_token = 5;
    return HAL_NONE;
}

static void token_0(struct faulty_driver *d, enum hal_status status, uint32_t *token)
{
    (void) d, (void) status;
    meet();
    *token = 0;
}

static void token_again(struct faulty_driver *d, enum hal_status status, uint32_t *token)
{
    (void) d, (void) status;
    meet();
    *token = 77;
}

static enum hal_status copy_to_fails(struct hal_buffer *self, const struct hal_memory *to)
{
    (void) self, (void) to;
    return fail();
}

static enum hal_status copy_from_fails(struct hal_buffer *self, const struct hal_memory *from,
                                       uint32_t n_dims, const uint32_t *dims)
{
    (void) self, (void) from, (void) n_dims, (void) dims;
    return fail();
}

/* ---- rows */

#define ROW(name, ...) BREAKS(name, NULL, NULL, NULL, __VA_ARGS__)

static const struct fault rows[] = {
    ROW("capabilities", .driver.get_capabilities = capabilities_fail),
    ROW("no-performance", .driver.get_capabilities = no_performance),
    ROW("no-rows", .driver.get_capabilities = no_rows),
    ROW("type", .driver.get_type = type_fails),
    ROW("no-type", .driver.get_type = no_such_type),
    ROW("version", .driver.get_version_string = version_fails),
    ROW("no-version", .driver.get_version_string = no_version),
    ROW("extensions", .driver.get_supported_extensions = extensions_fail),
    ROW("no-extensions", .driver.get_supported_extensions = no_extensions),
    ROW("files", .driver.get_number_of_cache_files_needed = files_fail),
    ROW("many-files", .driver.get_number_of_cache_files_needed = many_files),
    ROW("offline", .driver.get_status = offline),
    ROW("support", .driver.get_supported_operations = support_fails),
    ROW("support-of-few", .driver.get_supported_operations = support_of_few),
    ROW("support-of-many", .driver.get_supported_operations = support_of_many),
    ROW("launch", .driver.prepare_model = launch_fails),
    ROW("silent", .driver.prepare_model = silent),
    ROW("prepare", .driver.prepare_model = preparation_fails),
    ROW("no-model", .prepared = without_model),
    ROW("model-and-status", .prepared = with_status),
    ROW("arity", .prepared = with_arity),
    ROW("no-methods", .prepared = without_methods),
    ROW("prepared-twice", .prepared = called_twice),
    ROW("contradictory", .driver.prepare_model = contradictory),
    ROW("restore", .driver.get_number_of_cache_files_needed = one_file,
        .driver.prepare_model_from_cache = restoring_fails),
    ROW("no-restored", .driver.get_number_of_cache_files_needed = one_file,
        .driver.prepare_model_from_cache = nothing_restored),
    ROW("execute", .model.execute_synchronously = execution_fails),
    ROW("asynchronous-launch", .model.execute = asynchronous_launch_fails),
    ROW("asynchronous", .model.execute = asynchronous_fails),
    ROW("executed-twice", .executed = executed_twice),
    ROW("other-shape", .after = other_shape),
    ROW("other-rank", .after = other_rank),
    ROW("many-shapes", .after = many_shapes),
    ROW("too-small", .after = too_small),
    ROW("small-without-shape", .after = small_without_shape),
    ROW("small", .after = small),
    ROW("failed-with-shape", .after = failed_with_shape),
    ROW("fenced", .model.execute_fenced = fenced_fails),
    ROW("no-info", .model.execute_fenced = fenced_without_info),
    ROW("no-fence", .model.execute_fenced = fenced_without_fence),
    ROW("failed-fence", .model.execute_fenced = fenced_to_fail),
    ROW("fence-and-status", .model.execute_fenced = fenced_contradictory),
    ROW("info", .info.get_execution_info = info_fails),
    ROW("burst", .model.configure_burst = no_burst),
    ROW("null-burst", .model.configure_burst = null_burst),
    ROW("in-burst", .burst.execute_synchronously = burst_fails),
    ROW("release-memory", .burst.release_memory = memory_stays),
    ROW("reusable", .model.create_reusable_execution = no_reusable),
    ROW("null-reusable", .model.create_reusable_execution = null_reusable),
    ROW("in-reusable", .reusable.execute_synchronously = reusable_fails),
    ROW("fenced-reusable", .reusable.execute_fenced = reusable_fenced_fails),
    ROW("allocate", .driver.allocate = no_buffer),
    ROW("null-buffer", .driver.allocate = null_buffer),
    ROW("token-0", .allocated = token_0),
    ROW("token-again", .allocated = token_again),
    ROW("copy-to", .buffer.copy_to = copy_to_fails),
    ROW("copy-from", .buffer.copy_from = copy_from_fails),
};

struct hal_driver *call_fault_add(struct hal_driver *inner, const char *text)
{
    const char *status = strchr(text, '.');
    const size_t length = status ? (size_t) (status - text) : strlen(text);
    struct hal_driver *d;
    struct why w;

    is_deadly = status && strcmp(status, ".die") == 0;
    if (status)
        failing = (enum hal_status) atoi(status + 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == length && strncmp(rows[i].name, text, length) == 0)
            return faulty_driver_new(inner, &rows[i], &d, &w) < 0 ? NULL : d;
    return NULL;
}
