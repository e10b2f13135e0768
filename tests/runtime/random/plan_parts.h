/* The results that a compilation must have: the models of its plan's steps, each run alone on its
 * device by target_run() (sim/sim.h), with values that are passed on here.
 *
 * IF and WHILE are followed as the subgraphs are nested, not by the order of the plan's steps. */
#ifndef TESTS_PLAN_PARTS_H
#define TESTS_PLAN_PARTS_H

#include "runtime/compile/compilation.h"

struct parts_result {
    uint32_t n_parts;    /* parts that were run, one in each iteration of a loop */
    uint32_t n_fallback; /* of these on the reference, as their device has failed */
    bool is_whole;       /* a part cannot be run alone: a value between parts has no elements, so
                            that the reference computes the whole model */
    bool fails;          /* a device has failed, and the compilation does not fall back */
    struct tensor *out;  /* per output of the main graph, in the arena; none if it fails */
};

/* in: per input of the main graph, with complete shapes; .data NULL: omitted.  shapes_given: the
 * execution gives the shapes of all outputs (before level 3 devices cannot tell them).  -1: a part
 * cannot be run on the reference either, or a loop has more than PARTS_MOST_ITERATIONS. */
enum { PARTS_MOST_ITERATIONS = 10000 };
int plan_parts_run(const ANeuralNetworksCompilation *c, const struct tensor *in, bool shapes_given,
                   struct arena *a, struct parts_result *ret, struct why *w);

#endif
