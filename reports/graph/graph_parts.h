/* What the forms of a graph (Graphviz text, JSON, the comparison of two models) share: the roles of
 * operands, and types, values and names as text. */
#ifndef REPORTS_GRAPH_PARTS_H
#define REPORTS_GRAPH_PARTS_H

#include <stdio.h>

#include "golden/golden.h"

/* An operation with its record and, if they can be determined, the roles of its operands. */
struct described {
    const struct operation *call;
    const struct op *op; /* NULL: not in the catalogue */
    struct call bound;   /* form NULL: roles are not known */
};

/* The operands of the operation must have indexes below n_operands, known types and ranks up to
 * MAX_RANK for the roles to be looked for: only then is well_formed true. */
struct described graph_describe(const struct graph *g, const struct operation *call,
                                bool well_formed);
/* Whether that holds of an operation. */
bool operation_is_well_formed(const struct graph *g, const struct operation *call);

/* The role of input or output i; NULL: not known. */
const struct role *described_in(const struct described *s, uint32_t i);
const struct role *described_out(const struct described *s, uint32_t i);
/* Name of an enumerated value: a fused activation or padding scheme; else NULL. */
const char *role_meaning(const struct role *role, const struct operand *o);

/* Whether the value can be read: known type, shape and all bytes present. */
bool operand_is_readable(const struct operand *o);
/* Whether it is a constant of a scalar type. */
bool operand_is_scalar(const struct operand *o);
/* Element i of a readable operand, as stored: quantised values are integers. */
double operand_stored(const struct operand *o, size_t i);
/* The same as text; of BOOL "true" and "false". */
void operand_put_value(const struct operand *o, size_t i, FILE *to);
/* "TENSOR_FLOAT32 [2,3]", "INT32", "type 4711". */
void operand_put_type(const struct operand *o, FILE *to);
/* "scale 0.5, zero 128", "64 scales along dimension 3"; nothing for types without quantisation. */
void operand_put_quantisation(const struct operand *o, const char *before, FILE *to);

/* Name of an operation of the model, and of its extension ("": none). */
struct operation_title {
    char name[64], extension[64];
};
struct operation_title operation_title(const struct model *m, const struct operation *call);

/* The operation that writes each operand of the graph, malloced: GRAPH_NONE where none does,
 * GRAPH_SEVERAL where more than one does.  NULL: out of memory. */
#define GRAPH_NONE    UINT32_MAX
#define GRAPH_SEVERAL (UINT32_MAX - 1)
uint32_t *graph_writers(const struct graph *g);
/* How many inputs of operations read each operand, malloced.  NULL: out of memory. */
uint32_t *graph_readers(const struct graph *g);

#endif
