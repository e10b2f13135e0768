/* Control flow (IF, WHILE): the condition, and the arguments of subgraphs. */
#ifndef GOLDEN_CONTROL_H
#define GOLDEN_CONTROL_H

#include "golden/exec/exec.h"

/* The call's inputs from index `at` on, as an array for frame_call(); omitted ones have no data.
 * `room` elements in the call's scratch memory, unused ones zero.  NULL when out of memory. */
struct value *control_arguments(struct call *c, struct exec_frame *f, uint32_t at, uint32_t room);

/* Reads a condition, a TENSOR_BOOL8 of one element.  If its error bound admits the other value, the
 * outputs of the operation are marked undecided.  WHY_EXECUTION: it has no value. */
int control_read_condition(struct exec_frame *f, const struct value *condition, bool *ret_truth,
                           struct why *w);

#endif
