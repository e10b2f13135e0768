/* The difference of two models: which operations of one are in the other, and what changed. */
#ifndef REPORTS_GRAPH_DIFF_H
#define REPORTS_GRAPH_DIFF_H

#include "reports/graph/graph_dump.h"

/* Of one graph of both models. */
struct graph_pair {
    const struct graph *a, *b; /* one without operations where a model has no such graph */
    uint32_t *to_b, *to_a;     /* by operation: the one in the other model; UINT32_MAX: none */
    const char **changes;      /* by operation of b: what differs, in lines; NULL: nothing */
    const char *of_graph;      /* the same of inputs and outputs of the graph */
};

struct graph_difference {
    const struct model *a, *b;
    struct graph_pair *pair; /* by graph */
    uint32_t n_pairs;
    uint32_t n_added, n_removed, n_changed, n_same; /* operations */
    const char *of_model;                           /* what else differs, in lines; NULL: nothing */
    bool is_different;
};

/* Pairs operations of the same code so that their order is the same and as much as possible is
 * equal; then compares attributes, constants, types and connections.  In the arena; both models,
 * valid ones, must outlive the result.  WHY_UNSUPPORTED: too many operations differ. */
int graph_diff(const struct model *a, const struct model *b, struct arena *arena,
               struct graph_difference *ret, struct why *w);
/* Prints the differences as text: "- " what only a has, "+ " what only b has, "~ " what both have.
 */
void graph_diff_print(const struct graph_difference *d, FILE *to);
/* Model b with what only a has, and notes on what is different, for drawing: in the arena.
 * ret_options: for graph_dump_dot(). */
int graph_diff_merge(const struct graph_difference *d, struct arena *arena, struct model *ret_model,
                     struct graph_dump_options *ret_options, struct why *w);

#endif
