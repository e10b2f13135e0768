/* Parts of an example's graphs as examples of their own, on the values of the reference.
 *
 * A part is any set of operations of the main graph, or one operation of a subgraph in one of its
 * calls.  Values that operations outside of the part compute become inputs, with the values that
 * the reference gives them; values that are read outside of it, or not at all, become outputs.  A
 * value without elements becomes the result of a SLICE, which precedes the part's operations. */
#ifndef HARNESS_PART_H
#define HARNESS_PART_H

#include "golden/golden.h"

/* An operation of a subgraph, with the inputs of one of its executions. */
struct body_call {
    uint32_t graph, operation;
    uint64_t call;     /* which execution of the operation, from 1 on */
    struct tensor *in; /* in calling order; .data NULL: omitted */
};

struct parts {
    const struct example *e;
    struct arena *arena;
    struct tensor *value; /* per operand of the main graph; .data NULL: omitted */
    uint32_t *order;      /* the operations of the main graph in order of execution */
    struct body_call
        *body; /* in order of execution, those that are only the last ones at the end */
    uint32_t n_bodies;
};

/* Runs the reference and keeps the values in arena; of a subgraph's operations those of executions
 * 1, 2, 4, 8, ... and the last one.  e must outlive the parts.  Of an
 * example that must fail at execution, what the failing operation and later ones compute is
 * missing, as if it were omitted; its parts must fail, too. */
int parts_find(const struct example *e, struct arena *arena, struct parts *ret, struct why *w);

/* Whether an operation of the main graph runs subgraphs: IF, WHILE. */
bool part_is_control(const struct parts *p, uint32_t operation);

/* The example of n operations of the main graph, different ones, in any order; in arena.  Its
 * operations are in order of execution.  The parts must outlive it. */
int part_make(const struct parts *p, const uint32_t *operation, uint32_t n, struct arena *arena,
              struct example *ret, struct why *w);
/* Whether an input of the example has no elements.  A request cannot give such an input.  It occurs
 * in parts that read a value of a type that SLICE does not take. */
bool part_has_empty_input(const struct example *e);
/* The example of a subgraph's operation.  Not of IF and WHILE in it, which have no body_call. */
int part_make_body(const struct parts *p, uint32_t body, struct arena *arena, struct example *ret,
                   struct why *w);

#endif
