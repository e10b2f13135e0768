/* Models of single operations, with operands written as text:
 *
 *     "F32[2,3]: 1 2 3 4 5 6"       type, shape, values (decimal or hexadecimal, inf, nan)
 *     "U8[2]*0.5@128: 130 126"      scale, zero point; stored values
 *     "PC8[2,2]*1,0.5|0: 1 2 3 4"   one scale per index of dimension 0
 *     "const I32[1]: -1"            a constant of the model; scalars always are: "INT32: 0"
 *     "none I32[2]:"                an omitted operand
 *     "F32[1]: 1; F32[1]: 2"        two outputs */
#ifndef GOLDEN_ONE_OP_H
#define GOLDEN_ONE_OP_H

#include "golden/model/build.h"

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

/* Builds the model; the caller ends it with build_done(b).  Returns the number of outputs.
 * in: data of the model's inputs, in their order; expected: the outputs' values. */
uint32_t one_op_build(struct build *b, const struct one_op *o, struct tensor in[ONE_OP_INPUTS],
                      struct tensor expected[ONE_OP_OUTPUTS]);

#endif
