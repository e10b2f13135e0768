/* The examples that random graphs are mutations of: those of the files that --from names. */
#ifndef HARNESS_MUTATED_H
#define HARNESS_MUTATED_H

#include "harness/check/cases.h"
#include "harness/cli/options.h"

/* Loads the files of --from, if it was given, for random graphs of these options: case i is a
 * mutation of example i % n.  Lists on stderr which cannot be mutated.  WHY_INVALID: none can, or
 * an option does not go with --from. */
int mutated_examples(const struct options *o, struct cases *cases, struct why *w);
/* Finds the example that the name of a single random case has the digest of, if it has one, in the
 * files of --from.  WHY_INVALID: it is not in them, or --from was not given. */
int mutated_name(const struct options *o, struct cases *cases, struct why *w);
/* A number that differs, with high probability, for other examples or another order of them. */
uint64_t mutated_digest(const struct cases *cases);

#endif
