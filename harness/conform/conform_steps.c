#include "harness/conform/conform_steps.h"

void conform_run_steps(struct conform *c, struct rng *rng, const struct conform_step *step, int n,
                       const char *what, const bool *is_over, void *sequence)
{
    for (int i = 0; i < n && !(is_over && *is_over); i++) {
        const uint32_t before = c->state->result->failures;
        uint32_t at = rng_below(rng, 100);
        int k = 0;
        conform_doing(c, "step %d of %s", i, what);
        while (at >= step[k].weight)
            at -= step[k++].weight;
        step[k].run(sequence);
        if (c->state->result->failures != before) {
            conform_require(c, false, "this was step %d of a random sequence", i);
            return;
        }
    }
}
