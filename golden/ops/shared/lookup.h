/* Selecting rows of a tensor by index: GATHER, EMBEDDING_LOOKUP. */
#ifndef GOLDEN_LOOKUP_H
#define GOLDEN_LOOKUP_H

#include "golden/ops/shared/axis.h"

/* For infer(): checks that every index in operand `role`, if known, is in 0..len-1. */
int lookup_check(const struct call *c, int role, size_t len, struct why *w);

/* For move(): copies, for each outer index of the source and each of the n indexes, the inner
 * elements.  size: bytes of an element. */
void lookup_move(size_t size, const struct axis *source, const int32_t *index, size_t n,
                 const void *from, void *to);

/* For draw(): a tensor of rank `rank` of indexes below len, with 1..most in its first dimension
 * (rarely more in a list of them, as drawer.size) and 1..2 in the others. */
bool lookup_draw(struct drawer *d, uint32_t rank, uint32_t most, uint32_t len, struct tensor *to);

#endif
