/* Orders of the dimensions of a tensor. */
#ifndef HARNESS_PERMUTATION_H
#define HARNESS_PERMUTATION_H

#include "golden/golden.h"

struct permutation {
    uint32_t rank, axis[4];
};

/* The index-th order of 2 to 4 dimensions that is not the identity.  False: there is none. */
bool permutation_at(uint32_t rank, int index, struct permutation *ret);

/* Data of `shape` that was written with its dimensions in the order p.axis, read as if it were not:
 * map[i] is the index, in the right order, of what element i then holds.  map: [shape_count()]. */
void permutation_map(const struct permutation *p, const struct shape *shape, size_t *map);

/* "in the order 0,2,1". */
void permutation_text(const struct permutation *p, char *text, size_t size);

#endif
