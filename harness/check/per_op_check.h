/* Judging operation by operation.
 *
 * Errors that are carried through a deep network grow until its outputs could be nearly anything:
 * then comparing outputs says little.  So each operation of the main graph is also run alone, as a
 * model of its own, on the values that the reference gave it, where its bound is as tight as one
 * operation's.  Operations with subgraphs are left out. */
#ifndef HARNESS_LAYERS_H
#define HARNESS_LAYERS_H

#include "harness/check/check.h"

/* The operations of e's main graph as examples of their own, in arena; runs the reference. */
int layers_make(const struct example *e, struct arena *arena, struct example **ret_layers,
                uint32_t *ret_n, struct why *w);

/* After check_judge(): where the outputs said too little, runs the layers too; the first that does
 * not conform becomes the verdict of the case.  What was compared is added to *r. */
void layers_check(struct check *c, struct target *t, struct check_result *r, struct buffer *detail);

#endif
