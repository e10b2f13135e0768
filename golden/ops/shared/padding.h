/* Padding: operand `paddings` of shape [rank of the input, 2] tells how many elements stand before
 * and after each dimension of input 0. */
#ifndef GOLDEN_PADDING_H
#define GOLDEN_PADDING_H

#include "golden/model/op.h"

/* For infer(): shape of output 0. */
int padding_infer(struct call *c, int role, struct why *w);

/* For move(): *fill, an element, all around the input. */
void padding_move(const struct call *c, int role, const void *fill, const struct movement *m);

/* For draw() */
bool padding_draw(const struct call *c, struct drawer *d, struct tensor *to);

/* Elements of output 0 that stand before dimension i of the input. */
int32_t padding_before(const struct call *c, int role, uint32_t i);
int32_t padding_after(const struct call *c, int role, uint32_t i);

/* Copies the input to its place in output 0. */
void padding_move_inside(const struct call *c, int role, const struct movement *m);

#endif
