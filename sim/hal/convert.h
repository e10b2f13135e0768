/* Between golden's models and the HAL's structures. */
#ifndef SIM_CONVERT_H
#define SIM_CONVERT_H

#include "golden/model/model.h"
#include "sim/base/memory.h"
#include "sim/hal/hal_convert.h"
#include "sim/hal/names.h"

/* The client's way.  Constants by copy are packed into operand_values, those by reference stay in
 * the model's pools (memories of kind HAL_MEMORY_ADDRESS); operations are put into an order of
 * execution. The result points into the arena and into the model. */
int convert_to_hal(const struct model *m, struct arena *a, struct hal_model *ret_hal,
                   struct why *w);

/* The driver's way: nothing in `hal` is trusted.  pools: hal->pools, mapped.  Everything is copied
 * to the arena, except aligned constants within pools that are tensors of real numbers: what steers
 * an operation must stay what it was checked to be.  What the result says is legal in the
 * version's types and consistent in its indexes, counts and locations; model_validate() says
 * whether it is a legal model.  Extensions that are not in `known` are foreign.  WHY_INVALID or
 * WHY_MEMORY. */
int convert_from_hal(const struct hal_model *hal, enum hal_version version, extension_set known,
                     const struct mapping *pools, struct arena *a, struct model *ret_model,
                     struct why *w);

#endif
