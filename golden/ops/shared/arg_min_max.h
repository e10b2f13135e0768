/* ARGMAX and ARGMIN: the index of the largest or smallest element along a dimension. */
#ifndef GOLDEN_EXTREME_H
#define GOLDEN_EXTREME_H

#include "golden/judge/bounds.h"
#include "golden/ops/shared/axis.h"

extern const struct role extreme_in[2], extreme_out[1];
extern const struct form extreme_forms[1];
extern const struct typing extreme_typings[5];

int extreme_infer(struct call *c, struct why *w);

/* eval().  sign: 1 finds the largest element, -1 the smallest; of equal elements the first. */
int extreme_eval(struct call *c, double sign, struct why *w);

/* bound(): the distance to the farthest index that is also correct.  NNAPI does not specify which
 * of several equal elements is chosen, and errors of the input make more of them equal. */
void extreme_bound(struct call *c, double sign);

#endif
