/* Building one mutant: a copy of the valid model, with one part of it changed.  The functions work
 * on the current mutant of the walk, in its arena; they end the cell when memory runs out. */
#ifndef HARNESS_CONFORM_MUTANT_H
#define HARNESS_CONFORM_MUTANT_H

#include "golden/model/tensor.h"
#include "harness/corrupt/conform_mutations.h"

/* Starts a new mutant as a copy of the valid model; frees the previous one.  Afterwards w->operand
 * and w->operation are writable copies. */
void mutant_begin(struct conform_walk *w);

/* The record of a HAL operand type, of the standard or of the test extension. */
const struct dtype_info *mutant_type_of(int32_t type);

/* Replaces a list of n indexes by a writable copy and returns it: any list, an operation's inputs,
 * an operation's outputs. */
uint32_t *mutant_own_list(struct conform_walk *w, const uint32_t **list, uint32_t n);
uint32_t *mutant_inputs(struct conform_walk *w, uint32_t operation);
uint32_t *mutant_outputs(struct conform_walk *w, uint32_t operation);

/* Changes a list of *n indexes: appends one, removes the one at `at`, removes all that equal
 * `value`. */
void mutant_append(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t index);
void mutant_drop(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t at);
void mutant_drop_value(struct conform_walk *w, const uint32_t **list, uint32_t *n, uint32_t value);

/* Appends a copy of the operand; returns its index. */
uint32_t mutant_add(struct conform_walk *w, const struct hal_operand *o);
/* Appends a temporary of that operand's type, which no operation reads; returns its index. */
uint32_t mutant_add_like(struct conform_walk *w, uint32_t operand);

/* Sets an operand's lifetime, with zeros as value if it becomes a constant.  False: a constant's
 * size is not known or above 32 KiB, and there is no such mutant. */
bool mutant_set_lifetime(struct conform_walk *w, uint32_t operand, enum hal_lifetime to);
/* Makes the subgraph's lists of inputs and outputs agree with the operand's lifetime. */
void mutant_update_lists(struct conform_walk *w, uint32_t operand);

/* Exchanges the main subgraph of the model with referenced[subgraph - 1], in a copy of the list. */
void mutant_exchange(struct hal_model *m, uint32_t subgraph, struct arena *a);

/* Passes the finished mutant to the visitor; the format describes what was changed. */
__attribute__((format(printf, 2, 3))) void mutant_emit(struct conform_walk *w, const char *format,
                                                       ...);

#endif
