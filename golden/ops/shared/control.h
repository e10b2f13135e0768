/* What IF and WHILE share: the condition, and lists of values. */
#ifndef GOLDEN_CONTROL_H
#define GOLDEN_CONTROL_H

#include "golden/exec/exec.h"

/* The operands of the call from number `at` on, as an array for frame_call(); omitted ones have no
 * data.  `room` elements, the rest of them empty.  NULL when out of memory. */
struct value *control_arguments(struct call *c, struct exec_frame *f, uint32_t at, uint32_t room);

/* Reads a condition, TENSOR_BOOL8 of one element.  If its error reaches the other answer, what the
 * operation gives is undecided. */
int control_decide(struct exec_frame *f, const struct value *condition, bool *ret_truth,
                   struct why *w);

#endif
