/* One execution through the C API, in a way that is drawn: which of the four starts, how often,
 * arguments at addresses or in memory, padded or not. */
#ifndef TESTS_RANDOM_EXECUTION_H
#define TESTS_RANDOM_EXECUTION_H

#include "golden/model/model.h"
#include "randgraph/randgraph.h"
#include "runtime/include/NeuralNetworks.h"

enum start_way { START_COMPUTE, START_ASYNC, START_BURST, START_FENCED, START_WAYS };
extern const char *const way_name[START_WAYS];

struct random_execution {
    enum start_way way;
    bool is_reusable, is_padded, in_memory;
    bool shapes_given; /* of outputs whose shape the model does not declare */
    uint32_t n_runs;   /* of one execution object; more than 1: it is reusable */
};
struct random_execution random_execution_draw(struct rng *r);

/* Executes, and gives the outputs of the last run, in the arena.  like: per output of the model's
 * main graph, type and quantisation, and the shape that is expected where the model does not
 * declare it; if it is not given, there is room for more than that.  *ret_result: of the first
 * start, or of its end, that was no success.  -1: another call fails, results of two runs differ,
 * or bytes behind an argument have been written. */
int random_execution_run(const struct random_execution *x, ANeuralNetworksCompilation *c,
                         const struct model *m, const struct tensor *in, const struct tensor *like,
                         struct arena *a, struct tensor *ret_out, int *ret_result, struct why *w);

#endif
