/* Rows of a tensor that indexes select: GATHER, EMBEDDING_LOOKUP. */
#ifndef GOLDEN_LOOKUP_H
#define GOLDEN_LOOKUP_H

#include "golden/ops/shared/axis.h"

/* For infer(): each of the indexes, where they are known, is one of `len` things. */
int lookup_check(const struct call *c, int role, size_t len, struct why *w);

/* For move(): for each outer part of the source and each of the n indexes, the inner elements. */
void lookup_move(size_t size, const struct axis *source, const int32_t *index, size_t n,
                 const void *from, void *to);

/* For draw(): 1 to most indexes below len, of rank `rank`. */
bool lookup_draw(struct drawer *d, uint32_t rank, uint32_t most, uint32_t len, struct tensor *to);

#endif
