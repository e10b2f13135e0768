/* An example that reductions change, and the helpers that they share.
 *
 * A reduction changes the lists, values and constants of a copy; candidate_settle() then removes
 * what nothing reads any more and computes all shapes anew by running the reference, so that a
 * reduction need not keep the model consistent. */
#ifndef HARNESS_CANDIDATE_H
#define HARNESS_CANDIDATE_H

#include "golden/golden.h"

struct shrink_candidate {
    struct example e;
    struct arena *arena; /* owns all of e */
    bool specify;        /* unknown dimensions become those of this execution */
    uint32_t next;       /* set by a reduction: no site before this one applies; 0: not known */
};

/* A tensor or scalar whose value the example gives: an input of the main graph or a constant. */
struct value_ref {
    uint32_t graph, operand;
    int64_t input; /* position among the main graph's inputs; -1: a constant */
};

/* Copies an example into the arena; its outputs lose their expected values. */
int candidate_copy(const struct example *from, struct arena *arena, struct shrink_candidate *ret,
                   struct why *w);

/* Where an operation of the main graph does not fit its record any more, such as a RESHAPE whose
 * input has become smaller, looks for a smaller value of one of its integer constants with which it
 * does. */
void candidate_repair(struct shrink_candidate *c);

/* Removes operations without effect, unused operands and subgraphs, and sets the shapes of all
 * operands that operations write.  -1: the model is not valid, or the reference cannot run it. */
int candidate_settle(struct shrink_candidate *c, struct why *w);

/* Binds an operation to its record as validation does, with the shapes of its outputs open.  False:
 * it is not in the catalogue, or does not fit.  The call is valid until the candidate changes. */
bool candidate_bind(const struct shrink_candidate *c, uint32_t graph, uint32_t operation,
                    struct call *ret_call);

/* All values of the example, inputs first; omitted ones are left out.  In the arena. */
uint32_t candidate_values(const struct shrink_candidate *c, struct value_ref **ret_refs);
struct tensor *candidate_tensor(struct shrink_candidate *c, const struct value_ref *ref);
/* Gives a value another shape, type or data (in the arena): tensor has all of them. */
void candidate_set_value(struct shrink_candidate *c, const struct value_ref *ref,
                         const struct tensor *tensor);

/* Number of operations of all graphs. */
uint32_t candidate_operations(const struct example *e);
/* Elements of the largest operand of the main graph. */
size_t candidate_largest(const struct example *e);

/* Makes an operand an input of the main graph with that value. */
int candidate_add_input(struct shrink_candidate *c, uint32_t operand, const struct tensor *value);
/* Removes output k from the list of the main graph; its operand becomes a temporary. */
void candidate_remove_output(struct shrink_candidate *c, uint32_t k);
/* Appends a constant scalar to a graph: its operand index; UINT32_MAX: out of memory. */
uint32_t candidate_add_scalar(struct shrink_candidate *c, uint32_t graph, enum dtype dtype,
                              double value);

#endif
