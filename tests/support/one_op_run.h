/* Tests of single operations, written as text (golden/model/one_op.h), on the reference. */
#ifndef TESTS_ONE_OP_RUN_H
#define TESTS_ONE_OP_RUN_H

#include "golden/model/one_op.h"

/* A model of one operation, its plan, inputs, expected outputs and result. */
struct one_op_run {
    struct build b;
    struct plan *plan;
    struct tensor arg[ONE_OP_INPUTS];
    struct tensor expected[ONE_OP_OUTPUTS];
    uint32_t n_expected;
    struct result result;
};

/* Builds the model, plans and runs it.  Returns 0, or a negative number with the reason in w; the
 * caller ends it with one_op_done() in both cases. */
int one_op_start(struct one_op_run *r, const struct one_op *c, const struct exec_options *options,
                 struct why *w);
void one_op_done(struct one_op_run *r);

/* Runs the case; fails the test unless level, shapes and all elements are the expected ones (two
 * NaNs are equal, and so are zeros of either sign). */
void one_op_check(const struct one_op *c);

/* Fails the test unless the reference rejects the case with this code and a reason that contains
 * `text`. */
void one_op_check_rejected(const struct one_op *c, enum why_code code, const char *text);

/* Binds an operation to the form and typing row that its operands declare; fails the test if none
 * matches.  The tensors of *ret_call are invalid after the return. */
void one_op_bind(const struct graph *g, const struct operation *o, struct call *ret_call);

#endif
