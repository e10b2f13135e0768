/* Exemptions of the mutations (harness/conform/conform_mutations.h): mutants that are valid models
 * after all, so that no driver has to reject them.  All indexes are those of the main subgraph. */
#ifndef HARNESS_CONFORM_EXEMPT_H
#define HARNESS_CONFORM_EXEMPT_H

#include "sim/hal.h"

/* Whether the operand may have the type (an enum dtype) instead of its own, with rank, scale and
 * zero point adapted. */
bool conform_may_have_type(const struct hal_model *m, enum hal_version version, uint32_t operand,
                           int type);

/* Whether the operation is valid without that one of its inputs. */
bool conform_may_lose_input(const struct hal_model *m, enum hal_version version, uint32_t operation,
                            uint32_t input);

/* Whether the operation is valid with an additional scalar INT32 as its last input. */
bool conform_may_gain_input(const struct hal_operation *o, enum hal_version version);

/* Whether the model may be valid when the operand is removed from it and from all lists. */
bool conform_may_lose_operand(const struct hal_model *m, enum hal_version version,
                              uint32_t operand);

#endif
