/* Standard results of the driver contract: unknown timing, an empty result, the callback of a
 * launch that fails. */
#ifndef SIM_HAL_RESULT_H
#define SIM_HAL_RESULT_H

#include "sim/hal.h"

static const struct hal_timing hal_unknown_timing = { HAL_NO_TIME, HAL_NO_TIME };

/* No shapes, unknown timing. */
static inline void hal_clear_result(struct hal_result *result)
{
    result->n_shapes = 0;
    result->timing = hal_unknown_timing;
}

/* Both call the callback with a failure status and return that status. */
static inline enum hal_status hal_fail_preparation(struct hal_prepare_callback *callback,
                                                   enum hal_status status)
{
    callback->notify(callback, status, NULL);
    return status;
}

static inline enum hal_status hal_fail_execution(struct hal_execution_callback *callback,
                                                 enum hal_status status)
{
    callback->notify(callback, status, 0, NULL, hal_unknown_timing);
    return status;
}

#endif
