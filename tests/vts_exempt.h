/* Which mutants are right models after all. */
#ifndef TESTS_VTS_EXEMPT_H
#define TESTS_VTS_EXEMPT_H

#include "sim/hal.h"

/* Whether an operand of the main subgraph may have another type, all else being adapted. */
bool vts_may_be(const struct hal_model *m, enum hal_version version, uint32_t operand, int type);

/* Whether an operation may do without one of its inputs. */
bool vts_may_lose_input(const struct hal_model *m, enum hal_version version, uint32_t operation,
                        uint32_t input);

/* Whether it may have a scalar INT32 more at the end. */
bool vts_may_gain_input(const struct hal_operation *o, enum hal_version version);

/* Whether an operand may be missing everywhere. */
bool vts_may_lose_operand(const struct hal_model *m, enum hal_version version, uint32_t operand);

#endif
