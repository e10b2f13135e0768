/* Internal to randgraph: mutations of an example.
 *
 *   mutate.c             chooses mutations, makes the example consistent again, checks the result
 *   mutate_operands.c    values, sizes, element types, quantisation, lifetimes
 *   mutate_operations.c  attributes and omitted operands; other, more or fewer operations
 *
 * A mutation changes a copy of the example; what is not legal, or not computable by the reference,
 * is dropped, and another mutation is drawn. */
#ifndef RANDGRAPH_MUTATE_INTERNAL_H
#define RANDGRAPH_MUTATE_INTERNAL_H

#include "golden/edit/edit.h"
#include "randgraph/randgraph_internal.h"

struct mutation {
    struct builder b;        /* options, random numbers and memory of the functions that draw */
    const struct edit *from; /* the example before the mutation; its operations all bind */
    /* What the reference computed for `from`, by operand of the main graph; .data NULL: not known.
     */
    const struct tensor *value;
};

/* Changes *e, a copy of m->from.  False: it does not apply, or out of memory. */
typedef bool mutate(struct mutation *m, struct edit *e);

/* mutate_operands.c */
mutate mutate_values, mutate_sizes, mutate_types, mutate_quantisation, mutate_lifetime,
    mutate_outputs, mutate_relaxed;
/* mutate_operations.c */
mutate mutate_attributes, mutate_optional, mutate_replaced, mutate_appended, mutate_inserted,
    mutate_removed;

/* ---- calls of an example as if they were being drawn (mutate.c) */

/* How an operation of the main graph binds: what a draft of it needs. */
struct call_form {
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    uint8_t role[MAX_CALL];
    uint32_t n_in;
    bool nchw;
};
bool call_form_of(const struct edit *e, uint32_t operation, struct call_form *ret);
/* A draft of the call with its first n_in operands, those that follow to be drawn; kernel sizes are
 * the smallest of the call's.  The shapes and values are those of *e. */
bool redraft(struct mutation *m, const struct edit *e, uint32_t operation,
             const struct call_form *s, uint32_t n_in, struct draft *ret);
/* Adds operand `at`, which has been set, to the draft. */
void redraft_next(struct draft *d, const struct edit *e, uint32_t operation, uint32_t at);
/* The role of result k. */
const struct role *result_role(const struct op *op, uint32_t k);

/* Draws attribute `at`, a scalar or a tensor whose values the record draws, anew.  False: it is
 * none, or the layout or number of results, which the operands have to follow. */
bool redraw_attribute(struct mutation *m, struct edit *e, uint32_t operation,
                      const struct call_form *s, uint32_t at);
/* Restores the rules of scales and zero points, operation by operation.  like: the form of each
 * operation; NULL: those of m->from. */
bool follow_quantisation(struct mutation *m, struct edit *e, const struct call_form *like);
/* Infers all shapes, and draws attributes anew that do not fit them. */
bool follow_shapes(struct mutation *m, struct edit *e);

/* The input of the main graph that the operand is; -1: none. */
int64_t input_of(const struct edit *e, uint32_t operand);
/* New values for a value of the example (in its arena), which has its type, shape and scale, as its
 * readers need them.  False: the record of a reader draws it. */
bool refill(struct mutation *m, struct edit *e, const struct value_ref *ref, struct tensor *t);

#endif
