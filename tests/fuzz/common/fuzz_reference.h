/* The reference executor under a fuzzer: properties that hold for every valid model. */
#ifndef TESTS_FUZZ_REFERENCE_H
#define TESTS_FUZZ_REFERENCE_H

#include "golden/golden.h"

/* Aborts with the reason if rc is negative. */
void fuzz_reference_must(int rc, const struct why *w);
/* Runs the plan within small limits of work and memory; aborts if a result is outside the bounds
 * that were computed with it. */
int fuzz_reference_run(const struct plan *plan, const struct tensor *in, struct why *w);
/* Converts a valid model to this level, if it needs a higher one: the result must comply with it,
 * and the conversion may fail because of the level or of memory only. */
void fuzz_reference_convert(struct arena *a, const struct model *m, int level);

#endif
