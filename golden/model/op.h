/* The operation catalogue.  One `struct op` per NNAPI operation says everything that the project
 * knows of it; validation, shape inference, execution, judging, random generation, coverage and
 * documentation are interpreters of this record and name no operation. */
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

/* A role whose type does not vary with the typing row has `.slot = FIXED(DT_INT32)`. */
#define FIXED(dtype) (-1 - (int) (dtype))

/* What values an operand needs for a defined (and finite) result: randgraph obeys. */
enum needs {
    NEEDS_NONZERO = 1, /* divisor */
    NEEDS_NONNEG = 2,
    NEEDS_SMALL = 4,  /* kept within about +-8: arguments of exponentials and powers */
    NEEDS_CONST = 8,  /* drivers may insist on a constant: shapes, axes, weights */
    NEEDS_SPREAD = 16 /* not all (near) zero: normalisers */
};

/* How a quantised operand gets its scale and zero point. */
enum qrule {
    Q_FREE,    /* any legal ones */
    Q_SAME,    /* those of the first input, required */
    Q_FIXED,   /* .qscale, zero = lowest + .qzero */
    Q_PRODUCT, /* bias: scale = input scale * filter scale (0 for per-channel filters), zero 0 */
    Q_OVER,    /* output scale > product of the scales of the first two inputs */
    Q_LIKE,    /* those of the input role .qlike, required */
    Q_POWER /* scale a power of two (quant_exponent()) from .qscale / 64 to .qscale, zero point 0 */
};

/* How randgraph chooses a value.  What these cannot say, op->draw does. */
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
    DRAW_OP          /* op->draw() knows shape and values */
};

/* One operand role of an operation. */
struct role {
    const char *name;
    const char *doc;
    /* Shape pattern: a letter unifies across operands of the call, '*' is one whole shape, '?'
     * (alone) is any shape, or in a longer pattern any dimension, left to infer(); '1' is a
     * dimension of one; 'R' is the rank of the first input.  NULL: a scalar. */
    const char *dims;
    int slot;         /* column of the typing row, or FIXED(dtype) */
    enum level since; /* feature level that added this role; 0: with the operation */
    bool optional;    /* may be omitted: at the end, or as NO_VALUE or empty in the middle */
    bool placed;      /* optional, but never left off: only as NO_VALUE or empty */
    bool many;        /* variadic: takes 1 or more operands; at most one role of a form */
    bool image;       /* NHWC pattern that the layout operand may turn into NCHW */
    bool unspecified; /* of a result: NNAPI does not say what it holds, nothing may read it */
    double otherwise; /* value of an omitted optional scalar */
    enum draw draw;
    unsigned needs;
    enum qrule q;
    double qscale;
    int32_t qzero;
    int qlike;
};

/* One legal assignment of element types to slots. */
struct typing {
    enum level since;
    unsigned ranks; /* bit r: rank r of the first input allowed at this level */
    enum dtype slot[MAX_SLOTS];
};

/* One way of spelling the operand list; roles index op->in.  since: level that added the form. */
struct form {
    const char *name;
    unsigned char role[MAX_ROLES]; /* ends with END */
    enum level since;
};

enum error_kind {
    ERROR_EXACT,    /* result is one of the inputs' values, or integer arithmetic: no local error */
    ERROR_ELEMENT,  /* rounded once or a few times an element */
    ERROR_DOT,      /* sum of products: grows with the root of their number */
    ERROR_DISCRETE, /* jumps: comparison, argmax, rounding */
    ERROR_RANDOM    /* drawn: judged by its distribution (struct odds), never by its values */
};

/* What a right implementation may differ by, beside the errors of its inputs (which bound() carries
 * through).  reference: DESIGN.md section 4. */
struct error_model {
    enum error_kind kind;
    double ulps;      /* of a float result */
    double steps;     /* of a quantised result, beside the half step of rounding */
    const char *text; /* for the manual: how bound() carries errors */
};

/* The distribution that every row of a random result is drawn from. */
struct odds {
    size_t rows, classes;
    double *p;        /* [rows][classes]; each row sums to 1 */
    double *relative; /* [rows]: by what share errors may change a probability */
    double absolute;  /* resolution of the numbers that an implementation draws */
};

/* A call being bound and evaluated: the record with its operands.  It points into itself: do not
 * copy. */
struct call {
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    uint32_t n_in, n_out;
    uint32_t n_coming;               /* for draw(): how many inputs there will be */
    const struct tensor *const *arg; /* the inputs in calling order; NULL: omitted */
    struct tensor *const *out;       /* the outputs in calling order */

    /* By role; the variadic role has its first operand here and all of them in arg[many_at..]. */
    const struct tensor *in[MAX_ROLES]; /* NULL: omitted */
    uint32_t many_at, n_many;

    uint32_t letter[128]; /* dimension bound to each pattern letter */
    bool bound[128];
    int level; /* feature level that infer() finds necessary, beyond form and types; 0: none */
    bool nchw; /* images are NCHW outside; shapes and values here are NHWC all the same */
    struct tensor view[MAX_VIEWS]; /* NCHW images, seen as NHWC: in[] and out[] point here */
    struct tensor *out_view[MAX_OUT_ROLES];

    /* Values, widened, dense and NHWC; indexed as arg[] and out[] are. */
    double **x;
    double **y; /* results, unrounded */
    struct prepared *
        *prepared; /* as arg[]; NULL: not a constant of a plan (golden/exec/const_cache.h) */

    /* Bounds of absolute error, indexed like x and y.  ex[i] is NULL where input i is exact. */
    double **ex;
    double **ey;
    double unit; /* unit roundoff of the arithmetic being judged (2^-24, 2^-11); 0: no bounds */
    double dot_factor; /* sums of K products: dot_factor * sqrt(K) * unit * sum |xw| */

    void *kept;        /* what measure() leaves for eval(), eval() for bound(), in scratch memory */
    bool undecided;    /* measure() found that the outputs, shapes included, could be others */
    struct odds *odds; /* ERROR_RANDOM: set by eval(), in scratch memory; output 0 */

    struct arena *scratch; /* freed after the call */
    struct matmul_pool *pool;
};

/* Drawing: randgraph's generator as an operation sees it. */
struct drawer {
    uint32_t (*below)(struct drawer *d, uint32_t n); /* 0..n-1 */
};

/* The representation in which move() moves: elements of `size` bytes, as output 0 has them.  fill:
 * what stands for real zero (the zero point of a quantised type, 0.0 of an error bound).  Errors
 * are moved of operands that have the type of output 0 (their role has its slot, or is a scalar);
 * an error of any other makes the results undecided. */
struct movement {
    size_t size;
    const void *fill;
    const void *const *from; /* by calling order, as call.arg */
    void *const *to;         /* as call.out */
};

struct exec_frame; /* golden/exec/exec.h: what control flow needs to run a subgraph */

/* Operations that run subgraphs.  BRANCH: condition, two graphs of one signature, their arguments.
 * LOOP: a condition graph, a body graph, their arguments. */
enum control_kind { CONTROL_NONE, CONTROL_BRANCH, CONTROL_LOOP };

struct op {
    int32_t code;
    const char *name;
    const char *summary;
    const char *formula;
    enum level since;
    const struct role *in, *out;
    int n_in, n_out;
    const struct form *forms;
    int n_forms;
    const struct typing *typings;
    int n_typings;
    int layout; /* 1 + role of the BOOL that selects NCHW; 0: none */
    int fanout; /* 1 + role of the INT32 that tells the number of outputs; 0: none */
    enum control_kind control_kind;
    /* x[] of quantised operands are units (q - zero, no scale): sums of products stay exact.
     * y[], ex[] and ey[] are real values all the same. */
    bool units;
    struct error_model error;

    /* Rules that patterns cannot say, '?' dimensions of out[], call.level.  Called only with
     * complete input shapes; a scalar or tensor that is not constant may be absent at validation:
     * then in[r]->data is NULL, and infer() returns 0 having set what it can (leave unknown
     * dimensions 0).  NULL: none. */
    int (*infer)(struct call *c, struct why *w);

    /* Where dimensions of outputs depend on values: infer() leaves them 0, also at run time, and
     * this sets them, before outputs have memory; x is there, and with bounds ex and unit.  Whether
     * the selection is decided within the errors goes to call.undecided.  NULL: infer() knows. */
    int (*measure)(struct call *c, struct why *w);

    /* Exactly one of these computes; y in the order of the definition. */
    int (*eval)(struct call *c, struct why *w);
    /* From stored elements to stored elements, x[] and y[] unset, where doubles do not hold the
     * values: what comes out is exact, or, of inputs that are not, undecided. */
    int (*eval_exact)(struct call *c, struct why *w);
    /* Copies bytes.  moves() (NULL: always) tells whether this call can be done so; else eval(). */
    void (*move)(const struct call *c, const struct movement *m);
    bool (*moves)(const struct call *c);
    /* On raw TENSOR_INT32 data, chosen when the output is TENSOR_INT32: wraps like the hardware. */
    void (*eval_int)(struct call *c);
    /* Beside eval(), where it is faster: from stored elements to stored elements, x[] and y[]
     * unset; the same bits as eval() and narrowing give.  Returns 1, or 0: not for this call. */
    int (*eval_stored)(struct call *c, struct why *w);
    /* IF and WHILE. */
    int (*control)(struct call *c, struct exec_frame *f, struct why *w);

    /* Fills ey from ex, x and y: error carried through (first order or interval) plus the error of
     * the arithmetic inside; the final rounding of the result is added by the executor.  NULL with
     * move(): the errors are moved.  NULL with eval(): inputs must be exact, else unbounded. */
    int (*bound)(struct call *c, struct why *w);

    /* Draws a DRAW_OP or DRAW_SHAPE role, with the operands before it bound (arg[], n_in, n_many,
     * in[], letters; images as NHWC): sets to->shape of a tensor; of a DRAW_OP role also the
     * value(s), int32, into to->data, which has room for 64.  A variadic role is asked once an
     * operand.  false: no legal value. */
    bool (*draw)(const struct call *c, int role, struct drawer *d, struct tensor *to);
    /* Whether to leave out an optional tensor, with the operands before it bound as for draw():
     * where some come together or not at all.  NULL: each by itself. */
    bool (*omits)(const struct call *c, int role, struct drawer *d);
    /* Draws the number of results, with all operands bound.  NULL: all, or as fanout says. */
    uint32_t (*results)(const struct call *c, struct drawer *d);
};

#define COUNT(array)  ((int) (sizeof(array) / sizeof((array)[0])))
#define RANK(r)       (1u << (r))
#define RANKS(lo, hi) ((2u << (hi)) - (1u << (lo)))

extern const struct op *const op_table[];
extern const int op_table_n;

/* NULL where neither the catalogue nor an extension (golden/model/extension.h) has such an
 * operation. */
const struct op *op_find(int32_t code);
/* The catalogue's alone. */
const struct op *op_by_name(const char *name);

/* Whether a scale is a power of two, and which; specifications round them, a thousandth of the
 * exponent does not matter. */
bool quant_exponent(double scale, int *ret_exponent);

/* Type of a role in a typing row. */
enum dtype role_type(const struct role *r, const struct typing *t);
int form_len(const struct form *f);

/* Match operands (in calling order, NULL: omitted) against the record: arity, form, types, ranks,
 * patterns, quantisation, infer().  out[i] carries the declared type, shape (0: unknown) and
 * quantisation, and leaves with the inferred shape; a contradiction is refused.  runtime: shapes
 * are complete and dimension 0 means no elements; else 0 means unknown.  The arrays must outlive
 * the call; out[] is untouched on failure. Returns the feature level the call needs, or -1 with the
 * reason: WHY_INVALID for what no driver accepts (arity, types, ranks, quantisation), WHY_EXECUTION
 * for shapes and values that NNAPI only notices when it executes. */
int op_bind(const struct op *op, const struct tensor *const *in, uint32_t n_in,
            struct tensor *const *out, uint32_t n_out, bool runtime, struct call *ret_call,
            struct why *w);

/* The value of a scalar role: its `otherwise` when omitted.  Exact for every scalar type. */
double call_real(const struct call *c, int role);
int32_t call_int(const struct call *c, int role);
/* Whether the value can be read now (validation: constants only). */
bool call_known(const struct call *c, int role);
/* The role of operand `arg` in calling order. */
const struct role *call_role(const struct call *c, uint32_t arg);
/* -1, or the index in arg[] of a role. */
int call_arg(const struct call *c, int role);

#endif
