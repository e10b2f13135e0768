/* A part of a model as a model of its own: some operations of one graph, with the graphs, pools and
 * extensions that they refer to. */
#ifndef RUNTIME_MODEL_PART_H
#define RUNTIME_MODEL_PART_H

#include "runtime/model/runtime_model.h"

/* Operations and operands of graph `graph`.  Every operand that the operations read is an input, a
 * constant, or written by one of them before. */
struct part_request {
    uint32_t graph;
    uint32_t n_operations, n_inputs, n_outputs;
    const uint32_t *operation;      /* in their order */
    const uint32_t *input, *output; /* of the part */
};

struct model_part {
    struct model model;
    ANeuralNetworksMemory *const *pool; /* behind model.pool[i]; NULL: as of the whole model */
};

/* Operands are numbered as they occur, operation by operation, inputs before outputs; those that
 * nothing uses are dropped.  The graphs that IF and WHILE refer to follow depth first, each once.
 * Values stay where they are in m.  -1: out of memory. */
int model_part_make(const ANeuralNetworksModel *m, const struct part_request *request,
                    struct arena *a, struct model_part *ret_part, struct why *w);

/* All of a graph, with its inputs and outputs. */
int model_part_whole(const ANeuralNetworksModel *m, uint32_t graph, struct arena *a,
                     struct model_part *ret_part, struct why *w);

#endif
