/* Comparisons of two broadcast operands to TENSOR_BOOL8. */
#ifndef GOLDEN_COMPARE_H
#define GOLDEN_COMPARE_H

#include "golden/binary.h"

/* ey = 1 where the operands may be equal but for their errors: either answer is right there.
 * Quantised operands that differ in scale or zero point are compared by implementations on the
 * first one's steps, so a difference of less than a step is a tie too. */
int compare_bound(struct call *c, struct why *w);

#endif
