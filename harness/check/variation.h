/* Executions in other ways.
 *
 * In a share of the cases the model is run once more after the plain run, which must be conforming:
 * executed asynchronously, in a burst, with fences or as a reusable execution; prepared with
 * another preference and priority, or from the cache; with other inputs in between; with its
 * arguments at other offsets.  What is drawn depends on the case's name only: on seed and index of
 * a random case. The results are judged like the plain ones.  Another status or shape is a
 * violation.  Other bits are noted, and a violation on the shipped devices. */
#ifndef HARNESS_VARIATION_H
#define HARNESS_VARIATION_H

#include "harness/check/check.h"

/* Whether a case is among those that are run in another way.  share: of the cases from files; the
 * name of a random case has its own. */
bool variation_is_drawn(const char *name, double share);

/* The outputs of a run, to compare them with those of another. */
struct run_outputs {
    uint32_t n;
    struct shape *shape;
    uint64_t *digest; /* of the bytes */
};
/* Copies them from an outcome at STAGE_DONE, into the arena.  False: it has none, or out of memory.
 */
bool run_outputs_take(const struct outcome *o, struct arena *a, struct run_outputs *ret);

/* After a plain run with the conforming result *r and these outputs: runs and judges the case in
 * the way that is drawn for it.  A failure becomes *r; a difference in bits is added to its
 * explanation. A line to detail, which may be NULL. */
void variation_run(struct check *c, struct target *t, const struct run_outputs *plain,
                   struct check_result *r, struct buffer *detail);

#endif
