/* Inside randgraph: a graph that grows, and the call that is drawn next.
 *
 *   randgraph.c  one example: theme, graph, inputs
 *   grow.c       which value is continued by which operation
 *   rows.c       the catalogue, by the type that an operation takes
 *   draft.c      one call: its operands, in the order of its form
 *   shapes.c, scales.c, fill.c, scalars.c   what an operand is drawn like
 *   builder.c    the graph so far
 *   outcome.c    results: computed at once, so that scales fit them and none is infinite
 *   control_flow.c   IF and WHILE
 *   finish.c     outputs, unknown dimensions, pools: the model
 *
 * Every value of the graph is known while it grows.  That is why divisors are not zero, roots not
 * negative, and 8-bit results neither saturated nor all alike. */
#ifndef RANDGRAPH_GROW_H
#define RANDGRAPH_GROW_H

#include "randgraph/randgraph.h"

enum { LEAST_GRAPHS = 4, MAX_CALL = MAX_ROLES, MAX_RESULTS = 16, MAX_DRAWN = 64, NOWHERE = -1 };

static const double half_limit = 1e4; /* of values where fp16 is near */

bool rng_percent(struct rng *r, uint32_t percent);

/* Many cheap bits from one choice. */
struct stream {
    uint64_t state;
};
void rng_stream(struct rng *r, struct stream *ret_stream);
uint64_t stream_next(struct stream *s);

uint32_t randgraph_weight_of(const struct randgraph_weights *w, const struct op *op);

/* An operand of the graph, and what is known of its values. */
struct known {
    struct tensor t; /* with data, constant or not */
    enum lifetime life;
    bool result; /* made by an operation */
    int32_t at;  /* operand index, NOWHERE before it has one */
    uint32_t uses;
    uint32_t subgraph; /* LIFE_SUBGRAPH */
    uint32_t open;     /* bit per dimension: depends on values, the model leaves it unknown */
    bool random;       /* another run may give another value: nothing continues from it */
    double lo, hi;     /* of the values; infinite if one is NaN */
    double least;      /* smallest magnitude */
};

/* One way in which an operation takes a value of a type. */
struct row {
    const struct op *op;
    uint8_t form, typing, role; /* role: where the value goes */
    uint8_t level;              /* least feature level */
    uint8_t pattern;            /* rank that the role's pattern asks for; 0: any */
};

struct op_rows {
    const struct op *op;
    const struct row *row;
    uint32_t n;
};

struct op_list {
    struct op_rows *op;
    uint32_t n;
};

struct rows {
    struct op_list by_type[DT_COUNT], first[DT_COUNT]; /* first: each form and typing row once */
    struct {
        const struct row **row; /* one tensor in, one of another type out */
        uint32_t n;
    } bridge[DT_COUNT];
    const struct op *branch, *loop; /* IF, WHILE; NULL: the catalogue has none */
};
/* Built once for the process; NULL: out of memory. */
const struct rows *rows_get(void);

/* A graph being made. */
struct builder {
    const struct randgraph_options *options;
    const struct randgraph_weights *weights;
    const struct rows *rows;
    struct rng *rng;
    struct arena *arena, *scratch;
    struct model *model;           /* subgraphs are appended to it */
    uint32_t types;                /* of the theme: bit per enum dtype */
    bool control;                  /* IF and WHILE may come */
    const struct op *only;         /* NULL: any */
    const struct op *only_control; /* the main graph has nothing but this IF or WHILE */
    uint32_t most_weight;
    uint32_t attempt;     /* counts choices that may be repeated */
    bool lenient;         /* results of equal values are kept */
    double limit;         /* largest magnitude of a float result */
    uint32_t depth;       /* 0: main graph */
    struct known **known; /* by operand index */
    uint32_t n_known, max_known;
    struct known **live; /* tensors that operations may continue from */
    uint32_t n_live, max_live;
    struct operation *operation;
    uint32_t n_operations, max_operations, goal;
};

/* The call that is being drawn. */
struct draft {
    struct builder *b;
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    struct known *in[MAX_CALL]; /* calling order; NULL: omitted */
    uint8_t role[MAX_CALL];
    bool drawn[MAX_CALL]; /* decided, even if omitted */
    uint32_t n_in;
    uint32_t primary; /* calling index of the value that is continued, or of the first operand */
    struct known *out[MAX_RESULTS];
    uint32_t n_out;
    uint32_t kernel;           /* smallest window so far; 0: none */
    uint32_t multiplier;       /* 0: none */
    const struct tensor *same; /* has the scale and zero point of the Q_SAME operands */
    const struct tensor *arg[MAX_CALL];
    struct tensor *result[MAX_RESULTS];
    struct call call; /* letters and operands so far; then bound */
};

/* builder.c.  Everywhere NULL, false and -1 mean: out of memory, or no legal choice; what was being
 * drawn is dropped. */
struct known *known_new(struct builder *b, enum dtype dtype, enum lifetime life);
int known_store(struct builder *b, struct known *k); /* room for its bytes */
int known_look(struct builder *b, struct known *k);  /* lo, hi, least from its bytes */
bool known_usable(const struct known *k); /* integers: plain, multiply without wrapping */
int builder_add(struct builder *b, struct known *k); /* becomes an operand */
int builder_operation(struct builder *b, const struct op *op, struct known *const *in,
                      uint32_t n_in, struct known *const *out,
                      uint32_t n_out); /* with what is not one yet */
struct builder builder_for_subgraph(const struct builder *parent);
uint32_t builder_rank(const struct builder *b, unsigned ranks);

/* shapes.c: NHWC all through */
struct shape shape_nhwc(const struct draft *d, const struct role *r, const struct shape *s);
struct shape shape_outside(const struct draft *d, const struct role *r, const struct shape *nhwc);
bool shape_bind(struct draft *d, const struct role *r, const struct shape *nhwc);
struct shape shape_free(struct builder *b, uint32_t rank);
bool shape_draw(struct draft *d, uint32_t at, struct shape *ret_nhwc);
bool shape_fits(const struct draft *d, const struct role *r, const struct shape *nhwc);

/* scales.c */
void scale_any(struct builder *b, double reach, struct tensor *t);
int scale_fresh(struct draft *d, uint32_t at, struct tensor *t);
bool scale_fits(const struct draft *d, const struct role *r, const struct tensor *t);
bool scale_free(const struct role *r, enum dtype type); /* the range decides */
/* Whether result r may have the scale and zero point of `like`. */
bool scale_allowed(const struct draft *d, const struct role *r, const struct tensor *like);
void scale_tentative(const struct draft *d, const struct role *r, struct tensor *t);
void scale_result(const struct draft *d, const struct role *r, double lo, double hi,
                  struct tensor *t);

/* fill.c */
int fill_values(struct builder *b, const struct role *r, struct tensor *t);

/* scalars.c: true when the role is one whose value is drawn here or by the record */
int scalar_draw(struct draft *d, uint32_t at);
void scalar_kernels(struct draft *d);

/* draft.c */
int draft_call(struct builder *b, const struct row *row, struct known *primary, struct draft *d);
/* Binds it, to see whether it is legal and not too new or too large. */
int draft_bind(struct draft *d);
/* outcome.c: computes results; like: what the only result must be, or NULL */
int outcome_compute(struct draft *d, const struct tensor *like);
int draft_commit(struct draft *d);

/* grow.c */
int grow_graph(struct builder *b, uint32_t operations);
struct known *grow_pick(struct builder *b); /* the value to continue from */
int grow_like(struct builder *b, struct known *from, const struct tensor *like,
              struct known **ret_result);
/* control_flow.c: an IF or WHILE with that value among its arguments; the result that is like it */
int grow_control(struct builder *b, struct known *from, struct known **ret_result);

/* finish.c */
int finish_graph(struct builder *b, struct known *const *input, uint32_t n_input,
                 struct known *const *output, uint32_t n_output, struct graph *ret_graph);
int finish_example(struct builder *b, struct example *ret_example);

#endif
