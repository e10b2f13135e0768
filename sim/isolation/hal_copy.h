/* Copies of HAL structures with everything that they point to in one arena. */
#ifndef SIM_HAL_COPY_H
#define SIM_HAL_COPY_H

#include "golden/base/arena.h"
#include "sim/hal.h"

/* Also the contents of pools, which must be of kind HAL_MEMORY_ADDRESS.  False: out of memory. */
bool hal_copy_model(const struct hal_model *m, struct arena *a, struct hal_model *ret_model);
/* Arguments, with their dimensions, and pools, whose memory stays where it is. */
bool hal_copy_request(const struct hal_request *r, struct arena *a,
                      struct hal_request *ret_request);

#endif
