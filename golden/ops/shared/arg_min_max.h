/* ARGMAX and ARGMIN: the index of the largest or smallest element along a dimension. */
#ifndef GOLDEN_ARG_MIN_MAX_H
#define GOLDEN_ARG_MIN_MAX_H

#include "golden/judge/bounds.h"
#include "golden/ops/shared/axis.h"

extern const struct role arg_min_max_in[2], arg_min_max_out[1];
extern const struct form arg_min_max_forms[1];
extern const struct typing arg_min_max_typings[5];

int arg_min_max_infer(struct call *c, struct why *w);

/* eval().  sign: 1 finds the largest element, -1 the smallest; of equal elements the first. */
int arg_min_max_eval(struct call *c, double sign, struct why *w);

/* bound(): the distance to the farthest index that is also correct.  NNAPI does not specify which
 * of several equal elements is chosen, and errors of the input make more of them equal. */
int arg_min_max_bound(struct call *c, double sign, struct why *w);

#endif
