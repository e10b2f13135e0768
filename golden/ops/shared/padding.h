/* Padding operations: the operand of role `role`, of shape [rank, 2], holds the number of elements
 * added before and after each dimension of input 0. */
#ifndef GOLDEN_PADDING_H
#define GOLDEN_PADDING_H

#include "golden/model/op.h"

/* For infer(): sets the shape of output 0; rejects negative paddings. */
int padding_infer(struct call *c, int role, struct why *w);

/* For move(): fills output 0 with the element *fill and copies the input into it. */
void padding_move(const struct call *c, int role, const void *fill, const struct movement *m);

/* For draw(): the paddings. */
bool padding_draw(const struct call *c, struct drawer *d, struct tensor *to);

/* The padding before and after dimension i. */
int32_t padding_before(const struct call *c, int role, uint32_t i);
int32_t padding_after(const struct call *c, int role, uint32_t i);

/* For move(): copies the input to its position in output 0 only. */
void padding_move_inside(const struct call *c, int role, const struct movement *m);

#endif
