/* Small facts that both directions of conversion share. */
#include "sim/convert.h"

int hal_level(enum hal_version version)
{
    return version <= HAL_1_3 ? (int) version - 9 : (int) version - 10;
}

static enum hal_status status_of(enum why_code code)
{
    switch (code) {
    case WHY_INVALID:
    case WHY_UNSUPPORTED: return HAL_INVALID_ARGUMENT;
    case WHY_TIMEOUT: return HAL_MISSED_DEADLINE_PERSISTENT;
    case WHY_MEMORY: return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    case WHY_EXECUTION:
    case WHY_SYSTEM: break;
    }
    return HAL_GENERAL_FAILURE;
}

enum hal_status hal_status_in(enum hal_status status, enum hal_version version)
{
    return version < HAL_1_3 && status >= HAL_MISSED_DEADLINE_TRANSIENT ? HAL_GENERAL_FAILURE
                                                                        : status;
}

enum hal_status hal_status_of(const struct why *w, enum hal_version version)
{
    return hal_status_in(status_of(w->code), version);
}

const char *hal_status_name(enum hal_status status)
{
    static const char *const names[HAL_STATUS_COUNT] = {
        [HAL_NONE] = "NONE",
        [HAL_DEVICE_UNAVAILABLE] = "DEVICE_UNAVAILABLE",
        [HAL_GENERAL_FAILURE] = "GENERAL_FAILURE",
        [HAL_OUTPUT_INSUFFICIENT_SIZE] = "OUTPUT_INSUFFICIENT_SIZE",
        [HAL_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
        [HAL_MISSED_DEADLINE_TRANSIENT] = "MISSED_DEADLINE_TRANSIENT",
        [HAL_MISSED_DEADLINE_PERSISTENT] = "MISSED_DEADLINE_PERSISTENT",
        [HAL_RESOURCE_EXHAUSTED_TRANSIENT] = "RESOURCE_EXHAUSTED_TRANSIENT",
        [HAL_RESOURCE_EXHAUSTED_PERSISTENT] = "RESOURCE_EXHAUSTED_PERSISTENT",
    };

    return (unsigned) status < HAL_STATUS_COUNT ? names[status] : "?";
}
