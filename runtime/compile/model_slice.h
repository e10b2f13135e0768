/* Feature levels of a model's operations, and the slice of a model that a driver of an older level
 * can be asked about (runtime.md 4.2). */
#ifndef RUNTIME_MODEL_SLICE_H
#define RUNTIME_MODEL_SLICE_H

#include "runtime/compile/model_part.h"

/* The levels that a model's parts need; RUNTIME_ONLY: no driver's suffices. */
struct model_level_list {
    const int *const *operation; /* [graph][operation]: itself, its operands, its subgraphs */
    const int *graph;            /* the highest of its operations and inputs */
};
/* WHY_INVALID: the model breaks a rule. */
int model_level_list_make(const ANeuralNetworksModel *m, struct arena *a,
                          struct model_level_list *ret_list, struct why *w);

enum slice_kind {
    SLICE_NOTHING,  /* no operation is left, or no output */
    SLICE_SUBGRAPH, /* invalid: an operation that is left refers to a subgraph */
    SLICE_MADE
};
/* The operations of a graph that need no more than a level, as a model. */
struct slice {
    enum slice_kind kind;
    struct model_part part;
    uint32_t n_operations;
    const uint32_t *operation; /* operation i of the part is this one of the graph */
};
int slice_make(const ANeuralNetworksModel *m, const struct model_level_list *levels, uint32_t graph,
               int level, struct arena *a, struct slice *ret_slice, struct why *w);

#endif
