/* The operation catalogue.  One `struct op` per NNAPI operation holds everything that is known
 * about it; validation, shape inference, execution, judging, random generation, coverage and
 * documentation interpret this record and name no operation. */
#ifndef GOLDEN_OP_H
#define GOLDEN_OP_H

#include "golden/base/why.h"
#include "golden/model/tensor.h"

enum { MAX_ROLES = 64, MAX_OUT_ROLES = 6, MAX_SLOTS = 8, MAX_VIEWS = 4, END = 0xff };

/* NNAPI feature levels: 1-4 are HAL 1.0-1.3, 5-8 the AIDL versions. */
enum level { L1 = 1, L2, L3, L4, L5, L6, L7, L8 };

enum opcode {
#define OP(code, id) OP_##id = code,
#include "golden/ops.def"
#undef OP
};

/* The slot of a role whose type does not vary with the typing row: `.slot = FIXED(DT_INT32)`. */
#define FIXED(dtype) (-1 - (int) (dtype))

/* Constraints on an operand's values for a defined, finite result; randgraph satisfies them. */
enum needs {
    NEEDS_NONZERO = 1, /* divisor */
    NEEDS_NONNEG = 2,
    NEEDS_SMALL = 4,  /* kept within about +-8: arguments of exponentials and powers */
    NEEDS_CONST = 8,  /* drivers may require a constant: shapes, axes, weights */
    NEEDS_SPREAD = 16 /* not all values close to zero: normalisations */
};

/* Values at which implementations of the operation often fail; randgraph draws them more often than
 * by chance (draw_values.c), also beyond what `needs` asks for. */
enum likes {
    LIKES_LARGE = 1,   /* far from zero: logits, biases in fixed point */
    LIKES_SHIFTED = 2, /* a mean far above the deviation: statistics */
    LIKES_WHOLE = 4,   /* whole numbers of both signs: bases and exponents of powers */
    LIKES_TINY = 8     /* a scalar close to zero: epsilons */
};

/* The rule for a quantised operand's scale and zero point. */
enum qrule {
    Q_FREE,    /* any valid ones */
    Q_SAME,    /* must equal those of the first input */
    Q_FIXED,   /* scale .qscale, zero point = smallest integer of the type + .qzero */
    Q_PRODUCT, /* bias: scale = input scale * filter scale (0 for per-channel filters), zero point 0
                */
    Q_OVER,    /* output scale > product of the scales of the first two inputs */
    Q_LIKE,    /* must equal those of the input role .qlike */
    Q_POWER /* scale a power of two (quant_exponent()) from .qscale / 64 to .qscale, zero point 0 */
};

/* How randgraph draws an operand; DRAW_SHAPE and DRAW_OP call op->draw(). */
enum draw {
    DRAW_VALUES,     /* a tensor of values, or a free scalar */
    DRAW_BROADCAST,  /* a tensor that broadcasts against the first one */
    DRAW_AXIS,       /* scalar in [-rank, rank) of the first input */
    DRAW_STRIDE,     /* 1..3 */
    DRAW_DILATION,   /* 1..3 */
    DRAW_PAD,        /* 0..3 */
    DRAW_SCHEME,     /* 1 SAME, 2 VALID */
    DRAW_ACTIVATION, /* 0..3 */
    DRAW_FLAG,       /* false, true */
    DRAW_POSITIVE,   /* float scalar in (0.1, 2), times .qscale unless that is 0 */
    DRAW_MULTIPLIER, /* 1..3 */
    DRAW_KERNEL,     /* scalar size of a window, 1..5, at most the padded input */
    DRAW_SHAPE,      /* a tensor of values whose shape op->draw() chooses */
    DRAW_OP          /* op->draw() chooses shape and values */
};

/* One operand role of an operation. */
struct role {
    const char *name;
    const char *doc;
    /* Shape pattern, one character per dimension: equal letters are equal dimensions throughout the
     * call; a digit is that dimension; 'R' is the rank of the first input; '?' is any dimension, in
     * outputs set by infer().  "*" alone is one shape throughout the call, "?" alone any shape.
     * NULL: a scalar. */
    const char *dims;
    int slot;         /* column of the typing row, or FIXED(dtype) */
    enum level since; /* feature level that added this role; 0: with the operation */
    bool optional;    /* may be omitted: left off at the end, or given as NO_VALUE or empty */
    bool placed;      /* with optional: may only be given as NO_VALUE or empty, not left off */
    bool many;        /* variadic: takes 1 or more operands; at most one such role per form */
    bool image;       /* an NHWC pattern; NCHW if the layout operand is true */
    bool unspecified; /* output: NNAPI does not define its value, nothing may read it */
    /* input: NNAPI does not restrict its type, so that a driver may accept more types than the
     * typing rows have, which are those that NNAPI's reference computes */
    bool unrestricted;
    /* input: RANK() bits of the ranks that NNAPI checks before an execution, where they are known;
     * 0: none.  Those of the first input are in the typing rows. */
    unsigned ranks;
    double otherwise; /* default value of an optional scalar */
    enum draw draw;
    unsigned needs, likes; /* enum needs, enum likes */
    enum qrule q;
    double qscale;
    int32_t qzero;
    int qlike;
};

/* One legal assignment of element types to slots. */
struct typing {
    enum level since;
    unsigned ranks; /* bit r: rank r of the first input is allowed at this level */
    enum dtype slot[MAX_SLOTS];
};

/* One signature: an order of operands, as indexes of op->in.  since: level that added the form. */
struct form {
    const char *name;
    unsigned char role[MAX_ROLES]; /* ends with END */
    enum level since;
};

enum error_kind {
    ERROR_EXACT,    /* result is one of the inputs' values, or integer arithmetic: no local error */
    ERROR_ELEMENT,  /* a fixed number of roundings per element */
    ERROR_DOT,      /* sum of products: error grows with the square root of their number */
    ERROR_DISCRETE, /* discontinuous: comparison, argmax, rounding */
    ERROR_RANDOM /* random: judged by its distribution (struct distribution), never by its values */
};

/* Extra error of fixed-point requantisation, in steps: it rounds twice, the first time at least one
 * bit below the last. */
#define ERROR_QUANT_STEPS 0.25

/* The allowed error of an operation, in addition to the errors of its inputs, which bound()
 * propagates (docs/judging.md). */
struct error_model {
    enum error_kind kind;
    double ulps;      /* of a float result */
    double steps;     /* of a quantised result, in addition to the half step of rounding */
    const char *text; /* for the manual: how bound() propagates errors */
};

/* The distribution of each row of a random result. */
struct distribution {
    size_t rows, classes;
    double *p;        /* [rows][classes]; each row sums to 1 */
    double *relative; /* [rows]: relative error of the row's probabilities */
    double absolute;  /* absolute error: resolution of an implementation's random numbers */
};

/* The right values of an output that holds indexes, where there are several: those of the elements
 * that may be the selected one.  Of element i: value[first[i]] to value[first[i + 1] - 1].  They
 * lie within the bounds, but not every value within the bounds is right. */
struct choices {
    size_t *first;
    double *value;
};

/* An operation bound to its operands, for inference and evaluation.  Points into itself once it is
 * bound with NCHW images: do not move. */
struct call {
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    uint32_t n_in, n_out;
    uint32_t n_inputs_total;         /* for draw(): number of inputs of the complete call */
    const struct tensor *const *arg; /* the inputs in calling order; NULL: omitted */
    struct tensor *const *out;       /* the outputs in calling order */

    /* By role; of a variadic role the first operand, and all of them in arg[many_at..]. */
    const struct tensor *in[MAX_ROLES]; /* NULL: omitted */
    uint32_t many_at, n_many;

    uint32_t letter[128]; /* dimension bound to each pattern letter */
    bool bound[128];
    int level; /* feature level required by infer() beyond form and types; 0: none */
    bool nchw; /* the operands are NCHW images; in[], out[], x and y are NHWC nevertheless */
    struct tensor view[MAX_VIEWS]; /* NCHW images as NHWC: in[] and out[] point here */
    struct tensor *out_view[MAX_OUT_ROLES];

    /* Values widened to double, dense, NHWC; indexed as arg[] and out[] are. */
    double **x;
    double **y;                       /* results, unrounded */
    struct const_cache **const_cache; /* as arg[]; NULL: not a constant */

    /* Bounds of absolute error, indexed like x and y.  ex[i] is NULL if input i is exact. */
    double **ex;
    double **ey;
    bool unbounded;          /* an error in ex is infinite */
    struct choices *choices; /* by output: set by bound(), in scratch; all zero: none */
    double unit; /* unit roundoff of the arithmetic being judged (2^-24, 2^-11); 0: no bounds */
    double dot_factor; /* sums of K products: dot_factor * sqrt(K) * unit * sum |xw| */

    void *kept;     /* passed from measure() to eval() and from eval() to bound(); in scratch */
    bool undecided; /* set by measure(): the outputs' shapes are undecided within the errors */
    struct distribution *distribution; /* ERROR_RANDOM: of output 0, set by eval(); in scratch */

    struct arena *scratch; /* freed after the call */
    struct matmul_pool *pool;
};

/* The random generator that draw(), omits() and results() use. */
struct drawer {
    uint32_t (*below)(struct drawer *d, uint32_t n); /* uniform in 0..n-1 */
    uint32_t (*size)(struct drawer *d, uint32_t n);  /* 1..n; rarely that of a vector or tile */
    bool empty; /* draw() of an operation that makes_empty is to choose a result without elements */
};

/* The element representation for one call of move(): stored values, or error bounds as doubles.
 * fill: the representation of real zero (the zero point of a quantised type, 0.0 of a bound).
 * Errors are moved for operands that have the type of output 0 (the same slot, or a scalar); an
 * error in any other operand makes the results undecided. */
struct movement {
    size_t size;
    const void *fill;
    const void *const *from; /* by calling order, as call.arg */
    void *const *to;         /* as call.out */
};

struct exec_frame; /* golden/exec/exec.h: runs subgraphs for control() */

/* Operations that run subgraphs, and their inputs.  BRANCH: a condition, two graphs with the same
 * signature, their arguments.  LOOP: a condition graph, a body graph, their arguments. */
enum control_kind { CONTROL_NONE, CONTROL_BRANCH, CONTROL_LOOP };

struct op {
    int32_t code;
    const char *name;
    const char *summary;
    const char *formula;
    enum level since;
    const struct role *in, *out;
    int n_in, n_out;
    unsigned out_counts; /* bits 1 << n: the numbers n of outputs that there may be,
                            where optional ones come together; 0: any from the required ones on */
    const struct form *forms;
    int n_forms;
    const struct typing *typings;
    int n_typings;
    int layout; /* 1 + role of the BOOL that selects NCHW; 0: none */
    int fanout; /* 1 + role of the INT32 that holds the number of outputs; 0: none */
    enum control_kind control_kind;
    /* x[] of quantised operands are units (q - zero point, without scale), so that sums of products
     * are exact.  y[], ex[] and ey[] are real values nevertheless. */
    bool units;
    /* Tensors without elements exist only at execution (a model declares dimension 0 as unknown),
     * from feature level 3 on. */
    uint64_t takes_empty; /* ROLE_BIT()s: inputs that NNAPI's reference accepts without elements */
    bool makes_empty;     /* the results can have none although the inputs have some */
    /* ROLE_BIT()s: integers with which NNAPI's reference fails at execution where one of them is
     * too large, or too small.  Not those that infer() rejects but the reference does not check. */
    uint64_t fails_above, fails_below;
    struct error_model error;

    /* Checks rules that patterns cannot express; sets the '?' dimensions of out[], and call.level.
     * Called only with complete input shapes.  At validation an operand that is not constant has no
     * value: then in[r]->data is NULL, and infer() returns 0 having set what it can (unknown
     * dimensions stay 0).  NULL: no such rules. */
    int (*infer)(struct call *c, struct why *w);

    /* For output dimensions that depend on values: infer() leaves them 0, also at run time, and
     * measure() sets them before outputs have memory.  x is valid, and with bounds ex and unit.
     * Sets call.undecided if the errors could change the selection.  NULL: infer() sets all. */
    int (*measure)(struct call *c, struct why *w);

    /* The kernel: one of the following computes a call.
     *
     * y from x in double, in the order of the operation's definition. */
    int (*eval)(struct call *c, struct why *w);
    /* From stored to stored elements, x[] and y[] unset, for types that double does not represent.
     * Outputs are exact, or undecided if an input is not exact. */
    int (*eval_exact)(struct call *c, struct why *w);
    /* Copies elements.  moves(): whether it applies to this call (NULL: always); else eval(). */
    void (*move)(const struct call *c, const struct movement *m);
    bool (*moves)(const struct call *c);
    /* On stored TENSOR_INT32 data, used if the output is TENSOR_INT32; wraps modulo 2^32. */
    void (*eval_int)(struct call *c);
    /* A faster alternative to eval() and bound(), from stored to stored elements, x[] unset;
     * computes the same bits as eval() and narrowing.  With bounds, ey[] is set: then also y[], and
     * ey[] from ex[], as bound() does.  Returns 1, or 0 if it does not apply to this call. */
    int (*eval_stored)(struct call *c, struct why *w);
    /* IF and WHILE. */
    int (*control)(struct call *c, struct exec_frame *f, struct why *w);

    /* Computes ey from ex, x and y: the propagated error (first order or interval) plus that of the
     * operation's own arithmetic; the executor adds the final rounding of the result.  NULL with
     * move(): the errors are moved.  NULL with eval(): 0 if all inputs are exact, else INFINITY. */
    int (*bound)(struct call *c, struct why *w);

    /* Draws a DRAW_OP or DRAW_SHAPE role, with the operands before it bound (arg[], n_in, n_many,
     * in[], letters; images as NHWC): sets to->shape of a tensor and, for DRAW_OP, its int32 values
     * in to->data, which has room for 64.  Called once per operand of a variadic role.  false:
     * there is no legal value. */
    bool (*draw)(const struct call *c, int role, struct drawer *d, struct tensor *to);
    /* Whether to omit an optional tensor, with the operands before it bound as for draw(); for
     * operands that must be given together.  NULL: each is omitted independently. */
    bool (*omits)(const struct call *c, int role, struct drawer *d);
    /* Draws the number of outputs, with all inputs bound.  NULL: all, or the value of fanout. */
    uint32_t (*results)(const struct call *c, struct drawer *d);
};

#define COUNT(array)  ((int) (sizeof(array) / sizeof((array)[0])))
#define ROLE_BIT(r)   (UINT64_C(1) << (r))
#define RANK(r)       (1u << (r))
#define RANKS(lo, hi) ((2u << (hi)) - (1u << (lo)))

extern const struct op *const op_table[];
extern const int op_table_n;

/* NULL if neither the catalogue nor an extension (golden/model/extension.h) has the operation. */
const struct op *op_find(int32_t code);
/* In the catalogue only; NULL if there is none. */
const struct op *op_by_name(const char *name);

/* Whether a scale is a power of two, and its exponent.  Tolerates a difference of 0.001 in the
 * exponent, because specifications round scales. */
bool quant_exponent(double scale, int *ret_exponent);

/* Type of a role in a typing row. */
enum dtype role_type(const struct role *r, const struct typing *t);
/* Number of roles of a form. */
int form_len(const struct form *f);

/* Matches operands (in calling order, NULL: omitted) with the record: arity, form, types, ranks,
 * shape patterns, quantisation, infer().  out[i] has the declared type, shape (0: unknown) and
 * quantisation, and receives the inferred shape, which must not contradict the declared one.
 * runtime: shapes are complete and dimension 0 means no elements; otherwise 0 means unknown.  The
 * arrays must outlive the call; out[] is untouched on failure.  Returns the feature level that the
 * call needs, or -1 with the reason: WHY_INVALID for what no driver may accept (arity, types,
 * ranks, quantisation), WHY_EXECUTION for shapes and values that NNAPI checks only at execution. */
int op_bind(const struct op *op, const struct tensor *const *in, uint32_t n_in,
            struct tensor *const *out, uint32_t n_out, bool runtime, struct call *ret_call,
            struct why *w);

/* The lowest feature level at which a driver may accept that many operands of their dtypes, of
 * which none is NULL; 0: at none.  Shapes, and with tensors of rank 0 also ranks, are not
 * considered. */
int op_level_of_types(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                      struct tensor *const *out, uint32_t n_out);

/* What NNAPI's runtime checks when a client adds an operation whose operands have no values yet,
 * and need not be valid together: arity, types, known ranks (of the first input and of roles with
 * .ranks), Q_OVER.  None of the operands is NULL.  Returns the feature level that they need, or -1
 * with WHY_INVALID. */
int op_check_signature(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                       struct tensor *const *out, uint32_t n_out, struct why *w);

/* The least number of inputs with which an operation computes the same: trailing scalars that may
 * be left off and whose values are their defaults are not needed.  n_in if the types do not fit. */
uint32_t op_needed_inputs(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                          struct tensor *const *out, uint32_t n_out);
/* Whether the operation has such scalars at all. */
bool op_has_defaults(const struct op *op);
/* Whether a value, NULL: unknown, is the default of a scalar role that may be left off. */
bool role_holds_default(const struct op *op, const struct role *r, const struct tensor *value);

/* The value of a scalar role, its default if omitted.  Exact for every scalar type. */
double call_real(const struct call *c, int role);
/* The same as an integer: rounded towards zero, saturated; NaN is 0. */
int32_t call_int(const struct call *c, int role);
/* Whether the value is available (at validation only that of constants); true if omitted. */
bool call_known(const struct call *c, int role);
/* The role of input `arg` in calling order. */
const struct role *call_role(const struct call *c, uint32_t arg);
/* Index in arg[] of a role; -1: not in the form, or left off. */
int call_arg(const struct call *c, int role);

#endif
