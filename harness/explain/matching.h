/* The hypotheses that match a failure, without an explanation in words. */
#ifndef HARNESS_MATCHING_H
#define HARNESS_MATCHING_H

#include "harness/check/check.h"

enum { MATCHING_MOST = 8, MATCHING_ELEMENTS = 4096 };

/* Stable names of hypotheses, the best first. */
struct matching {
    const char *name[MATCHING_MOST];
    int n;
    bool tried; /* there were wrong elements, on which hypotheses were tried */
};

/* Runs an example of one operation on the target, also in a way if `way` is not NULL, and tries all
 * hypotheses on the worst output.  None match where outputs are not wrong by bound, where the
 * example has several operations or operands of more than MATCHING_ELEMENTS elements, or memory
 * runs out.  Those with wide bounds are left out. */
void matching_find(const struct example *e, struct target *t, const struct variation *way,
                   struct matching *ret);

#endif
