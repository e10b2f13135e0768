/* Tests of single operations, their operands written as text:
 *
 *     "F32[2,3]: 1 2 3 4 5 6"       type, shape, values (decimal or hexadecimal, inf, nan)
 *     "U8[2]*0.5@128: 130 126"      scale, zero point; values as they are stored
 *     "PC8[2,2]*1,0.5|0: 1 2 3 4"   one scale per index of dimension 0
 *     "const I32[1]: -1"            a constant of the model; scalars always are: "INT32: 0"
 *     "none I32[2]:"                an operand that is left out
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

/* The tensor that a text describes, with its data, in the builder's arena.  Aborts on bad text. */
struct tensor one_op_tensor(struct build *b, const char *text);

struct one_op_run {
    struct build b;
    struct plan *plan;
    struct tensor arg[ONE_OP_INPUTS];
    struct tensor expected[ONE_OP_OUTPUTS];
    uint32_t n_expected;
    struct result result;
};

/* Builds the model alone; to be ended with build_done(). */
void one_op_build(struct one_op_run *r, const struct one_op *c);

/* Builds the model, plans it and runs it; -1 with the reason.  In any case end with one_op_done().
 */
int one_op_start(struct one_op_run *r, const struct one_op *c, const struct exec_options *options,
                 struct why *w);
void one_op_done(struct one_op_run *r);

/* Runs the case and fails the test unless level, shape and every stored bit are as expected. */
void one_op_check(const struct one_op *c);

/* Fails the test unless the case is refused with that code and a reason that contains `text`. */
void one_op_check_refused(const struct one_op *c, enum why_code code, const char *text);

/* Form and typing row of an operation as its graph declares it; fails the test when it has none.
 * The call's tensors are not to be looked at. */
void one_op_bind(const struct graph *g, const struct operation *o, struct call *ret_call);

#endif
