/* randgraph: random models that are valid by construction.
 *
 * A graph grows from its inputs operation by operation.  The catalogue's records say what may come
 * next and how to draw its operands; nothing here names an operation, but for a loop's
 * counter.  Types, shapes, scales and
 * zero points are chosen, propagated from what is there, or bridged by a cast, QUANTIZE or
 * DEQUANTIZE, so that graphs are connected in float and in quantised types.  The reference
 * computes every value as the graph grows: scales fit them, and none is infinite.  Seed and index
 * name a case for ever: same seed, same index, same options, same bits, on every machine.  The
 * bytes of a fuzzer enter by the same door as a seed. */
#ifndef RANDGRAPH_RANDGRAPH_H
#define RANDGRAPH_RANDGRAPH_H

#include "golden/golden.h"

/* Where every random choice comes from: a generator, or bytes (0 when they run out). */
struct rng {
    struct drawer drawer; /* so that records can draw: golden/model/op.h */
    uint64_t state[4];
    const uint8_t *bytes, *end; /* not NULL: choices come from here */
};
void rng_seed(struct rng *r, uint64_t seed, uint64_t index);
void rng_bytes(struct rng *r, const uint8_t *bytes, size_t length);
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0..n-1, n > 0, unbiased */
double rng_unit(struct rng *r);                /* [0, 1) */

/* What the choices weigh: randgraph/weights.def has names, defaults and meanings. */
enum { RANDGRAPH_MAX_OP_WEIGHTS = 128 };

struct randgraph_op_weight {
    const struct op *op;
    uint32_t weight;
};

struct randgraph_weights {
#define WEIGHT(name, value, meaning) uint32_t name;
#include "randgraph/weights.def"
#undef WEIGHT
    uint32_t n_ops; /* operations whose weight is not that of their kind */
    struct randgraph_op_weight op[RANDGRAPH_MAX_OP_WEIGHTS];
};
extern const struct randgraph_weights randgraph_weights_default;

/* Lines "name value" and "op NAME value", '#' begins a comment line; what is not named keeps its
 * default. */
int randgraph_weights_parse(const char *text, struct randgraph_weights *ret_weights, struct why *w);
/* All of them as such lines; NULL when out of memory. */
char *randgraph_weights_dump(const struct randgraph_weights *w, struct arena *a);

struct randgraph_options {
    uint32_t min_ops, max_ops; /* of the main graph: 1..100 */
    uint32_t max_dim;          /* largest dimension of the inputs: 1..64 */
    uint32_t max_elements;     /* of any tensor */
    int max_level;             /* feature level that the model may need: 1..8 */
    uint32_t dtypes;           /* bit per enum dtype that may occur as a main type; 0: all */
    double relaxed;            /* share of graphs with the relaxed flag */
    double constant;           /* share of fresh operands that are constants */
    double control_flow;       /* share of graphs that may hold IF and WHILE */
    /* Not NULL: every operation of the main graph has this name (a campaign of one operation). */
    const char *only;
    const struct randgraph_weights *weights; /* NULL: the defaults */
};
extern const struct randgraph_options randgraph_default;

/* Graph number `index` of campaign `seed`, into arena: model and input values; expected[].data
 * stays NULL.  Name: "random/s<seed>/i<index>".  -1 only when out of memory or the options allow
 * nothing. */
int randgraph_make(const struct randgraph_options *options, uint64_t seed, uint64_t index,
                   struct arena *arena, struct example *ret_example, struct why *w);
int randgraph_from(const struct randgraph_options *options, struct rng *r, struct arena *arena,
                   struct example *ret_example, struct why *w);

#endif
