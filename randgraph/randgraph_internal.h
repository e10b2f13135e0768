/* Internal to randgraph: the graph under construction and the call drawn next.
 *
 *   randgraph.c      one example: types, graph, name
 *   grow.c           chooses a value and the operation that consumes it
 *   rows.c           index of the catalogue by operand type
 *   draft.c          one call: draws its operands in the order of its form
 *   shapes.c, scales.c, draw_values.c, scalars.c   shape, quantisation and values of an operand
 *   builder.c        operands and operations added so far
 *   draft_results.c  computes the results of a call and fits their scales
 *   illegal.c        values with which the execution must fail
 *   control_flow.c   IF and WHILE
 *   finish.c         outputs, unknown dimensions, memory pools: the finished model
 *   parameters.c     options as text, names of graphs
 *   traits.c         what a call is like, as a driver's limits see it
 *   coverage_internal.h   counts of calls, and weights by them
 *   model_limits.c   what a graph as a whole is like, and a driver's limits on that
 *   support.c, support_text.c   what a driver supports, learned from its answers, and as text
 *   mutate*.c        mutations of a given example (mutate_internal.h)
 *
 * Every value is computed as soon as its operand is added.  So divisors can be kept away from zero,
 * square roots from negative numbers, and quantised results from saturating or being all equal. */
#ifndef RANDGRAPH_RANDGRAPH_INTERNAL_H
#define RANDGRAPH_RANDGRAPH_INTERNAL_H

#include "randgraph/randgraph.h"

enum { MIN_GRAPHS = 4, MAX_CALL = MAX_ROLES, MAX_RESULTS = 16, MAX_DRAWN = 256, NO_INDEX = -1 };
enum { MAX_OPS = 100, MAX_SIDE = 64, MAX_LEVEL = 8 }; /* limits of struct randgraph_options */

static const double fp16_limit = 1e4; /* largest magnitude in fp16 and relaxed computations */

bool rng_percent(struct rng *r, uint32_t percent);
/* The same with another stream for each salt, without advancing the generator: graphs in which a
 * rare choice is not made stay what they are without that choice. */
bool rng_percent_aside(const struct rng *r, uint64_t salt, uint32_t percent);
uint32_t rng_below_aside(const struct rng *r, uint64_t salt, uint32_t n);
/* A size in above + 1 to most, often next to that of a vector or a tile. */
uint32_t rng_large_size(struct rng *r, uint32_t above, uint32_t most);
/* An index below n, with a probability proportional to its weight; 0 if all weights are 0. */
uint32_t draw_weighted(struct rng *r, const uint32_t *weight, uint32_t n);

/* A fast generator for bulk values, seeded by one choice. */
struct stream {
    uint64_t state;
};
void rng_stream(struct rng *r, struct stream *ret_stream);

/* splitmix64 */
static inline uint64_t stream_next(struct stream *s)
{
    uint64_t z = s->state += 0x9e3779b97f4a7c15;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

/* The weight set for the operation, else that of its kind. */
uint32_t randgraph_weight_of(const struct randgraph_weights *w, const struct op *op);
/* Weights that draw alike have the same digest. */
uint64_t randgraph_weights_digest(const struct randgraph_weights *w);

/* An operand of the graph, its value and the value's range. */
struct graph_value {
    struct tensor t; /* data is set for every operand, constant or not */
    enum lifetime life;
    bool result;       /* output of an operation */
    int32_t at;        /* operand index; NO_INDEX until builder_add() */
    uint32_t uses;     /* times that operations read it */
    uint32_t subgraph; /* graph index, of LIFE_SUBGRAPH */
    uint32_t open;     /* bit per dimension that depends on values: unknown in the model */
    uint8_t without;   /* bit per enum variant that an operation which reads or writes it lacks */
    bool random;       /* differs between runs: no operation may read it */
    bool nonfinite;    /* some elements, or some that it is computed from, are infinite or NaN */
    void *illegal;     /* an input's value with which an operation fails; NULL: t.data is given */
    bool measured;     /* whether graph_value_measure() has set the next two; else they are 0 */
    double lo, hi;     /* least and greatest element; infinite if an element is NaN */
};

/* One way in which an operation can consume a value of some type. */
struct row {
    const struct op *op;
    uint32_t id;                /* of operation, form and typing row: struct rows.by_id */
    uint8_t form, typing, role; /* role: index in op->in that receives the value */
    uint8_t level;              /* lowest feature level */
    uint8_t pattern;            /* rank required by the role's pattern; 0: any */
};

/* The rows of one operation. */
struct op_rows {
    const struct op *op;
    const struct row *row;
    uint32_t n;
};

struct op_list {
    struct op_rows *op;
    uint32_t n;
};

/* The catalogue, indexed by element type. */
struct rows {
    struct op_list by_type[DT_COUNT]; /* operations that can consume a value of the type */
    struct op_list first[DT_COUNT];   /* ... whose first tensor has the type: begins a graph */
    struct {
        const struct row **row; /* conversions: one tensor in, one of another type out */
        uint32_t n;
    } bridge[DT_COUNT];
    uint32_t *first_types;          /* by index in op_table: the types in first, bit per dtype */
    const struct op *branch, *loop; /* IF, WHILE; NULL: the catalogue has none */
    const struct row **by_id;       /* the row that begins a graph, of each operation, form and
                                       typing row */
    uint32_t n_ids;
};
/* Built by the first call, for the life of the process.  Thread-safe.  NULL: out of memory. */
const struct rows *rows_get(void);
/* The rows whose id is kept, in the arena. */
int rows_filter(const struct rows *all, const bool *keep, struct arena *a, struct rows *ret);
/* The types of its first tensor with which the operation begins a graph: bit per enum dtype. */
uint32_t rows_first_types(const struct rows *rows, const struct op *op);
/* The rows of these operations, in the arena. */
int rows_of_ops(const struct rows *all, const struct randgraph_ops *ops, struct arena *a,
                struct rows *ret);

/* A graph under construction: the main graph or a subgraph. */
struct builder {
    const struct randgraph_options *options;
    const struct randgraph_weights *weights;
    const struct rows *rows; /* of the support set, if there is one */
    const struct rows *all;  /* without regard to it */
    struct rng *rng;
    struct arena *arena, *scratch;
    struct model *model;          /* subgraphs are appended to it */
    uint32_t types;               /* main types of the graph: bit per enum dtype */
    bool control;                 /* IF and WHILE are allowed */
    const struct op *only;        /* the only operation of the main graph; NULL: any of rows */
    bool only_control;            /* the main graph consists of IF and WHILE */
    bool branches, loops;         /* IF and WHILE may be drawn, where control flow is */
    const struct op *first;       /* the next operation, if it can be drawn; NULL: any */
    const struct row *first_row;  /* the row of b->first, drawn by steering; NULL: any */
    enum dtype first_type;        /* of first_row */
    uint32_t begin_types;         /* bit per dtype: with which b->first begins the graph; 0: any */
    const struct op *follows;     /* with steering: what wrote the value that is read; or NULL */
    uint32_t most_weight;         /* largest weight of an operation */
    uint32_t attempt;             /* varies repeated choices when a fuzzer's bytes are used up */
    bool lenient;                 /* results whose elements are all equal are kept */
    enum randgraph_values values; /* profile of new operands; VALUES_MIX: drawn for each */
    enum randgraph_values
        call_values;            /* profile of the call's new operands; VALUES_MIX: as above */
    bool nonfinite;             /* values may be infinite or NaN, integers may wrap */
    bool nonfinite_call;        /* the call may read such values */
    bool wide_integers;         /* the call may read any integers, and they may wrap */
    bool mixes_values;          /* the call's tensors have values of several classes */
    bool wide_floats;           /* the call may read any finite floats */
    bool empty;                 /* results may have no elements, the first one has none */
    bool failing;               /* the execution is to fail, at any operation that can */
    bool fails;                 /* an operand has an illegal value, so that it does */
    uint32_t max_elements;      /* of any tensor */
    double limit;               /* largest magnitude of a float result */
    uint32_t depth;             /* of nesting; 0: main graph */
    struct graph_value **known; /* by operand index */
    uint32_t n_graph_values, max_graph_values;
    struct graph_value **live; /* tensors that later operations may read */
    uint32_t n_live, max_live;
    struct operation *operation;
    uint32_t n_operations, max_operations;
    uint32_t goal; /* number of operations to reach */

    const struct randgraph_support *support;     /* calls are drawn within it; NULL: any */
    const struct randgraph_model_limits *models; /* limits on the main graph; NULL: none */
    bool inside;                                 /* no operation is to be at the edge of the set */
    uint32_t edge;             /* index of the operation that is not; NO_EDGE: there is none */
    const struct rows *beyond; /* the rows for that operation */
    const struct randgraph_limits *within; /* limits on that operation, or NULL */
    const struct row *forced;              /* the row of the first operation; NULL: any */
    uint8_t *traits; /* the traits of the first operation are copied there, or NULL */
};
enum { NO_EDGE = UINT16_MAX };

/* The call being drawn. */
struct draft {
    struct builder *b;
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    struct graph_value *in[MAX_CALL]; /* calling order; NULL: omitted */
    uint8_t role[MAX_CALL];
    bool drawn[MAX_CALL]; /* decided, possibly to be omitted */
    uint32_t n_in;
    uint32_t primary; /* calling index of the value chosen beforehand, or of the first operand */
    struct graph_value *out[MAX_RESULTS];
    uint32_t n_out;
    uint32_t kernel;           /* window size of the DRAW_KERNEL operands; 0: none */
    uint32_t multiplier;       /* channel multiplier; 0: none */
    const struct tensor *same; /* gives Q_SAME operands their scale and zero point */
    const struct tensor *arg[MAX_CALL];
    struct tensor *result[MAX_RESULTS];
    const struct randgraph_limits *limits; /* of the row; NULL: none */
    struct call call;                      /* letters and operands so far; bound by draft_bind() */
};

/* In all functions below NULL, false and -1 mean: out of memory, or no legal choice.  The caller
 * drops the call being drawn.  Memory comes from b->arena. */

/* randgraph.c: an empty main graph; *o must outlive it.  The caller frees b->scratch. */
int builder_begin(struct builder *b, const struct randgraph_options *o, struct rng *r,
                  struct arena *arena, struct why *w);

/* builder.c */
struct graph_value *graph_value_new(struct builder *b, enum dtype dtype, enum lifetime life);
int graph_value_allocate(struct builder *b,
                         struct graph_value *k); /* allocates t.data for its type and shape */
/* Sets lo and hi from t.data. */
void graph_value_measure(struct graph_value *k);
/* The smallest magnitude of an element; 0 if they are not measured, INFINITY if there are none. */
double graph_value_least(const struct graph_value *k);
/* Whether it is known to have no elements. */
bool graph_value_empty(const struct graph_value *k);
/* Whether operations may read it: floats within b->limit or not finite; INT32 only without scale
 * and, unless integers may wrap, within +-32768, so that products do not. */
bool graph_value_usable(const struct builder *b, const struct graph_value *k);
int builder_add(struct builder *b, struct graph_value *k); /* appends it to the operands */
/* Appends an operation, and those of its operands that are not in the graph yet. */
int builder_operation(struct builder *b, const struct op *op, struct graph_value *const *in,
                      uint32_t n_in, struct graph_value *const *out, uint32_t n_out);
/* An empty builder one level deeper, with the parent's options, arenas and model. */
struct builder builder_for_subgraph(const struct builder *parent);

/* shapes.c: shapes of images are NHWC unless stated otherwise. */
uint32_t builder_rank(const struct builder *b, unsigned ranks); /* drawn from the bit set */
/* From the model's layout to NHWC, and back; other operands than images are not changed. */
struct shape shape_nhwc(const struct draft *d, const struct role *r, const struct shape *s);
struct shape shape_in_layout(const struct draft *d, const struct role *r, const struct shape *nhwc);
/* Whether the role takes the shape, with the letters bound so far; shape_bind() binds its own. */
bool shape_fits(const struct draft *d, const struct role *r, const struct shape *nhwc);
bool shape_bind(struct draft *d, const struct role *r, const struct shape *nhwc);
/* A random shape within the option max_dim and the graph's max_elements. */
struct shape shape_random(struct builder *b, uint32_t rank);
/* A random shape for operand `at`; binds its letters. */
bool shape_draw(struct draft *d, uint32_t at, struct shape *ret_nhwc);

/* scales.c: scale and zero point of t, whose type is set. */
/* A range of about +-reach, or as wide on one side of zero. */
void scale_random(struct builder *b, double reach, struct tensor *t);
/* For a new operand `at`, by the quantisation rule of its role.  The shape must be set. */
int scale_for_operand(struct draft *d, uint32_t at, struct tensor *t);
/* Whether the role takes a tensor with this scale and zero point. */
bool scale_fits(const struct draft *d, const struct role *r, const struct tensor *t);
/* Whether a result's scale may be chosen from its range of values. */
bool scale_is_free(const struct role *r, enum dtype type);
/* Whether result r may have the scale and zero point of `like`. */
bool scale_allowed(const struct draft *d, const struct role *r, const struct tensor *like);
/* A preliminary scale, until the result's values are computed. */
void scale_preliminary(const struct draft *d, const struct role *r, struct tensor *t);
/* A scale for values in lo..hi, and a zero point within the limits on the call. */
void scale_result(const struct draft *d, const struct role *r, double lo, double hi,
                  struct tensor *t);

/* draw_values.c: a profile by its weight; VALUES_MIX is none of them. */
enum randgraph_values profile_any(struct builder *b);
/* Random elements into t->data that meet the role's needs.  op: the operation that
 * reads them; NULL: not known yet. */
int fill_values(struct builder *b, const struct op *op, const struct role *r, struct tensor *t);
/* Half of the elements: equal or next to those of another tensor of the same type and shape, zeros
 * of floats with the other sign. */
void fill_alike(struct builder *b, const struct tensor *like, struct tensor *t);
/* An integer at which types and functions change, by random bits. */
int32_t special_integer(uint64_t bits);
/* Whether the operation may read new operands with infinities and NaN: it moves elements, or
 * computes each result from one element of each operand.  Others may multiply them by zero
 * (padding, interpolation, fast convolutions), so that results without them are not defined either.
 */
bool takes_nonfinite(const struct op *op);

/* scalars.c */
/* Draws operand `at`, a scalar or a DRAW_OP tensor, into d->in[at]. */
int scalar_draw(struct draft *d, uint32_t at);
/* Draws d->kernel and d->multiplier where the call has such operands. */
void scalar_kernels(struct draft *d);

/* draft.c */
/* Whether results of the call may have no elements: their dimensions are then unknown in the
 * model. */
bool may_be_empty(const struct draft *d);
/* Draws a call by the row.  primary: the value for row->role; NULL: that is drawn too. */
int draft_call(struct builder *b, const struct row *row, struct graph_value *primary,
               struct draft *d);
/* Whether the limits on calls of the row, if any, allow a value of the trait. */
bool draft_may_be(const struct draft *d, int trait, uint32_t value);
/* Whether the first result, which has been computed, is within the limits. */
bool draft_result_allowed(const struct draft *d);
/* Sets operand `at`, also in d->call, which record draw functions read: images there are NHWC. */
void draft_set(struct draft *d, uint32_t at, struct graph_value *k);
/* Checks with op_bind() that the call is legal and within the feature level and size allowed. */
int draft_bind(struct draft *d);

/* traits.c: what a call is like, as small numbers that a driver's limits depend on. */
enum { NO_TRAIT = 255 };
void traits_of(const struct draft *d, uint8_t trait[RANDGRAPH_TRAITS]);
enum trait {
    TRAIT_RANK,      /* of the first tensor that is read */
    TRAIT_MOST_RANK, /* of any tensor that is read or written */
    TRAIT_INPUTS,    /* number of operands given, the variadic one counted once */
    TRAIT_MANY,      /* number of variadic operands */
    TRAIT_OUTPUTS,
    TRAIT_SHAPES,   /* the first two tensors: 0 have the same shape, 1 the same rank, 2 neither */
    TRAIT_WINDOW,   /* 8 * height + width, each at most 7 */
    TRAIT_SIDE,     /* largest dimension of any tensor */
    TRAIT_SIZE,     /* largest number of elements, in 4 steps per power of two */
    TRAIT_BATCH,    /* first dimension of the first tensor */
    TRAIT_ALIGN,    /* how often 2 divides the last dimension of the first tensor, at most 3 */
    TRAIT_ZERO,     /* zero point of the first tensor: 0 is 0, 1 is 128, 2 another */
    TRAIT_SCALES,   /* whether the first two tensors have another scale or zero point */
    TRAIT_CHANNELS, /* as TRAIT_ALIGN, of the channels of an image in either layout */
    TRAIT_OUT_CHANNELS,                   /* the same of the first result */
    TRAIT_IN_SIZE,                        /* as TRAIT_SIZE, of what is read */
    TRAIT_ZEROS,                          /* whether another tensor that is read has a zero point
                                             that is not in the middle of its type's range */
    TRAIT_OUT_ZERO,                       /* as TRAIT_ZERO, of the first result */
    TRAIT_OUT_SCALE,                      /* exponent of its scale + SCALE_OFFSET */
    TRAIT_STATE,                          /* from here on one per role: see STATE_... */
    TRAIT_VALUE = TRAIT_STATE + MAX_ROLES /* ... value of a scalar constant + VALUE_OFFSET */
};
enum { STATE_VARIABLE, STATE_CONSTANT, STATE_MIXED, STATE_NO_VALUE, STATE_LEFT_OFF };
enum { VALUE_OFFSET = 8, SCALE_OFFSET = 40, MOST_TRAIT = 63 };
enum { ZERO_IS_0, ZERO_IS_128, ZERO_IS_OTHER };
uint8_t trait_of_zero(const struct tensor *t);
uint8_t trait_of_scale(const struct tensor *t);
/* Of a whole number or BOOL that is constant; else NO_TRAIT. */
uint8_t trait_of_scalar(const struct graph_value *k);
/* Whether the values of a trait are ordered, so that limits on it are. */
bool trait_is_ordered(const struct op *op, int trait);

/* support.c */
/* The row's limits, or NULL where it is not supported. */
const struct randgraph_limits *support_row(const struct randgraph_support *s, uint32_t id);
bool support_allows(const struct randgraph_limits *l, const uint8_t trait[RANDGRAPH_TRAITS]);
const struct rows *support_rows(const struct randgraph_support *s);
int support_level(const struct randgraph_support *s); /* highest feature level */
const struct randgraph_model_limits *support_models(const struct randgraph_support *s);
/* Bits of VARIANT_UNKNOWN_DIMS and _RANK for a tensor that an operation with these limits reads. */
uint8_t support_unknown_inputs(uint8_t without);
/* Whether relaxed models are supported by all rows; whether IF or WHILE are by any. */
bool support_has_relaxed(const struct randgraph_support *s);
bool support_has_control(const struct randgraph_support *s);
/* Whether IF or WHILE takes arguments of the type. */
bool support_control(const struct randgraph_support *s, bool loop, enum dtype type);
/* Whether an operation of that name reads a first tensor of the type. */
bool support_has(const struct randgraph_support *s, const char *name, enum dtype type);

/* model_limits.c */
/* What the main graph is like, with the operation that has been drawn, unless NULL.  MODEL_OUTPUTS:
 * results that no operation reads.  MODEL_POOLS and MODEL_READ_OUTPUTS: 0. */
void model_measure(const struct builder *b, const struct draft *d,
                   uint32_t value[RANDGRAPH_MODEL_MEASURES]);
/* Whether the graph with the operation is within b->models, or no farther beyond them than without
 * it. */
bool model_allows(const struct draft *d);
/* How many more the limits allow than the graph has, likewise; UINT32_MAX: any number. */
uint32_t model_room(const struct builder *b, const struct draft *d, enum randgraph_model_measure m);
/* Whether there are limits that each operation is drawn within. */
bool model_is_shaped(const struct randgraph_model_limits *l);

/* draft_results.c */
/* Computes the results and fits their scales.  like: type, shape and quantisation that the only
 * result must have; NULL: any. */
int draft_compute(struct draft *d, const struct tensor *like);
/* One evaluation by the reference; the results are in the scratch arena. */
int draft_evaluate(struct draft *d, struct why *w);
/* Appends the call to the graph. */
int draft_commit(struct draft *d);

/* illegal.c */
/* Whether a value of the role can be one with which the operation must fail. */
bool can_be_illegal(const struct draft *d, uint32_t at);
/* Gives an input of the committed call an illegal value, where there is one: b->fails. */
void draw_illegal(struct draft *d);

/* grow.c */
/* Adds operations until there are so many, or no more can be drawn.  -1: there is none at all. */
int grow_graph(struct builder *b, uint32_t operations);
enum { MOST_SHARE = 21 };
/* How likely an operation is beside others: the more operands, types and forms it has, up to a
 * limit, the more there is to be computed wrongly. */
uint32_t grow_share(const struct op *op);
/* Any operation, by these shares. */
const struct op *grow_any(struct builder *b);
enum dtype grow_type(struct builder *b, uint32_t types); /* one of them, all equally likely */
struct graph_value *grow_pick(struct builder *b); /* the value that the next operation reads */
/* Adds an operation that reads `from` and whose only result has the type, shape and quantisation of
 * `like`. */
int grow_matching(struct builder *b, struct graph_value *from, const struct tensor *like,
                  struct graph_value **ret_result);

/* control_flow.c: adds an IF or WHILE that has `from` among its arguments; its first result has the
 * same type, shape and quantisation. */
int grow_control(struct builder *b, struct graph_value *from, struct graph_value **ret_result);

/* mutate.c: a mutation of o->from. */
int mutate_example(const struct randgraph_options *o, struct rng *r, struct arena *arena,
                   struct example *ret_example, struct why *w);

/* finish.c */
/* Makes a graph of the builder's operands and operations. */
int finish_graph(struct builder *b, struct graph_value *const *input, uint32_t n_input,
                 struct graph_value *const *output, uint32_t n_output, struct graph *ret_graph);
/* Makes an example of the finished main graph: model, inputs, types and shapes of the outputs. */
int finish_example(struct builder *b, struct example *ret_example);

#endif
