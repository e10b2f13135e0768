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

/* Which dimensions change together with one: those that have one size with it, all of equal size,
 * or it alone. */
enum together { TIED, EQUAL, ALONE, TOGETHER_KINDS };
/* Whether dimension b_dim of value b changes with a_dim of a.  equal: their sizes are. */
bool goes_together(const struct ties *t, enum together kind, const struct value_ref *a,
                   uint32_t a_dim, const struct value_ref *b, uint32_t b_dim, bool equal);

#endif
