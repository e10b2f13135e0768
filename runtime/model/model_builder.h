/* What a model has besides its golden model: what building needs, and what the golden model points
 * to. */
#ifndef RUNTIME_MODEL_BUILDER_H
#define RUNTIME_MODEL_BUILDER_H

#include "golden/base/arena.h"
#include "runtime/model/runtime_model.h"

/* Where the value of an operand of lifetime LIFE_CONSTANT_REFERENCE is until finish. */
struct value_source {
    ANeuralNetworksMemory *memory; /* NULL: at the operand's tensor.data */
    size_t offset;
};

struct model_builder {
    struct arena *arena;
    /* [0]: the graph that is built, its lists malloced.  [1 + i]: main graph of value[i], to which
     * operands of lifetime LIFE_SUBGRAPH refer by this index. */
    struct graph *graph;
    struct value_source *source;        /* by operand */
    const ANeuralNetworksModel **value; /* malloced */
    uint32_t n_values;
    size_t operand_room, source_room, operation_room, graph_room, value_room;
    bool relaxed;

    /* Once it is finished: */
    const uint32_t *n_in; /* by operation: inputs before any were left off */
    bool has_hash;        /* it is in `hash`; both belong to model_hash() */
    uint8_t hash[32];
    const ANeuralNetworksModel **part; /* by graph of the finished model; [0]: NULL */
    ANeuralNetworksMemory **pool;      /* the model's */
    ANeuralNetworksMemory *large;      /* of values that were given by pointer; NULL: none */
};

/* BAD_STATE unless the model is being built. */
int model_check_building(const ANeuralNetworksModel *m);
/* BAD_DATA unless the model has the operand. */
int model_check_operand(const ANeuralNetworksModel *m, int64_t index);
/* Room for one more element of `size` bytes in a malloced list of n; false: out of memory. */
bool list_grow(void *list, size_t n, size_t *room, size_t size);

/* Puts values that were given by pointer into shared memory and maps memories: every constant has
 * its data and its pool then. */
int model_gather_pools(ANeuralNetworksModel *m);
/* Adds the graphs of the models that operands refer to, their pools included. */
int model_gather_parts(ANeuralNetworksModel *m);
/* Leaves off trailing default arguments of a graph's operations that are constants by copy, so that
 * older drivers can execute them. */
int graph_remove_defaults(struct graph *g, struct arena *scratch, bool *ret_removed);
/* The same for the main graph. */
int model_remove_defaults(ANeuralNetworksModel *m, bool *ret_removed);
#endif
