/* What random graphs are drawn by with --steer: weights by the recorded coverage of the targets
 * (randgraph/coverage.h). */
#ifndef HARNESS_STEERED_H
#define HARNESS_STEERED_H

#include "harness/cases/drawn_for.h"

/* Sets d->steering for the targets: the recorded sets, with --resume those of the run that is
 * resumed, else weights by what all random graphs so far have executed on each target.  A target
 * without any gets none. */
int steered_targets(struct drawn_for *d, const struct options *o, struct why *w);
/* The set of that digest in the database, for a single case.  WHY_INVALID: it is not there. */
int steered_name(const struct options *o, uint64_t digest, struct randgraph_steering **ret_set,
                 struct why *w);

#endif
