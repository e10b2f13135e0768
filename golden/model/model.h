/* Models as in NNAPI: a main graph and subgraphs, of operands and operations.  Everything that a
 * model points to belongs to the arena of its creator. */
#ifndef GOLDEN_MODEL_H
#define GOLDEN_MODEL_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "golden/model/tensor.h"

enum lifetime {
    LIFE_TEMPORARY,
    LIFE_INPUT,
    LIFE_OUTPUT,
    LIFE_CONSTANT_COPY,
    LIFE_CONSTANT_REFERENCE,
    LIFE_NO_VALUE,
    LIFE_SUBGRAPH,
    LIFE_COUNT
};
extern const char *const lifetime_name[LIFE_COUNT]; /* "TEMPORARY_VARIABLE", ... */

struct operand {
    struct tensor tensor; /* .data: value of a constant, `length` bytes; else NULL */
    enum lifetime life;
    size_t length;
    uint32_t pool;      /* LIFE_CONSTANT_REFERENCE: index of the pool that holds the data */
    uint32_t subgraph;  /* LIFE_SUBGRAPH: index into model.graph (>= 1: 0 is the main graph) */
    uint32_t consumers; /* number of operation inputs of its graph that read it */
    int32_t foreign;    /* DT_FOREIGN: the type code, with its extension's prefix; or an OEM type */
    const char *name;   /* NULL: none */
};

struct operation {
    int32_t code; /* NNAPI's, or one with an extension's prefix (golden/model/extension.h) */
    uint32_t n_in, n_out;
    uint32_t *in, *out; /* operand indexes */
};

struct graph {
    struct operand *operand;
    struct operation *operation;
    uint32_t *input, *output; /* operand indexes */
    uint32_t n_operands, n_operations, n_inputs, n_outputs;
};

struct pool {
    const void *data;
    size_t length;
};

/* An extension that the model uses.  Listed extensions have the prefixes of
 * golden/model/extension.h. */
struct extension {
    const char *name;
    uint16_t prefix; /* in type and operation codes of this model; not 0, unique */
};

struct model {
    struct graph *graph; /* [0] is the main graph, the others are referenced by IF and WHILE */
    uint32_t n_graphs;
    struct pool *pool;
    uint32_t n_pools;
    struct extension *extension;
    uint32_t n_extensions;
    bool relaxed; /* fp32 may be computed in fp16 */
};

/* For each of n_operands operands its first position in `list`, as that of a graph's inputs or
 * outputs: -1 where it is not in the list.  Malloced; NULL: out of memory. */
int64_t *list_positions(const uint32_t *list, uint32_t n, uint32_t n_operands);

/* Fills operand.consumers of every graph from its operations. */
void model_count_consumers(struct model *m);

/* Validates the model against NNAPI's rules: types, shapes, quantisation, locations, lifetimes,
 * operation signatures, one writer per operand, no cycles in the dataflow or between subgraphs.
 * Returns the feature level it needs (1-8), or -1 with operand or operation, rule and values in *w.
 * WHY_INVALID: no driver may accept it.  WHY_EXECUTION: it can be prepared, but its shapes
 * contradict each other, so that every execution fails. */
int model_validate(const struct model *m, struct why *w);
/* The same, except that a model that can be prepared but not executed gives its level, with the
 * reason in *ret_impossible (may be NULL; its text is empty for other models). */
int model_prepare(const struct model *m, struct why *ret_impossible, struct why *w);

/* The same for a model that is built with NNAPI's C API, as NNAPI's runtime checks it when it is
 * finished: of operations the signature only (op_check_signature()), of extensions' types and
 * operations nothing, and which operands are omitted is not checked.  w must not be NULL. */
int model_check_api(const struct model *m, struct why *w);
/* Checks scale and zero point of an operand against its type, a valid one. */
int tensor_check_scale(const struct tensor *t, struct why *w);
/* Checks the operands of IF or WHILE, which have the types of the operation's record, against the
 * inputs and outputs of their subgraphs.  Other operations: 0. */
int operation_check_control(const struct model *m, const struct graph *g, const struct operation *o,
                            struct why *w);

bool operand_constant(const struct operand *o);
/* Whether the operand's value is omitted: NO_VALUE, or a constant of length 0. */
bool operand_omitted(const struct operand *o);

/* Sorts the operations topologically into ret_order[n_operations]; keeps the declared order if it
 * is valid.  Operand indexes must have been checked.  WHY_INVALID: the dataflow has a cycle. */
int graph_order(const struct graph *g, struct arena *scratch, uint32_t *ret_order, struct why *w);

/* A test example: a model with inputs and expected outputs. */
struct example {
    const char *name; /* "V1_2/add_v1_2/add_v1_2_2" */
    struct model model;
    struct tensor *in;            /* one per input of the main graph; .data NULL: omitted */
    struct tensor *expected;      /* one per output; .data NULL: not known */
    bool *ignored;                /* one per output: not compared */
    const char *since;            /* "V1_2", or "UNKNOWN" */
    bool expect_failure;          /* preparation succeeds, execution must fail */
    double multinomial_tolerance; /* allowed difference of frequencies (judge_distribution()) */
    size_t line;                  /* of the file that it is from; 0: unknown */
};

/* Makes a deep copy of a valid model in `a`; constants by reference point into copies of their
 * pools.  -1: out of memory. */
int model_copy(const struct model *from, struct arena *a, struct model *ret_model);

#endif
