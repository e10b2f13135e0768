/* ARGMAX and ARGMIN: where along a dimension the largest or the smallest element lies. */
#ifndef GOLDEN_EXTREME_H
#define GOLDEN_EXTREME_H

#include "golden/judge/bounds.h"
#include "golden/ops/shared/axis.h"

extern const struct role extreme_in[2], extreme_out[1];
extern const struct form extreme_forms[1];
extern const struct typing extreme_typings[5];

int extreme_infer(struct call *c, struct why *w);

/* sign: 1 looks for the largest element, -1 for the smallest; the first of equal ones wins. */
int extreme_eval(struct call *c, double sign, struct why *w);

/* The distance to the farthest index that could win too: NNAPI does not say which of equal elements
 * does, and errors make more of them equal. */
void extreme_bound(struct call *c, double sign);

#endif
