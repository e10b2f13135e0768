/* Ways in which arguments are invalid, so that a faulty driver can accept one of them. */
#ifndef SIM_UNCHECKED_H
#define SIM_UNCHECKED_H

#include "sim/hal.h"

enum unchecked {
    /* models */
    UNCHECKED_ORDER,        /* an operation reads an operand before it is written */
    UNCHECKED_TYPE,         /* an operand type that does not exist */
    UNCHECKED_RANK,         /* a scalar with dimensions, or a tensor without before HAL 1.2 */
    UNCHECKED_SCALE,        /* a scale that the operand's type does not allow */
    UNCHECKED_ZERO_POINT,   /* a zero point that the operand's type does not allow */
    UNCHECKED_LIFETIME,     /* a written operand that is an input or a constant, or the reverse */
    UNCHECKED_LISTS,        /* lists of inputs and outputs that contradict the lifetimes */
    UNCHECKED_CONSUMERS,    /* a wrong number of consumers, up to HAL 1.3 */
    UNCHECKED_WRITERS,      /* an operand that two operations write */
    UNCHECKED_OPERATION,    /* an operation code that does not exist */
    UNCHECKED_INPUT_INDEX,  /* an operation's input index that is out of range */
    UNCHECKED_OUTPUT_INDEX, /* an operation's output index that is out of range */
    UNCHECKED_CYCLE,        /* an operation that depends on itself */
    UNCHECKED_CONSTANT,     /* a constant that does not lie in its values or pool */
    UNCHECKED_CHANNELS,     /* scales of channels that do not fit the operand */
    UNCHECKED_SIGNATURE,    /* none of these: operands that do not fit their operation */
    /* requests */
    UNCHECKED_ARGUMENTS,    /* a wrong number of inputs or outputs */
    UNCHECKED_POOL,         /* a pool index that is out of range */
    UNCHECKED_REGION,       /* a region that does not lie in its pool */
    UNCHECKED_DIMENSIONS,   /* dimensions that differ from the model's */
    UNCHECKED_TOKEN,        /* a token of no buffer */
    UNCHECKED_BUFFER_ROLE,  /* a buffer that is used in another role */
    UNCHECKED_BUFFER_EMPTY, /* a buffer without contents as input */
    UNCHECKED_FENCE,        /* a fence that is not a descriptor */
    UNCHECKED_REQUEST,      /* none of these */
    /* allocations */
    UNCHECKED_ROLES_NONE,   /* no role */
    UNCHECKED_ROLE_MODEL,   /* a NULL model, or a model index that is out of range */
    UNCHECKED_PROBABILITY,  /* a probability outside (0, 1] */
    UNCHECKED_ROLE_TWICE,   /* the same role twice */
    UNCHECKED_DESC,         /* dimensions that contradict the roles */
    UNCHECKED_ROLES_DIFFER, /* none of these, with several roles */
    UNCHECKED_ROLE_INDEX,   /* none of these: an operand that does not exist, a foreign model */
    /* copies */
    UNCHECKED_COPY_SIZE,  /* memory of another size */
    UNCHECKED_COPY_SHAPE, /* other dimensions */
    UNCHECKED_COPY_EMPTY, /* from a buffer without contents */
    UNCHECKED_COUNT
};

/* All of these take arguments that the driver has rejected and return a bit set of
 * 1 << UNCHECKED_*, never 0. */
uint64_t unchecked_in_model(const struct hal_model *model, enum hal_version version);
uint64_t unchecked_in_allocation(const struct hal_buffer_desc *desc, uint32_t n_models,
                                 struct hal_prepared_model *const *models, uint32_t n_inputs,
                                 const struct hal_buffer_role *inputs, uint32_t n_outputs,
                                 const struct hal_buffer_role *outputs);
/* model: of the prepared model; status: the driver's. */
uint64_t unchecked_in_request(const struct hal_request *request, uint32_t n_inputs,
                              uint32_t n_outputs, bool has_unknown_token, enum hal_status status);

#endif
