/* The order in which the operations of a model are kept, and the dataflow that orders them. */
#ifndef RUNTIME_MODEL_SORT_H
#define RUNTIME_MODEL_SORT_H

#include "golden/base/arena.h"
#include "golden/model/model.h"

/* Which operations of a graph have all their inputs, while they are done one after another. */
struct readiness {
    const struct graph *graph;
    /* Per operation: the inputs, by position, whose operands are still to be written. */
    uint32_t *missing;
    /* Operand i is read by reader[first[i]] to reader[first[i + 1] - 1], ascending, an operation
     * once for each of its positions.  Operands that no operation writes have no readers here. */
    uint32_t *first, *reader;
};
/* Operand indexes must have been checked.  -1: out of memory. */
int readiness_init(struct readiness *r, const struct graph *g, struct arena *a, struct why *w);
/* The outputs of that operation are written: calls ready() for each operation that has all its
 * inputs now. */
void readiness_done(struct readiness *r, uint32_t operation,
                    void (*ready)(uint32_t operation, void *user), void *user);

/* Sorts the operations topologically: ret_order[i], of n_operations, is the one that comes at place
 * i.  Always the operation that has become ready last comes next, so that independent operations
 * come in reverse.  Operand indexes must have been checked.  WHY_INVALID: the dataflow has a cycle,
 * or an operation reads a temporary or an output that none writes. */
int model_sort(const struct graph *g, struct arena *scratch, uint32_t *ret_order, struct why *w);

#endif
