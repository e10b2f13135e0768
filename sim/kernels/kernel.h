/* Kernels of the simulated devices: each computes one call of one operation in the device's own
 * arithmetic.
 *
 * A kernel finds its operands by their roles, which its row declares.  Before it runs, golden's
 * record has bound the call, shapes have been inferred and outputs allocated.  Golden's kernels are
 * not used, so that the reference and the devices fail independently, with three exceptions:
 * operations that only move bytes use the record's move() on devices with float arithmetic (those
 * with fixed-point arithmetic have kernels for them), extension operations their record's kernel,
 * and operations that NNAPI defines bit by bit golden's integer steps (fixed_point.h, farmhash.h).
 *
 * Kernels return 0, or -1 with the reason in w: WHY_MEMORY, WHY_EXECUTION, WHY_SYSTEM. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "golden/base/arena.h"
#include "golden/model/op.h"

/* Errors that a planted fault makes in a kernel; a bit set, tested where the step is computed. */
enum kernel_fault {
    KERNEL_FAULT_HALF_SUMS = 1,    /* sums of fp32 products are accumulated in fp16 */
    KERNEL_FAULT_TRUNCATE = 2,     /* rescaling truncates instead of rounding */
    KERNEL_FAULT_PADDING = 4,      /* windows start one row and one column too early */
    KERNEL_FAULT_ACTIVATION = 8,   /* fused activations use wrong bounds */
    KERNEL_FAULT_EQUALITY = 16,    /* comparisons are inverted where both operands are equal */
    KERNEL_FAULT_ARGMAX = 32,      /* ARGMAX and ARGMIN ignore the last element */
    KERNEL_FAULT_BRANCH = 64,      /* IF runs the wrong branch */
    KERNEL_FAULT_LOOP = 128,       /* WHILE discards the results of its last iteration */
    KERNEL_FAULT_GROUPS = 256,     /* GROUPED_CONV_2D reads the input's groups in reverse order */
    KERNEL_FAULT_HALF_PIXEL = 512, /* RESIZE_BILINEAR ignores half_pixel_centers */
    KERNEL_FAULT_FORGET = 1024,    /* the forget gate of LSTMs has no bias */
    KERNEL_FAULT_BACKWARD = 2048, /* the backward cell of a bidirectional operation runs forwards */
    KERNEL_FAULT_TOPK = 4096,     /* TOPK_V2 returns its elements in ascending order */
    KERNEL_FAULT_SAMPLING = 8192, /* ROI_ALIGN takes one sample per bin */
    KERNEL_FAULT_SIDE = 16384 /* TRANSPOSE_CONV_2D puts the odd element of SAME padding before */
};

/* The operand roles that kernels read. */
enum kernel_role {
    ROLE_NONE, /* of no operand */
#define ROLE(id, name) ROLE_##id,
#include "sim/kernels/roles.def"
#undef ROLE
    N_ROLES,
    /* Added to a role of a recurrent cell: that of one of two cells ("fw_..." and "bw_..."). */
    ROLE_FORWARD = 0x100,
    ROLE_BACKWARD = 0x200
};

enum { CELL_SIDES = 3, MAX_KERNEL_ROLES = 40, OPERAND_ABSENT = -1, OPERAND_UNDECLARED = -2 };

/* The roles that a family of kernels reads, terminated by ROLE_NONE, and those of `also` (NULL:
 * none).  A cell's role includes those of both directions. */
struct kernel_roles {
    const struct kernel_roles *also;
    enum kernel_role role[MAX_KERNEL_ROLES];
};

/* One call of a kernel.  `call` points into it: it must not be moved. */
struct kernel_call {
    struct call call;          /* bound, with complete shapes */
    const struct tensor **arg; /* inputs in calling order, in their declared layout (also NCHW) */
    struct tensor **out;       /* outputs, likewise, with room for their data */
    bool half;                 /* the device stores this model's fp32 values as fp16 */
    bool half_sums;            /* sums of products of this call are accumulated in fp16 */
    bool xnnpack;              /* XNNPACK computes windows and matrix products */
    unsigned kernel_faults;    /* enum kernel_fault */
    struct arena *scratch;     /* for the duration of the call */
    struct arena *keep;        /* for the data of results */
    const struct device_kernel *kernel;
    const int8_t (*operand)[N_ROLES]; /* of struct bound_kernel */
};

typedef int kernel_fn(struct kernel_call *k, struct why *w);

/* Index of the element of input *input (0 at first) that an element of a result is a copy of
 * (sim/kernels/fixed/fixed_moves.c). */
struct result_element;
typedef ptrdiff_t place_fn(const struct kernel_call *k, const struct result_element *to,
                           uint32_t *input);

/* A row of a kernel table.  One run() serves a family of operations, which differ in the union's
 * member. */
struct device_kernel {
    const char *op;
    uint32_t types; /* of the first input, a bit per enum dtype */
    kernel_fn *run;
    const struct kernel_roles *roles; /* all that run() reads; NULL: none */
    union {
        float (*one)(float x);
        float (*two)(float a, float b);
        double (*real)(double x);
        int32_t (*integer)(int32_t a);
        int32_t (*integers)(int32_t a, int32_t b);
        place_fn *place;
        int kind; /* an enum of the family's file */
    };
};

#define TYPE(id)   (1u << DT_##id)
#define FLOATS     (TYPE(F32) | TYPE(F16))
#define QUANTISED8 (TYPE(U8) | TYPE(S8))

/* One table per family, terminated by op NULL.  float_*: quantised operands are widened to float;
 * fixed_*: integer arithmetic; the others are the same on every device. */
extern const struct device_kernel integer_kernels[], order_kernels[], lookup_kernels[],
    quantised_cell_kernels[];
extern const struct device_kernel float_elementwise_kernels[], float_axis_kernels[],
    float_matrix_kernels[], float_window_kernels[], float_region_kernels[],
    float_recurrent_kernels[], float_detection_kernels[], float_keypoint_kernels[],
    float_random_kernels[];
extern const struct device_kernel fixed_elementwise_kernels[], fixed_table_kernels[],
    fixed_window_kernels[], fixed_image_kernels[], fixed_move_kernels[];

/* All tables of the devices with float or with fixed-point arithmetic, terminated by NULL. */
extern const struct device_kernel *const float_tables[], *const fixed_tables[];
/* Tables of operations that only move bytes; of other devices' the record's move() is used. */
extern const struct device_kernel *const fixed_move_tables[];

/* A kernel bound to an operation: operand[0][role] is the index of that operand in the operation's
 * record, operand[1] and [2] those of ROLE_FORWARD and ROLE_BACKWARD.  OPERAND_ABSENT: the
 * operation has no such operand; OPERAND_UNDECLARED: the row does not declare the role. */
struct bound_kernel {
    const struct device_kernel *kernel;
    const struct op *op;
    int8_t operand[CELL_SIDES][N_ROLES];
};
struct kernel_set {
    int n;
    struct bound_kernel bound[];
};

/* Binds all kernels of a list of tables.  WHY_SYSTEM: a kernel names an operation that is not in
 * the catalogue, or declares a role that no operation of its family (the rows of its table with the
 * same run()) has. */
int kernel_set_new(const struct device_kernel *const *tables, struct kernel_set **ret_set,
                   struct why *w);
void kernel_set_free(struct kernel_set *s);
/* NULL if the set has none. */
const struct bound_kernel *kernel_find(const struct kernel_set *s, const struct op *op,
                                       enum dtype type);

/* ---- operands */

/* Of an operation's record: the operand of this role, or OPERAND_ABSENT. */
int kernel_role_operand(const struct op *op, enum kernel_role role);

/* NULL: omitted, or not of this operation.  Reading a role that the row does not declare is a
 * mistake that an assertion finds. */
const struct tensor *kernel_in(const struct kernel_call *k, enum kernel_role role);
/* An integer or boolean scalar; `otherwise` when omitted or not of this operation. */
int32_t kernel_int(const struct kernel_call *k, enum kernel_role role, int32_t otherwise);
float kernel_float(const struct kernel_call *k, enum kernel_role role, float otherwise);
/* Replaces input i, also where the call binds it to a role. */
void kernel_replace_input(struct kernel_call *k, uint32_t i, const struct tensor *t);

/* Computes SELECT by copying bytes: valid where all operands have the same quantisation. */
void kernel_select(const struct kernel_call *k);

/* The stored value of element i, not dequantised; exact.  Supports the types that kernels compare,
 * convert or sum. */
double kernel_stored_value(const struct tensor *t, size_t i);

/* Sets the shape of result i and allocates its data from `keep`.  Kernels call it only where the
 * shape depends on values.  WHY_EXECUTION above 2^32 bytes. */
int kernel_make_result(struct kernel_call *k, uint32_t i, const struct shape *shape, struct why *w);

/* Whether the call only moves bytes; if so, kernel_move() computes it by the record's move(). */
bool kernel_only_moves(const struct kernel_call *k);
int kernel_move(const struct kernel_call *k, struct why *w);

/* Whether the operation is a vendor extension's; if so, kernel_extension() computes it by its
 * record. */
bool kernel_is_extension(const struct kernel_call *k);
int kernel_extension(struct kernel_call *k, struct why *w);

/* ---- shapes */

/* Iterates over the elements of a result in order, with the offsets of the broadcast operands'
 * elements: start, then one step per element. */
struct broadcast_walk {
    uint32_t rank;
    size_t dim[MAX_RANK], at[MAX_RANK], stride_a[MAX_RANK], stride_b[MAX_RANK];
    size_t a, b; /* offsets of the current operand elements */
};
void broadcast_start(struct broadcast_walk *w, const struct shape *out, const struct shape *a,
                     const struct shape *b);
void broadcast_step(struct broadcast_walk *w);

/* A tensor seen along one axis as [outer][n][inner]; a negative axis counts from the end. */
struct axis_view {
    size_t outer, n, inner;
};
struct axis_view shape_axis_view(const struct shape *s, int32_t axis);

/* The dimensions named by the operand `axes`, a bit each. */
extern const struct kernel_roles axes_roles;
uint32_t kernel_axes(const struct kernel_call *k);
/* The offset in the result of a reduction over `axes` that element i of the input (shape s) is
 * reduced into. */
size_t reduced_offset(const struct shape *s, uint32_t axes, size_t i);

/* BATCH_MATMUL: n products of [rows][terms] and [terms][columns]; turn_*: that operand is stored
 * transposed. */
struct matrix_batch {
    size_t n, rows, terms, columns;
    bool transpose_left, transpose_right;
    struct broadcast_walk at; /* over the batch; a, b: indexes of the current matrices */
};
extern const struct kernel_roles matrices_roles;
struct matrix_batch kernel_matrices(const struct kernel_call *k);
/* Offsets of an element of the current left and right matrix in the operands' data. */
static inline size_t matrices_left(const struct matrix_batch *m, size_t row, size_t term)
{
    return m->at.a * m->rows * m->terms +
           (m->transpose_left ? term * m->rows + row : row * m->terms + term);
}
static inline size_t matrices_right(const struct matrix_batch *m, size_t term, size_t column)
{
    return m->at.b * m->terms * m->columns +
           (m->transpose_right ? column * m->terms + term : term * m->columns + column);
}

/* One spatial axis of a sliding window: sizes of input, output and window in elements. */
struct window_axis {
    int in, out, kernel, stride, dilation;
    int pad; /* elements before the first one */
};

/* Geometry of a convolution or pool, from its first operand, its result and its scalars. */
struct image_window {
    bool nchw;
    size_t batch, in_c, out_c;
    struct window_axis y, x;
};
/* The roles that convolutions, transposed convolutions and pools read, filter, bias and activation
 * included. */
extern const struct kernel_roles convolution_roles, transposed_roles, pool_roles;
/* kernel_h, kernel_w: size of the filter. */
struct image_window image_window_of(const struct kernel_call *k, int kernel_h, int kernel_w);
/* The same of a pool, whose window size is in the scalars filter_height and filter_width. */
struct image_window image_window_pooled(const struct kernel_call *k);
/* TRANSPOSE_CONV_2D: the geometry of the convolution that it transposes, whose input is the call's
 * result: in_c, y.in and x.in are of the result. */
struct image_window image_window_transposed(const struct kernel_call *k, int kernel_h,
                                            int kernel_w);

/* The taps [first, last) of output o that lie within the image. */
struct tap_range {
    int first, last;
};
struct tap_range window_axis_taps(const struct window_axis *s, int o);
/* The input position of a tap of output o. */
static inline int window_axis_at(const struct window_axis *s, int o, int tap)
{
    return o * s->stride - s->pad + tap * s->dilation;
}

/* RESIZE_BILINEAR along dimension d of the call's image. */
struct resize_geometry {
    int in, out;
    bool corners, half; /* align_corners, half_pixel_centers */
};
extern const struct kernel_roles resize_roles;
struct resize_geometry resize_geometry_of(const struct kernel_call *k, uint32_t d);

/* Permutes an image of `size`-byte elements and NCHW shape to NHWC, and back. */
void image_to_nhwc(const struct shape *nchw, size_t size, const void *from, void *to);
void image_to_nchw(const struct shape *nchw, size_t size, const void *from, void *to);

#endif
