/* Tests of single operations on the reference, with operands written as text:
 *
 *     "F32[2,3]: 1 2 3 4 5 6"       type, shape, values (decimal or hexadecimal, inf, nan)
 *     "U8[2]*0.5@128: 130 126"      scale, zero point; stored values
 *     "PC8[2,2]*1,0.5|0: 1 2 3 4"   one scale per index of dimension 0
 *     "const I32[1]: -1"            a constant of the model; scalars always are: "INT32: 0"
 *     "none I32[2]:"                an omitted operand
 *     "F32[1]: 1; F32[1]: 2"        two outputs */
#ifndef TESTS_ONE_OP_H
#define TESTS_ONE_OP_H

#include "tests/support/build.h"

enum { ONE_OP_INPUTS = 15, ONE_OP_OUTPUTS = 4 };

struct one_op {
    const char *name;
    const char *op;
    int level; /* feature level that the model needs; 0: not checked */
    const char *in[ONE_OP_INPUTS];
    const char *out;
};

/* The tensor that a text describes, with its data, in the builder's arena.  Aborts if the text is
 * malformed. */
struct tensor one_op_tensor(struct build *b, const char *text);

/* A model of one operation, its plan, inputs, expected outputs and result. */
struct one_op_run {
    struct build b;
    struct plan *plan;
    struct tensor arg[ONE_OP_INPUTS];
    struct tensor expected[ONE_OP_OUTPUTS];
    uint32_t n_expected;
    struct result result;
};

/* Builds the model only.  The caller ends it with build_done(&r->b). */
void one_op_build(struct one_op_run *r, const struct one_op *c);

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
