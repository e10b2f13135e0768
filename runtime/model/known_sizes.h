/* Sizes of operands that are known when a model is built, and control flow whose sizes are not. */
#ifndef RUNTIME_KNOWN_SIZES_H
#define RUNTIME_KNOWN_SIZES_H

#include "golden/model/model.h"

/* Whether the operand's size is known: a scalar, or a tensor of known rank and dimensions. */
bool operand_size_known(const struct operand *o);
/* Whether the operation is IF or WHILE. */
bool operation_has_subgraphs(const struct operation *o);
/* Whether it is, and one of its operands, or of the inputs and outputs of its subgraphs, has an
 * unknown size: no driver is given it. */
bool operation_is_runtime_only(const struct model *m, const struct graph *g,
                               const struct operation *o);
/* Whether the model has such an operation. */
bool model_is_runtime_only(const struct model *m);

#endif
