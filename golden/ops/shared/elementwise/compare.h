/* Comparison operations: two broadcast operands, output TENSOR_BOOL8. */
#ifndef GOLDEN_COMPARE_H
#define GOLDEN_COMPARE_H

#include "golden/ops/shared/elementwise/binary.h"

/* What all of these records share: golden/ops/shared/elementwise/compare_record.def has their
 * common fields. */
extern const struct role compare_in[2], compare_out[1];
extern const struct typing compare_typings[6];

/* bound(): ey = 1 where errors of the operands could make them equal: either result is correct.
 * Implementations requantise operands that differ in scale or zero point to the first one's, so a
 * difference of at most one of its steps counts as equal too. */
int compare_bound(struct call *c, struct why *w);

#endif
