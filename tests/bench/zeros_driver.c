/* A driver that costs next to nothing: it supports every operation and writes zeros to outputs of
 * known shape.  For bench_isolation.c and bench_runtime.c, which measure what others add. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal.h"

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    static const struct hal_operand_performance rows[] = { { 3, { 1, 1 } }, { 5, { 1, 1 } } };
    const struct hal_performance one = { 1, 1 }, none = { 0, 0 };

    (void) self;
    *ret_capabilities = (struct hal_capabilities){ version < HAL_1_2 ? none : one,
                                                   version < HAL_1_1 ? none : one,
                                                   version < HAL_1_3 ? none : one,
                                                   version < HAL_1_3 ? none : one,
                                                   2,
                                                   rows };
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    *ret_type = HAL_DEVICE_OTHER;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    (void) self;
    *ret_version = "1";
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
    (void) self, (void) version;
    memset(supported, 1, model->main.n_operations);
    *ret_n = model->main.n_operations;
    return HAL_NONE;
}

static enum hal_status write_zeros(const struct hal_memory *m, const struct hal_location *l)
{
    size_t size = m->offset + m->size;
    char *p = m->kind == HAL_MEMORY_ADDRESS
                  ? m->address
                  : mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);

    if (p == MAP_FAILED)
        return HAL_GENERAL_FAILURE;
    memset(p + (m->kind == HAL_MEMORY_ADDRESS ? 0 : m->offset) + l->offset, 0, l->length);
    if (m->kind != HAL_MEMORY_ADDRESS)
        munmap(p, size);
    return HAL_NONE;
}

static enum hal_status execute(const struct hal_request *request, struct hal_result *result)
{
    enum hal_status status = HAL_NONE;

    for (uint32_t i = 0; i < request->n_outputs && status == HAL_NONE; i++) {
        const struct hal_location *l = &request->outputs[i].location;
        status = write_zeros(&request->pools[l->pool].memory, l);
    }
    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    return status;
}

static enum hal_status execute_synchronously(struct hal_prepared_model *self,
                                             enum hal_version version,
                                             const struct hal_request *request,
                                             const struct hal_execution_config *config,
                                             struct hal_result *result)
{
    (void) self, (void) version, (void) config;
    return execute(request, result);
}

static enum hal_status execute_in_burst(struct hal_burst *self, const struct hal_request *request,
                                        uint32_t n_identifiers, const int64_t *identifiers,
                                        const struct hal_execution_config *config,
                                        struct hal_result *result)
{
    (void) self, (void) n_identifiers, (void) identifiers, (void) config;
    return execute(request, result);
}

static enum hal_status release_memory(struct hal_burst *self, int64_t identifier)
{
    (void) self;
    return identifier < 0 ? HAL_INVALID_ARGUMENT : HAL_NONE;
}

static void release_burst(struct hal_burst *self)
{
    (void) self;
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    static const struct hal_burst_methods methods = { execute_in_burst, release_memory,
                                                      release_burst };
    static struct hal_burst burst = { &methods };

    (void) self, (void) version;
    *ret_burst = &burst;
    return HAL_NONE;
}

static void release(struct hal_prepared_model *self)
{
    free(self);
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    static const struct hal_prepared_model_methods methods = { .execute_synchronously =
                                                                   execute_synchronously,
                                                               .configure_burst = configure_burst,
                                                               .release = release };
    struct hal_prepared_model *p = malloc(sizeof *p);
    enum hal_status status = p ? HAL_NONE : HAL_GENERAL_FAILURE;

    (void) self, (void) version, (void) model, (void) config;
    if (p)
        *p = (struct hal_prepared_model){ &methods, model->main.n_inputs, model->main.n_outputs };
    callback->notify(callback, status, p);
    return status;
}

static void close_driver(struct hal_driver *self)
{
    (void) self;
}

hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    static struct hal_driver driver = {
        .abi_version = HAL_ABI_VERSION,
        .hal_version = HAL_FL7,
        .lowest_version = HAL_1_0,
        .name = "zeros",
        .get_capabilities = get_capabilities,
        .get_type = get_type,
        .get_version_string = get_version_string,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .close = close_driver,
    };

    (void) abi_version, (void) arguments, (void) why, (void) why_size;
    return &driver;
}
