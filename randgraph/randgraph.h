/* randgraph: generates random models that are valid by construction.
 *
 * A graph is built from its inputs, one operation at a time.  The catalogue's records
 * (golden/model/op.h) determine which operation can follow and how its operands are drawn; no
 * operation is named here, except LESS and ADD, which compute conditions and loop counters.  Types,
 * shapes, scales and zero points are drawn, propagated from existing operands, or converted by
 * CAST, QUANTIZE and DEQUANTIZE, so that graphs are connected in float and in quantised types.  The
 * reference executor computes every value while the graph is built: scales are fitted to the
 * values, and calls with infinite results are dropped.  The same seed, index and options give the
 * same bits on every machine.  A fuzzer's bytes replace the generator through the same interface
 * (struct rng). */
#ifndef RANDGRAPH_RANDGRAPH_H
#define RANDGRAPH_RANDGRAPH_H

#include "golden/golden.h"

/* The source of every random choice: xoshiro256++, or a buffer of bytes. */
struct rng {
    struct drawer
        drawer; /* first member: passed to the draw functions of records (golden/model/op.h) */
    uint64_t state[4];
    const uint8_t *bytes, *end; /* not NULL: choices are read from here, 0 after its end */
};
/* Seeded by splitmix64 of seed and index. */
void rng_seed(struct rng *r, uint64_t seed, uint64_t index);
/* The bytes are not copied.  NULL: an empty buffer. */
void rng_bytes(struct rng *r, const uint8_t *bytes, size_t length);
uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0..n-1, n > 0; unbiased unless from bytes */
double rng_unit(struct rng *r);                /* [0, 1) */

/* Probabilities of the choices: randgraph/weights.def has names, defaults and meanings. */
enum { RANDGRAPH_MAX_OP_WEIGHTS = 128 };

struct randgraph_op_weight {
    const struct op *op;
    uint32_t weight;
};

struct randgraph_weights {
#define WEIGHT(name, value, meaning) uint32_t name;
#include "randgraph/weights.def"
#undef WEIGHT
    uint32_t n_ops; /* operations with a weight of their own instead of their kind's */
    struct randgraph_op_weight op[RANDGRAPH_MAX_OP_WEIGHTS];
};
extern const struct randgraph_weights randgraph_weights_default;

/* Parses lines "name value" and "op NAME value"; '#' begins a comment line.  Weights that are not
 * listed keep their defaults.  -1: the reason, with the line's number; *ret_weights is untouched.
 */
int randgraph_weights_parse(const char *text, struct randgraph_weights *ret_weights, struct why *w);
/* All weights in that format, each below a comment with its meaning, in the arena.  NULL: out of
 * memory. */
char *randgraph_weights_dump(const struct randgraph_weights *w, struct arena *a);

/* Profiles of the values of new operands.  MIX draws a profile for each operand of most graphs, and
 * one for all operands of the others. */
enum randgraph_values {
    VALUES_MIX,
    VALUES_UNIFORM,     /* around zero */
    VALUES_EDGE,        /* zeros, limits, subnormals; in some graphs infinities, NaN, wrap-around */
    VALUES_EXACT,       /* small whole numbers: exact sums, many ties */
    VALUES_ADVERSARIAL, /* large logits, means far above deviations, saturating codes, sparse data
                         */
    VALUES_END
};

struct randgraph_options {
    uint32_t min_ops, max_ops; /* operations of the main graph: 1..100 */
    uint32_t max_dim;          /* largest dimension of a drawn shape: 1..64; most are up to 10 */
    uint32_t max_elements;     /* of any tensor: at least 1; in most graphs at most 4096 */
    int max_level;             /* highest feature level that the model may need: 1..8 */
    uint32_t dtypes;           /* bit per enum dtype allowed as a main type; 0: all */
    double relaxed;            /* share of graphs with the relaxed flag */
    double constant;           /* share of new operands that are constants */
    double control_flow;       /* share of graphs that may contain IF and WHILE */
    enum randgraph_values values;
    const char *only;                        /* the only operation of the main graph; NULL: any */
    const struct randgraph_weights *weights; /* NULL: the defaults */
    double ways; /* not of the graph: share of the graphs that are also executed in other ways
                    (harness/check/variation.h) */
};
extern const struct randgraph_options randgraph_default;

/* Generates graph number `index` of campaign `seed` into the arena: the model and the values of its
 * inputs; expected[] has types and shapes, its data stays NULL.  The example has the name that
 * randgraph_name() gives.  options: NULL for the defaults.  -1: the options are invalid or allow no
 * operation, or out of memory (WHY_MEMORY); *ret_example is untouched. */
int randgraph_make(const struct randgraph_options *options, uint64_t seed, uint64_t index,
                   struct arena *arena, struct example *ret_example, struct why *w);
/* The same with choices from r; the example has no name. */
int randgraph_from(const struct randgraph_options *options, struct rng *r, struct arena *arena,
                   struct example *ret_example, struct why *w);

/* ---- names (randgraph/parameters.c)
 *
 * The name of a graph holds all that determines it: the generator's version, the options that are
 * not the defaults, in the order of the table in parameters.c, then seed and index:
 *
 *     random/v2/s7/i123
 *     random/v2/ops=3-5/op=ADD/types=TENSOR_FLOAT32,TENSOR_INT32/max-dim=4/level=2/s7/i123
 *
 * Each graph has exactly one name.  Names need no quotes in a shell, and each part between slashes
 * is the name of a file. */

/* Version of the generator.  To be raised by each change after which some options, seed and index
 * give another graph; tests/randgraph/test_names.c fails until then. */
enum { RANDGRAPH_VERSION = 2 };

enum { RANDGRAPH_NAME = 1024, RANDGRAPH_VALUE = 512 }; /* bytes of a name; of a value in it */

/* options: valid ones. */
void randgraph_name(const struct randgraph_options *options, uint64_t seed, uint64_t index,
                    char name[RANDGRAPH_NAME]);
/* Parses such a name.  WHY_INVALID: it is not one, or is not the one that the graph has, which the
 * reason gives.  WHY_UNSUPPORTED: it is that of another version, or of weights, which a name cannot
 * hold. */
int randgraph_parse_name(const char *name, struct randgraph_options *ret_options,
                         uint64_t *ret_seed, uint64_t *ret_index, struct why *w);
/* Whether a name, or a pattern of names, has the form "random/s7/i123" of Halcyon 0.3 and older, in
 * which the version and the options are missing. */
bool randgraph_is_old_name(const char *name);

/* Sets the option of that key from text, as in a name: "ops" from "3-5".  -1: the text is not
 * valid; *o is untouched. */
int randgraph_set(struct randgraph_options *o, const char *key, const char *value, struct why *w);
/* The next option that is not the default, as key and value.  *position: 0 at first.  Returns the
 * key; NULL: there are no more. */
const char *randgraph_next(const struct randgraph_options *o, int *position,
                           char value[RANDGRAPH_VALUE]);

#endif
