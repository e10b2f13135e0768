/* Operations that implementations mostly compute with the same code. */
#ifndef GOLDEN_KIN_H
#define GOLDEN_KIN_H

#include <stdint.h>

/* A number that only operations of the same kind have; an operation that is like no other has one
 * of its own. */
int32_t kin_of(int32_t code);

/* Row i of the table, ending with -1; NULL after the last. */
const int32_t *kin_at(int i);

#endif
