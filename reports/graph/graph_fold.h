/* Repeated blocks of operations: a sequence that occurs several times in a row, each time with the
 * same operations, attributes, types and shapes, connected in the same way. */
#ifndef REPORTS_GRAPH_FOLD_H
#define REPORTS_GRAPH_FOLD_H

#include "golden/golden.h"

struct graph_block {
    uint32_t first, length, count; /* its first operation; operations of one; how many there are */
};

/* What is shown in the place of each operation and operand: of a block the first one. */
struct graph_fold {
    uint32_t *operation, *operand; /* by index; itself: it is shown */
    uint32_t *block_of;            /* by operation: index in block[]; UINT32_MAX: none */
    struct graph_block *block;     /* in the order of the operations */
    uint32_t n_blocks;
};

/* kind: per operation a number; operations with different ones are not alike; NULL: all equal.
 * well_formed: per operation, whether its operands exist; operations that are not well formed are
 * in no block.  Values of constant tensors do not count, those of scalars do.  -1: out of memory.
 */
int graph_fold_find(const struct graph *g, const uint32_t *kind, const bool *well_formed,
                    struct graph_fold *ret, struct why *w);
/* Nothing is folded.  -1: out of memory. */
int graph_fold_none(const struct graph *g, struct graph_fold *ret, struct why *w);
void graph_fold_done(struct graph_fold *f);

/* Whether the operation reads a result of the block before its own: out of two blocks in a row of
 * the same kind, operation `at` is of the second, `writer` of the first. */
bool graph_fold_is_carried(const struct graph_fold *f, uint32_t writer, uint32_t at);

#endif
