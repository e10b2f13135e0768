#include "tests/sim/service/stub_driver.h"

static struct hal_prepared_model prepared;

static enum hal_status prepare(struct hal_driver *self, enum hal_version version,
                               const struct hal_model *model,
                               const struct hal_prepare_config *config,
                               struct hal_prepare_callback *callback)
{
    (void) self, (void) version, (void) config;
    prepared.n_inputs = model->main.n_inputs;
    prepared.n_outputs = model->main.n_outputs;
    callback->notify(callback, HAL_NONE, &prepared);
    return HAL_NONE;
}

static void close_driver(struct hal_driver *self)
{
    (void) self;
}

struct hal_driver *stub_driver(const struct hal_prepared_model_methods *methods)
{
    static struct hal_driver driver;

    prepared.methods = methods;
    driver = (struct hal_driver){ .abi_version = HAL_ABI_VERSION,
                                  .hal_version = HAL_FL8,
                                  .lowest_version = HAL_1_0,
                                  .name = "stub",
                                  .prepare_model = prepare,
                                  .close = close_driver };
    return &driver;
}

void stub_release(struct hal_prepared_model *self)
{
    (void) self;
}

static enum hal_status get_info(struct hal_fenced_info *self, struct hal_timing *ret_launched,
                                struct hal_timing *ret_fenced)
{
    (void) self;
    *ret_launched = *ret_fenced = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    return HAL_NONE;
}

static void release_info(struct hal_fenced_info *self)
{
    (void) self;
}

struct hal_fenced_info *stub_info(void)
{
    static const struct hal_fenced_info_methods methods = { get_info, release_info };
    static struct hal_fenced_info info = { &methods };

    return &info;
}
