/* Which dimensions of an example are one size, by the shape patterns of the records. */
#ifndef GOLDEN_TIES_H
#define GOLDEN_TIES_H

#include "golden/edit/edit.h"

/* A forest of (operand, dimension) of the main graph. */
struct ties {
    uint32_t *parent;
};

/* In the arena of the example.  False: out of memory. */
bool ties_find(const struct edit *c, struct ties *ret_ties);
/* Whether dimension a_dim of operand a and b_dim of b have one size. */
bool are_tied(const struct ties *t, uint32_t a, uint32_t a_dim, uint32_t b, uint32_t b_dim);

#endif
