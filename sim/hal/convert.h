/* Converts models between golden's representation and the HAL's structures. */
#ifndef SIM_CONVERT_H
#define SIM_CONVERT_H

#include "golden/model/model.h"
#include "sim/base/memory.h"
#include "sim/hal/extension_codes.h"
#include "sim/hal/hal_convert.h"

/* Client side.  Constants by copy are packed into operand_values; constants by reference stay in
 * the model's pools (memories of kind HAL_MEMORY_ADDRESS); operations are sorted into execution
 * order.  The result points into the arena and into the model.  WHY_INVALID or WHY_MEMORY. */
int convert_to_hal(const struct model *m, struct arena *a, struct hal_model *ret_hal,
                   struct why *w);

/* Driver side: `hal` is untrusted.  pools: the mappings of hal->pools.  The result has only types
 * that the version has, and consistent indexes, counts and locations; model_validate() then checks
 * whether it is a valid model.  Everything is copied to the arena except aligned constants in pools
 * that are real-valued or quantised tensors: a client can change its pools at any time, and values
 * that determine which memory an operation accesses must not change after they were checked.
 * Extensions that are not in `known` are foreign.  WHY_INVALID or WHY_MEMORY. */
int convert_from_hal(const struct hal_model *hal, enum hal_version version, extension_set known,
                     const struct mapping *pools, struct arena *a, struct model *ret_model,
                     struct why *w);

#endif
