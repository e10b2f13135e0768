/* Models as NNAPI has them: subgraphs of operands and operations. */
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
    uint32_t pool;      /* LIFE_CONSTANT_REFERENCE: which pool data points into */
    uint32_t subgraph;  /* LIFE_SUBGRAPH: index into model.graph (>= 1: 0 is the main graph) */
    uint32_t consumers; /* input slots of its graph's operations that read it */
    int32_t foreign;    /* DT_FOREIGN: prefix and number of the type; or an OEM type */
    const char *name;   /* NULL: none */
};

struct operation {
    int32_t code; /* NNAPI's, or prefix and number of an extension's operation */
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

/* Those of extensions that are known here have the prefixes that golden/model/extension.h gives
 * them. */
struct extension {
    const char *name;
    uint16_t prefix; /* of the types and operations of this model; not 0, one for each name */
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

/* Everything a model points to lives in the arena of whoever made it. */

/* Fills operand.consumers of every graph from the operations. */
void model_count_consumers(struct model *m);

/* Whether the model is legal NNAPI: types, shapes, quantisation, locations, lifetimes, operations'
 * signatures, one writer each, dataflow without cycles, no cycles between subgraphs.  Returns the
 * feature level it needs (1-8), or -1 with operand or operation, rule and values in *w:
 * WHY_INVALID: no driver may accept it; WHY_EXECUTION: it prepares, but its shapes contradict each
 * other, so that no execution can succeed. */
int model_validate(const struct model *m, struct why *w);
/* The same, but what prepares and cannot be executed gives its level too, and the reason in
 * *ret_impossible (may be NULL; otherwise its text is empty). */
int model_prepare(const struct model *m, struct why *ret_impossible, struct why *w);

bool operand_constant(const struct operand *o);
/* An operand whose value is left out: NO_VALUE, or a constant without bytes. */
bool operand_omitted(const struct operand *o);

/* Operation indexes in an order in which each runs after those whose results it reads; the declared
 * order where that is one.  ret_order: n_operations.  Indexes must have been checked. */
int graph_order(const struct graph *g, struct arena *scratch, uint32_t *ret_order, struct why *w);

/* What a test example is: a model with inputs and what must come out. */
struct example {
    const char *name; /* "V1_2/add_v1_2/add_v1_2_2" */
    struct model model;
    struct tensor *in;       /* one per input of the main graph; .data NULL: omitted */
    struct tensor *expected; /* one per output; .data NULL: not known */
    bool *ignored;           /* one per output: not compared */
    const char *since;       /* "V1_2", or "UNKNOWN" */
    bool expect_failure;     /* prepares, then must not execute */
    double multinomial_tolerance;
};

/* A deep copy in `a` of a valid model: constants by reference point into copies of their pools.
 * Returns -1 when out of memory. */
int model_copy(const struct model *from, struct arena *a, struct model *ret_model);

#endif
