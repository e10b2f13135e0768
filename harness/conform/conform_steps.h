/* Random sequences of calls: steps that are drawn by weights. */
#ifndef HARNESS_CONFORM_STEPS_H
#define HARNESS_CONFORM_STEPS_H

#include "harness/conform/conform.h"
#include "randgraph/randgraph.h"

struct conform_step {
    void (*run)(void *sequence);
    uint32_t weight; /* those of a list add up to 100 */
};

/* Makes n steps, up to the first one with a finding, to which its number is added, or until
 * *is_over (NULL: never).  what: "a sequence of calls on buffers". */
void conform_run_steps(struct conform *c, struct rng *rng, const struct conform_step *step, int n,
                       const char *what, const bool *is_over, void *sequence);

#endif
