/* randgraph: generates random models that are valid by construction.
 *
 * A graph is built one operation at a time.  About half of the operations consume an existing
 * value; the others are any operation of the catalogue, whose operands are new where no value fits,
 * so that a graph may have several parts that are not connected.  The catalogue's records
 * (golden/model/op.h) determine which operation can follow and how its operands are drawn; no
 * operation is named here, except LESS and ADD, which compute conditions and loop counters.  Types,
 * shapes, scales and zero points are drawn, propagated from existing operands, or converted by
 * CAST, QUANTIZE and DEQUANTIZE, so that operations are connected in float and in quantised types.
 * The reference executor computes every value while the graph is built: scales are fitted to the
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
    uint32_t large, most;       /* drawer.size: percent of sizes that are large, largest of all */
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

/* A set of operations, by index in op_table. */
enum { RANDGRAPH_OPS = 256 };

struct randgraph_ops {
    uint64_t bits[RANDGRAPH_OPS / 64];
};
void randgraph_ops_add(struct randgraph_ops *s, const struct op *op);
bool randgraph_ops_has(const struct randgraph_ops *s, const struct op *op);
uint32_t randgraph_ops_count(const struct randgraph_ops *s);
/* The set of that operation of the catalogue; of none for NULL. */
struct randgraph_ops randgraph_only(const char *name);

struct randgraph_support;
struct randgraph_steering; /* randgraph/coverage.h */

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
    /* The only operations of the graph; none: any.  Where all are IF or WHILE: of the main graph.
     * Conditions and loop counters are computed by LESS and ADD in any case. */
    struct randgraph_ops only;
    const struct randgraph_weights *weights; /* NULL: the defaults */
    double ways; /* not of the graph: share of the graphs that are also executed in other ways
                    (harness/check/variation.h) */
    /* Not of the name: a few graphs are ones with results without elements, or ones that must fail
     * at execution (example.expect_failure), for callers that handle them. */
    bool extremes;
    /* What the graphs are drawn for.  A digest without the support that has it is that of a name;
     * graphs can be generated once the support is set. */
    const struct randgraph_support *support;   /* NULL: any driver */
    uint64_t support_digest;                   /* randgraph_support_digest(support); 0: none */
    const struct randgraph_steering *steering; /* weights by coverage, likewise; NULL: none */
    uint64_t steering_digest;                  /* randgraph_steering_digest(steering); 0: none */
    /* The example that the graphs are mutations of, see below; NULL: none.  Of the other options
     * only max_dim, max_level, values, ways, weights and alike then count. */
    const struct example *from;
    uint64_t from_digest; /* randgraph_example_digest(from); 0: none */
    bool alike; /* not of the name: mutations keep operations, types and outputs, and change
                   quantisation more often */
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

/* ---- mutations (randgraph/mutate.c)
 *
 * With options.from a graph is that example with one to six changes: values of inputs and
 * constants, sizes, attributes, element types, quantisation, lifetimes, omitted operands, outputs;
 * operations replaced, added and removed.  Each change leaves a legal model that the reference
 * computes, with results in the range of those of random graphs or, where the example's are larger,
 * of its own. */

/* Digest of model and inputs: what mutations depend on.  Names and expected values do not count.
 * Never 0. */
uint64_t randgraph_example_digest(const struct example *e);
/* Whether the example can be mutated: it is legal at the options' feature level, all inputs have
 * values, and the reference runs it. */
int randgraph_check_from(const struct randgraph_options *options, const struct example *e,
                         struct why *w);

/* ---- what a driver supports (randgraph/support.c)
 *
 * A support set has limits for each combination of operation, form and typing row (a probe row).
 * It is learned from a driver's answers to models of one call each, the probe table, which depends
 * on the catalogue and RANDGRAPH_VERSION alone.  With options.support, EDGE_PERCENT of the graphs
 * have one operation that is drawn without regard to the set; all other operations are in it.  It
 * is never changed once it is complete, and may then be used by several threads. */

enum { RANDGRAPH_TRAITS = 19 + 2 * MAX_ROLES, RANDGRAPH_EDGE_PERCENT = 2 };
/* Calls that are drawn for a probe row: none of the first RANDGRAPH_FIRST_SAMPLES is supported: no
 * more; the limits learned so far predict the answers to the last RANDGRAPH_SURE_SAMPLES and two
 * for each limit: no more; at most RANDGRAPH_SAMPLES. */
enum { RANDGRAPH_FIRST_SAMPLES = 16, RANDGRAPH_SURE_SAMPLES = 20, RANDGRAPH_SAMPLES = 192 };
/* Large calls that can be drawn besides; those after them have the longest sides. */
enum { RANDGRAPH_LARGE = 32 };

/* A call of a probe row, and whether the driver supports it. */
struct randgraph_sample {
    uint8_t trait[RANDGRAPH_TRAITS];
    bool supported;
};

/* Variants of a model, which a driver may reject although it supports the model. */
enum randgraph_variant {
    VARIANT_RELAXED,      /* fp32 computed in fp16 */
    VARIANT_UNKNOWN_DIMS, /* of results */
    VARIANT_UNKNOWN_RANK,
    VARIANT_UNKNOWN_INPUT_DIMS, /* of tensors that are read */
    VARIANT_UNKNOWN_INPUT_RANK,
    VARIANT_CONSTANT_FIRST, /* the first tensor */
    RANDGRAPH_VARIANTS
};

/* What is supported of a probe row.  Has no pointers. */
struct randgraph_limits {
    bool supported;
    uint8_t without;                    /* bit per enum randgraph_variant: randgraph_refuse() */
    uint64_t allowed[RANDGRAPH_TRAITS]; /* bit per value of each trait; all: no limit */
    uint64_t refused_windows; /* sizes that are the only reason why a sample is not supported */
};

/* Number of probe rows; 0: out of memory. */
uint32_t randgraph_probe_rows(void);
/* "CONV_2D TENSOR_FLOAT32, TENSOR_FLOAT32, TENSOR_FLOAT32": of a probe row. */
void randgraph_probe_text(uint32_t row, char *ret_text, size_t size);
/* Draws call `index` of a probe row, large ones from RANDGRAPH_SAMPLES on, at a feature level of at
 * most max_level.  within: limits on it, or NULL.  -1: there is none, or out of memory.
 * *ret_example: as randgraph_make() makes it, without name. */
int randgraph_probe(uint32_t row, uint32_t index, int max_level,
                    const struct randgraph_limits *within, struct arena *arena,
                    struct example *ret_example, uint8_t ret_trait[RANDGRAPH_TRAITS],
                    struct why *w);
/* The limits that call `index` is to be drawn within, given what was learned from those before it:
 * until one is supported, plain calls and any calls in turn; then any, such as should be supported,
 * and ones that lack one of the learned limits, so that each is tested alone.  False: any call. */
bool randgraph_guide(uint32_t row, uint32_t index, const struct randgraph_limits *learned,
                     struct randgraph_limits *ret_within);
uint32_t randgraph_count_limits(const struct randgraph_limits *limits);
/* Whether sizes, or sides, are limited; and how large the largest operand of a sample is, or how
 * long its longest side, on the scale of the limits. */
enum randgraph_extent { EXTENT_SIZE, EXTENT_SIDE };
bool randgraph_limits_extent(const struct randgraph_limits *limits, enum randgraph_extent e);
uint32_t randgraph_sample_extent(const struct randgraph_sample *s, enum randgraph_extent e);
/* Changes an example of randgraph_probe() to the variant.  False: it has none. */
bool randgraph_probe_variant(struct example *e, enum randgraph_variant variant);
/* Notes that the driver rejects a variant.  A constant first tensor becomes a limit on its role. */
void randgraph_refuse(uint32_t row, enum randgraph_variant variant,
                      struct randgraph_limits *limits);
/* Limits within which all samples that the driver does not support are excluded. */
void randgraph_learn(uint32_t row, const struct randgraph_sample *sample, uint32_t n,
                     struct randgraph_limits *ret_limits);

/* Whether these limits predict that the sample is supported. */
bool randgraph_is_within(const struct randgraph_limits *l, const struct randgraph_sample *s);
/* limits: one per probe row.  A size of a window about which a row's samples do not tell is allowed
 * if another row of the operation supports it; a row without a limit on windows, though most of its
 * operation have one, gets theirs. */
void randgraph_share_windows(struct randgraph_limits *limits);

/* What is supported of whole models, whatever their operations are. */
enum randgraph_model_measure {
    MODEL_OPERATIONS, /* of the main graph, as all of these */
    MODEL_INPUTS,
    MODEL_OUTPUTS,
    MODEL_OPERANDS,
    MODEL_TYPES, /* element types of tensors, other than INT32 */
    MODEL_SAME,  /* operations of one kind */
    MODEL_READS, /* how often an operand that is not constant is read */
    MODEL_PARTS, /* operations that read no result */
    MODEL_POOLS, /* of constants by reference; this and the next are chosen for a complete graph */
    MODEL_READ_OUTPUTS, /* outputs that an operation reads, too */
    RANDGRAPH_MODEL_MEASURES
};
struct randgraph_model_limits {
    uint32_t above[RANDGRAPH_MODEL_MEASURES]; /* values from here on are refused; 0: none is */
};

/* A model of several operations within a set, and whether the driver supports it. */
struct randgraph_model_sample {
    uint32_t value[RANDGRAPH_MODEL_MEASURES];
    bool supported;
};
/* Draws model `index` within the set and its limits on whole models; no operation is at the edge of
 * the set.  Its dimensions are known.  -1: there is none, or out of memory. */
int randgraph_probe_model(const struct randgraph_support *s, uint32_t index, struct arena *arena,
                          struct example *ret_example, uint32_t ret_value[RANDGRAPH_MODEL_MEASURES],
                          struct why *w);
/* Limits beyond which the models are that the driver does not support, where all of those are. */
void randgraph_learn_models(const struct randgraph_model_sample *sample, uint32_t n,
                            struct randgraph_model_limits *ret_limits);
/* Whether these limits predict that the model is supported. */
bool randgraph_model_is_within(const struct randgraph_model_limits *l,
                               const struct randgraph_model_sample *s);
uint32_t randgraph_count_model_limits(const struct randgraph_model_limits *l);
/* The limits that model `index` is to be drawn within, given those learned so far: these, ones of
 * which one is less narrow, and ones of which all but one are, in turn.  False: there are none. */
bool randgraph_guide_models(uint32_t index, const struct randgraph_model_limits *learned,
                            struct randgraph_model_limits *ret_within);

/* limits: one per probe row; copied.  branch, loop: bit per enum dtype of the tensors that IF and
 * WHILE take.  models: NULL for no limits.  WHY_MEMORY; WHY_UNSUPPORTED: nothing is supported. */
int randgraph_support_new(int max_level, const struct randgraph_limits *limits, uint32_t branch,
                          uint32_t loop, const struct randgraph_model_limits *models,
                          struct randgraph_support **ret_support, struct why *w);
void randgraph_support_free(struct randgraph_support *s);
/* The text that randgraph_support_parse() reads; there is one for each set. */
const char *randgraph_support_text(const struct randgraph_support *s);
uint64_t randgraph_support_digest(const struct randgraph_support *s); /* of the text; never 0 */
int randgraph_support_parse(const char *text, struct randgraph_support **ret_support,
                            struct why *w);
/* Numbers of supported operations and probe rows. */
void randgraph_support_count(const struct randgraph_support *s, uint32_t *ret_ops,
                             uint32_t *ret_rows);

/* ---- names (randgraph/parameters.c)
 *
 * The name of a graph holds all that determines it: the generator's version, the options that are
 * not the defaults, in the order of the table in parameters.c, then seed and index:
 *
 *     random/v2/s7/i123
 *     random/v2/ops=3-5/op=ADD,RELU/types=TENSOR_FLOAT32,TENSOR_INT32/max-dim=4/level=2/s7/i123
 *     random/v2/for=ab12cd34ef567890/s7/i123
 *     random/v2/for=ab12cd34ef567890/cov=1234567890abcdef/s7/i123
 *     random/v2/from=12ab34cd56ef7890/s7/i123
 *
 * The last ones have digests: of the support set that the graph was drawn for, of the steering set
 * that it was drawn by, of the example that it is a mutation of.  What they are generated from is
 * the name and those sets or that example.
 * Each graph has exactly one name: lists are in the order of the catalogue.  Names need no quotes
 * in a shell. */

/* Version of the generator.  To be raised by each change after which some options, seed and index
 * give another graph; tests/randgraph/test_names.c fails until then. */
enum { RANDGRAPH_VERSION = 2 };

/* Bytes of a name, and of a value in it: a list of all operations has 1,300. */
enum { RANDGRAPH_NAME = 3072, RANDGRAPH_VALUE = 2048 };

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

/* Sets the option of that key from text, as in a name: "ops" from "3-5".  Lists may be in any order
 * and name an element twice.  -1: the text is not valid; *o is untouched. */
int randgraph_set(struct randgraph_options *o, const char *key, const char *value, struct why *w);
/* The next option that is not the default, as key and value.  *position: 0 at first.  Returns the
 * key; NULL: there are no more. */
const char *randgraph_next(const struct randgraph_options *o, int *position,
                           char value[RANDGRAPH_VALUE]);

#endif
