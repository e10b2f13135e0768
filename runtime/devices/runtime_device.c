/* What the API tells of a device, and what it makes of a driver's statuses. */
#include "runtime/devices/runtime_device.h"

#include <string.h>

#include "golden/base/clock.h"
#include "runtime/base/failure.h"
#include "runtime/devices/service_driver.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "Manager"

struct hal_performance device_performance(const ANeuralNetworksDevice *d, int32_t type,
                                          bool relaxed)
{
    const struct hal_capabilities *c = &d->performance;

    if (d->is_reference)
        return (struct hal_performance){ REFERENCE_PERFORMANCE, REFERENCE_PERFORMANCE };
    if (relaxed && type == ANEURALNETWORKS_TENSOR_FLOAT32)
        return c->relaxed_tensor;
    if (relaxed && type == ANEURALNETWORKS_FLOAT32)
        return c->relaxed_scalar;
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i].type == type)
            return c->operand[i].info;
    return hal_unreported_performance;
}

uint32_t device_padding(const ANeuralNetworksDevice *d)
{
    return d->level >= L5 ? 64 : 1;
}

int result_of_status(enum hal_status status)
{
    static const int results[HAL_STATUS_COUNT] = {
        [HAL_NONE] = ANEURALNETWORKS_NO_ERROR,
        [HAL_DEVICE_UNAVAILABLE] = ANEURALNETWORKS_UNAVAILABLE_DEVICE,
        [HAL_GENERAL_FAILURE] = ANEURALNETWORKS_OP_FAILED,
        [HAL_OUTPUT_INSUFFICIENT_SIZE] = ANEURALNETWORKS_OUTPUT_INSUFFICIENT_SIZE,
        [HAL_INVALID_ARGUMENT] = ANEURALNETWORKS_BAD_DATA,
        [HAL_MISSED_DEADLINE_TRANSIENT] = ANEURALNETWORKS_MISSED_DEADLINE_TRANSIENT,
        [HAL_MISSED_DEADLINE_PERSISTENT] = ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT,
        [HAL_RESOURCE_EXHAUSTED_TRANSIENT] = ANEURALNETWORKS_RESOURCE_EXHAUSTED_TRANSIENT,
        [HAL_RESOURCE_EXHAUSTED_PERSISTENT] = ANEURALNETWORKS_RESOURCE_EXHAUSTED_PERSISTENT,
    };

    return (unsigned) status < HAL_STATUS_COUNT ? results[status] : ANEURALNETWORKS_OP_FAILED;
}

const void *device_session(const ANeuralNetworksDevice *d, const struct hal_prepared_model *p)
{
    return d->is_service ? service_driver_connection(p) : d->driver;
}

int device_wait(const ANeuralNetworksDevice *d)
{
    if (d->is_reference)
        return ANEURALNETWORKS_NO_ERROR;
    switch (d->driver->get_status(d->driver)) {
    case HAL_DEVICE_AVAILABLE:
    case HAL_DEVICE_BUSY: return ANEURALNETWORKS_NO_ERROR;
    case HAL_DEVICE_OFFLINE: return FAIL(UNAVAILABLE_DEVICE, "%s is offline", d->name);
    case HAL_DEVICE_UNKNOWN: break;
    }
    return FAIL(OP_FAILED, "%s does not know its status", d->name);
}

bool device_has_extension(const ANeuralNetworksDevice *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_extensions; i++)
        if (strcmp(d->extension[i].name, name) == 0)
            return true;
    return false;
}

uint64_t driver_deadline(const ANeuralNetworksDevice *d, uint64_t timeout_ns)
{
    const uint64_t end = clock_sum(hal_now(d->entry), timeout_ns);

    /* The stable interface has signed times. */
    return end > INT64_MAX ? INT64_MAX : end;
}

int64_t level_code(enum level level)
{
    return level <= L5 ? ANEURALNETWORKS_FEATURE_LEVEL_1 + level - L1
                       : ANEURALNETWORKS_FEATURE_LEVEL_6 + level - L6;
}
