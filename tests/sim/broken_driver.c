/* A driver in a shared library for test_library.c.  Its arguments name one defect, which the loader
 * must detect: no driver returned, a wrong version, a missing member. */
#include <stdlib.h>
#include <string.h>

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
    (void) self, (void) version, (void) model, (void) supported, (void) ret_n;
    return HAL_GENERAL_FAILURE;
}

static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) model, (void) config;
    callback->notify(callback, HAL_GENERAL_FAILURE, NULL);
    return HAL_GENERAL_FAILURE;
}

static void close_driver(struct hal_driver *self)
{
    (void) self;
}

static struct hal_driver driver;

hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    (void) abi_version;
    driver = (struct hal_driver){
        .abi_version = HAL_ABI_VERSION,
        .hal_version = HAL_1_3,
        .lowest_version = HAL_1_0,
        .name = "broken",
        .get_capabilities = get_capabilities,
        .get_type = get_type,
        .get_version_string = get_version_string,
        .get_status = get_status,
        .get_supported_operations = get_supported_operations,
        .prepare_model = prepare_model,
        .close = close_driver,
    };
    if (strcmp(arguments, "silent") == 0)
        return NULL;
    if (strcmp(arguments, "endless") == 0)
        memset(why, 'x', why_size);
    if (strcmp(arguments, "endless") == 0)
        return NULL;
    if (strcmp(arguments, "abi") == 0)
        driver.abi_version++;
    if (strcmp(arguments, "version") == 0)
        driver.hal_version = (enum hal_version) 14;
    if (strcmp(arguments, "lowest") == 0)
        driver.lowest_version = (enum hal_version) 0;
    if (strcmp(arguments, "above") == 0)
        driver.lowest_version = HAL_FL5;
    if (strcmp(arguments, "unnamed") == 0)
        driver.name = NULL;
    if (strcmp(arguments, "unprintable") == 0)
        driver.name = "two\nlines";
    if (strcmp(arguments, "unprepared") == 0)
        driver.prepare_model = NULL;
    if (strcmp(arguments, "unclosed") == 0)
        driver.close = NULL;
    return &driver;
}
