/* Exemptions of the mutations (harness/corrupt/conform_mutations.h): mutants that can be valid
 * models, so that no driver has to reject them. */
#ifndef HARNESS_CONFORM_EXEMPT_H
#define HARNESS_CONFORM_EXEMPT_H

#include "harness/corrupt/conform_mutations.h"

/* Whether each operation of the current mutant has operands that exist, in a number and of types
 * that its record accepts at the walk's version.  Ranks, shapes, values and quantisation are not
 * considered, since Android's validation checks only some of them before execution.
 *
 * The mutant must have the operations of the valid model in their order.  Operations that run
 * subgraphs and those of extensions accept only the signature that they have in the valid model, a
 * loop also one with fewer outputs. */
bool conform_is_exempt(const struct conform_walk *w);

#endif
