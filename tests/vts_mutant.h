/* Making one mutant: the honest model again, then one part of it changed. */
#ifndef TESTS_VTS_MUTANT_H
#define TESTS_VTS_MUTANT_H

#include "golden/model/tensor.h"
#include "tests/vts_mutations.h"

/* The one before is forgotten.  w->operand and w->operation are its own from here on. */
void mutant_begin(struct vts_walk *w);

const struct dtype_info *mutant_type_of(int32_t type);

/* A list of indexes, to be written; an operation's. */
uint32_t *mutant_own_list(struct vts_walk *w, const uint32_t **list, uint32_t n);
uint32_t *mutant_inputs(struct vts_walk *w, uint32_t operation);
uint32_t *mutant_outputs(struct vts_walk *w, uint32_t operation);

/* Lists of indexes: one more, without the one at `at`, without all that are `value`. */
void mutant_append(struct vts_walk *w, const uint32_t **list, uint32_t *n, uint32_t index);
void mutant_drop(struct vts_walk *w, const uint32_t **list, uint32_t *n, uint32_t at);
void mutant_drop_value(struct vts_walk *w, const uint32_t **list, uint32_t *n, uint32_t value);

/* New operands; both return the index. */
uint32_t mutant_add(struct vts_walk *w, const struct hal_operand *o);
/* A temporary of that operand's type which nobody reads. */
uint32_t mutant_add_like(struct vts_walk *w, uint32_t operand);

/* With a place for its value where it becomes a constant; false: there is no such mutant. */
bool mutant_set_lifetime(struct vts_walk *w, uint32_t operand, enum hal_lifetime to);
/* Takes the operand from the lists that do not fit its lifetime any more, into the one that does.
 */
void mutant_update_lists(struct vts_walk *w, uint32_t operand);

/* Done: shows it to the visitor.  format: what was changed. */
__attribute__((format(printf, 2, 3))) void mutant_emit(struct vts_walk *w, const char *format, ...);

#endif
