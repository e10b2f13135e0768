/* Comparisons of two broadcast operands to TENSOR_BOOL8. */
#ifndef GOLDEN_COMPARE_H
#define GOLDEN_COMPARE_H

#include "golden/ops/shared/elementwise/binary.h"

/* What all of these records share. */
extern const struct role compare_in[2], compare_out[1];
extern const struct typing compare_typings[6];

/* ey = 1 where the operands may be equal but for their errors: either answer is right there.
 * Quantised operands that differ in scale or zero point are compared by implementations on the
 * first one's steps, so a difference of less than a step is a tie too. */
int compare_bound(struct call *c, struct why *w);

#endif
