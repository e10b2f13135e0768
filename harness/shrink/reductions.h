/* The reductions: each changes one aspect of a candidate, at one of its sites. */
#ifndef HARNESS_REDUCTIONS_H
#define HARNESS_REDUCTIONS_H

#include "golden/edit/edit.h"

/* What a reduction did at a site.  END: there is no such site. */
enum reduced { REDUCE_END = -1, REDUCE_NOTHING, REDUCE_DONE };

/* Changes the candidate at site 0, 1, ...  It makes something strictly smaller or plainer, so that
 * repeating all reductions comes to an end. */
typedef enum reduced reduce_at(struct edit *c, uint32_t site);

/* reduce_structure.c */
reduce_at shrink_operations; /* fewer, on the values that the reference computes */
reduce_at shrink_subgraphs;  /* one operation of a subgraph, alone */
reduce_at shrink_outputs;
reduce_at shrink_variadic; /* fewer operands of a variadic role, fewer results of a split */
reduce_at shrink_optional; /* omits optional operands */
reduce_at shrink_forms;    /* a shorter signature: implicit padding, no dilation */
/* reduce_control.c */
reduce_at shrink_chains;     /* an operation's input takes the place of its result */
reduce_at shrink_signatures; /* arguments and results of IF and WHILE that nothing reads */
/* reduce_shapes.c */
reduce_at shrink_dimensions; /* of all tensors that share them */
reduce_at shrink_ranks;      /* removes dimensions of 1 */
reduce_at shrink_unknown_shapes;
/* reduce_values.c */
reduce_at shrink_scalars; /* attributes: defaults, 0, 1, smaller */
reduce_at shrink_tensors; /* values of a tensor at once */
reduce_at shrink_elements;
/* shrink_types.c */
reduce_at shrink_types;     /* float32 for other types */
reduce_at shrink_scales;    /* scale 1, zero point 0 */
reduce_at shrink_flags;     /* relaxed computation, constants in pools */
reduce_at shrink_lifetimes; /* weights are constants, images inputs */

#endif
