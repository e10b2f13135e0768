/* Canaries: random cases whose model, inputs, results and bounds on the reference are known.  A
 * machine where one differs computes wrongly, whether by its memory, its processor or its build. */
#ifndef HARNESS_CANARIES_H
#define HARNESS_CANARIES_H

#include <stdint.h>

#include "golden/base/why.h"

enum { CANARIES = 20 };
extern const uint64_t canary_digests[CANARIES];

/* The digest of canary i (below CANARIES), computed now. */
int canary_compute(int i, uint64_t *ret_digest, struct why *w);
/* Computes all.  WHY_SYSTEM: one differs, or cannot be computed; the reason says that this machine
 * computes wrongly. */
int canaries_check(struct why *w);
/* A digest of canary_digests: of what the reference and the generator compute. */
uint64_t canaries_digest(void);

#endif
