/* Kernels of the simulated devices: one operation on one call, in a device's own arithmetic.
 *
 * A kernel finds its operands by the names of their roles; shapes have been inferred and outputs
 * allocated.  golden's records bind calls, golden's arithmetic is never used: what a device
 * computes is its own.  Extensions alone are computed by their records. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include "golden/base/arena.h"
#include "golden/model/op.h"

/* Steps that a fault makes wrong; each is read where the step is done. */
enum tweak {
    TWEAK_HALF_SUMS = 1,    /* sums of fp32 products are kept in fp16 */
    TWEAK_TRUNCATE = 2,     /* rescaling cuts off instead of rounding */
    TWEAK_PADDING = 4,      /* windows start one too far left */
    TWEAK_ACTIVATION = 8,   /* fused RELU6 and RELU1 use a wrong bound */
    TWEAK_EQUALITY = 16,    /* comparisons are inverted where both sides are equal */
    TWEAK_ARGMAX = 32,      /* the last element is not looked at */
    TWEAK_BRANCH = 64,      /* the wrong branch is run */
    TWEAK_LOOP = 128,       /* what a loop's last turn makes is lost */
    TWEAK_GROUPS = 256,     /* grouped convolutions take the groups in reverse */
    TWEAK_HALF_PIXEL = 512, /* half_pixel_centers is not looked at */
    TWEAK_FORGET = 1024,    /* the forget gate of LSTMs has no bias */
    TWEAK_BACKWARD = 2048,  /* the second cell of two reads forwards */
    TWEAK_TOPK = 4096,      /* the smallest of the largest come first */
    TWEAK_SAMPLING = 8192,  /* regions are sampled once a bin */
    TWEAK_SIDE = 16384      /* of odd padding, transposed convolutions have more before */
};

struct kernel_call {
    struct call call;          /* bound, shapes complete; its addresses are not to be moved */
    const struct tensor **arg; /* inputs in calling order, shaped as declared (NCHW too) */
    struct tensor **out;       /* outputs, the same, with room for their data */
    bool half;                 /* this device holds the fp32 values of this model as fp16 */
    bool half_sums;            /* sums of products of this call are kept in fp16 */
    bool xnnpack;              /* windows and matrices go to XNNPACK */
    unsigned tweaks;
    struct arena *scratch; /* freed after the call */
    struct arena *keep;    /* of the results */
    const struct kernel *kernel;
};

typedef int kernel_fn(struct kernel_call *k, struct why *w);

/* types: bits of the types of the first input.  One run() serves a family, whose members differ in
 * what stands beside it. */
struct kernel {
    const char *op;
    uint32_t types;
    kernel_fn *run;
    union {
        float (*one)(float x);
        float (*two)(float a, float b);
        double (*real)(double x);
        int32_t (*integer)(int32_t a);
        int32_t (*integers)(int32_t a, int32_t b);
        int kind; /* an enum of the family's own */
    };
};

#define TYPE(id)   (1u << DT_##id)
#define FLOATS     (TYPE(F32) | TYPE(F16))
#define QUANTISED8 (TYPE(U8) | TYPE(S8))

/* One table a family, ended by op NULL.  Those called float widen whatever is quantised, fixed ones
 * compute with integers, the others are the same on every device. */
extern const struct kernel integer_kernels[], order_kernels[], lookup_kernels[],
    quantised_cell_kernels[];
extern const struct kernel float_elementwise_kernels[], float_axis_kernels[],
    float_matrix_kernels[], float_window_kernels[], float_region_kernels[],
    float_recurrent_kernels[], float_detection_kernels[], float_keypoint_kernels[],
    float_random_kernels[];
extern const struct kernel fixed_elementwise_kernels[], fixed_table_kernels[],
    fixed_window_kernels[], fixed_image_kernels[];

/* All tables of the devices of one kind of arithmetic; both lists are ended by NULL. */
extern const struct kernel *const float_tables[], *const fixed_tables[];

/* NULL if no table of the list (ended by NULL) has it. */
const struct kernel *kernel_find(const struct kernel *const *tables, const char *op,
                                 enum dtype type);

/* ---- operands */

/* NULL: omitted, or not of this operation. */
const struct tensor *kernel_in(const struct kernel_call *k, const char *role);
/* An integer or boolean scalar; `otherwise` when omitted or not of this operation. */
int32_t kernel_int(const struct kernel_call *k, const char *role, int32_t otherwise);
float kernel_float(const struct kernel_call *k, const char *role, float otherwise);
/* Sets a tensor in place of input i. */
void kernel_replace(struct kernel_call *k, uint32_t i, const struct tensor *t);

/* SELECT by bytes: of numbers without a scale, or of one scale. */
void kernel_select(const struct kernel_call *k);

/* Element i as it is stored: exact for every type that is compared. */
double kernel_stored(const struct tensor *t, size_t i);

/* Memory for result i of an operation whose shapes depend on values: its kernel sets them itself.
 */
int kernel_make_result(struct kernel_call *k, uint32_t i, const struct shape *shape, struct why *w);

int kernel_no_memory(struct why *w);

/* Whether bytes are only moved about by this call: then the record's move() does it. */
bool kernel_moves(const struct kernel_call *k);
int kernel_move(const struct kernel_call *k, struct why *w);

/* Whether it is a vendor's operation: its record, which is the vendor's own, computes it. */
bool kernel_is_extension(const struct kernel_call *k);
int kernel_extension(struct kernel_call *k, struct why *w);

/* ---- shapes */

/* The elements of a result, with where its operands' elements lie (broadcast). */
struct walk {
    uint32_t rank;
    size_t dim[MAX_RANK], at[MAX_RANK], stride_a[MAX_RANK], stride_b[MAX_RANK];
    size_t a, b; /* offsets of the current element */
};
void walk_start(struct walk *w, const struct shape *out, const struct shape *a,
                const struct shape *b);
void walk_step(struct walk *w);

/* A tensor seen along one axis: [outer][n][inner].  axis may count from the end. */
struct along {
    size_t outer, n, inner;
};
struct along shape_along(const struct shape *s, int32_t axis);

/* Bits of the dimensions that the role `axes` names. */
uint32_t kernel_axes(const struct kernel_call *k);
/* Which element of the result (dimensions kept, in order) element i of the input belongs to. */
size_t reduced_at(const struct shape *s, uint32_t axes, size_t i);

/* Batches of products of matrices: [rows][terms] times [terms][columns], either one transposed. */
struct matrices {
    size_t n, rows, terms, columns;
    bool turn_left, turn_right;
    struct walk at; /* indexes of the current matrices */
};
struct matrices kernel_matrices(const struct kernel_call *k);
static inline size_t matrices_left(const struct matrices *m, size_t row, size_t term)
{
    return m->at.a * m->rows * m->terms +
           (m->turn_left ? term * m->rows + row : row * m->terms + term);
}
static inline size_t matrices_right(const struct matrices *m, size_t term, size_t column)
{
    return m->at.b * m->terms * m->columns +
           (m->turn_right ? column * m->terms + term : term * m->columns + column);
}

/* One spatial axis of a window. */
struct span {
    int in, out, kernel, stride, dilation;
    int pad; /* before the first element */
};

/* An image operation's geometry, from its first operand, its result and its scalars. */
struct image_window {
    bool nchw;
    size_t batch, in_c, out_c;
    struct span y, x;
};
/* kernel_h, kernel_w: of the filter; 0: the call says (pools). */
struct image_window image_window_of(const struct kernel_call *k, int kernel_h, int kernel_w);
/* That of the convolution which this one transposes: in_c, y.in and x.in are of the result. */
struct image_window image_window_transposed(const struct kernel_call *k, int kernel_h,
                                            int kernel_w);

/* [first, last) of the taps of output o that lie within the image. */
struct taps {
    int first, last;
};
struct taps span_taps(const struct span *s, int o);
static inline int span_at(const struct span *s, int o, int tap)
{
    return o * s->stride - s->pad + tap * s->dilation;
}

/* Resizing along one axis. */
struct resize_axis {
    int in, out;
    bool corners, half; /* the corners meet; pixels lie at halves */
};
struct resize_axis resize_axis_of(const struct kernel_call *k, uint32_t d);

/* Elements of `size` bytes: NCHW to NHWC of an image of `shape` (as declared), and back. */
void image_to_nhwc(const struct shape *nchw, size_t size, const void *from, void *to);
void image_to_nchw(const struct shape *nchw, size_t size, const void *from, void *to);

#endif
