#include "sim/kernels/kernel.h"

#include <assert.h>
#include <string.h>

static int operand_of(const struct kernel_call *k, enum kernel_role role)
{
    int i = k->operand[role >> 8][role & 0xff];

    assert(i != OPERAND_UNDECLARED);
    return i;
}

const struct tensor *kernel_in(const struct kernel_call *k, enum kernel_role role)
{
    int i = operand_of(k, role);

    return i < 0 ? NULL : k->call.in[i];
}

int32_t kernel_int(const struct kernel_call *k, enum kernel_role role, int32_t otherwise)
{
    const struct tensor *t = kernel_in(k, role);
    int32_t value;

    if (!t || !t->data)
        return otherwise;
    if (t->dtype == DT_BOOL)
        return *(const uint8_t *) t->data != 0;
    memcpy(&value, t->data, sizeof(value));
    return value;
}

float kernel_float(const struct kernel_call *k, enum kernel_role role, float otherwise)
{
    int i = operand_of(k, role);

    return i < 0 || !k->call.in[i] || !k->call.in[i]->data ? otherwise
                                                           : (float) call_real(&k->call, i);
}

void kernel_replace_input(struct kernel_call *k, uint32_t i, const struct tensor *t)
{
    for (int r = 0; r < k->call.op->n_in; r++)
        if (k->call.in[r] == k->arg[i])
            k->call.in[r] = t;
    k->arg[i] = t;
}

int kernel_make_result(struct kernel_call *k, uint32_t i, const struct shape *shape, struct why *w)
{
    struct tensor *t = k->out[i];

    if (shape_check_size(shape, dtype_info[t->dtype].codec->size) < 0)
        return why_fail(w, WHY_EXECUTION, "a result of more than 2^32 bytes");
    t->shape = *shape;
    t->data = arena_alloc_raw(k->keep, tensor_bytes(t) + 1, 1);
    if (!t->data)
        return why_no_memory(w);
    return 0;
}

/* Element strides of an operand whose dimensions are right-aligned with the result's; 0 along
 * broadcast ones. */
static void broadcast_strides(const struct broadcast_walk *w, const struct shape *s,
                              size_t *ret_stride)
{
    size_t stride = 1;

    for (uint32_t i = 0; i < w->rank; i++) {
        uint32_t d = w->rank - 1 - i;
        size_t n = i < s->rank ? s->dim[s->rank - 1 - i] : 1;
        ret_stride[d] = n == 1 ? 0 : stride;
        stride *= n;
    }
}

void broadcast_start(struct broadcast_walk *w, const struct shape *out, const struct shape *a,
                     const struct shape *b)
{
    *w = (struct broadcast_walk){ .rank = out->rank };
    for (uint32_t d = 0; d < w->rank; d++)
        w->dim[d] = out->dim[d];
    broadcast_strides(w, a, w->stride_a);
    broadcast_strides(w, b, w->stride_b);
}

void broadcast_step(struct broadcast_walk *w)
{
    for (uint32_t d = w->rank; d-- > 0;) {
        w->a += w->stride_a[d];
        w->b += w->stride_b[d];
        if (++w->at[d] < w->dim[d])
            return;
        w->a -= w->stride_a[d] * w->dim[d];
        w->b -= w->stride_b[d] * w->dim[d];
        w->at[d] = 0;
    }
}

struct axis_view shape_axis_view(const struct shape *s, int32_t axis)
{
    struct axis_view a = { 1, 1, 1 };
    uint32_t at = (uint32_t) (axis < 0 ? axis + (int32_t) s->rank : axis);

    for (uint32_t d = 0; d < s->rank; d++) {
        if (d < at)
            a.outer *= s->dim[d];
        else if (d == at)
            a.n = s->dim[d];
        else
            a.inner *= s->dim[d];
    }
    return a;
}

size_t reduced_offset(const struct shape *s, uint32_t axes, size_t i)
{
    size_t at = 0, stride = 1;

    for (uint32_t d = s->rank; d-- > 0; i /= s->dim[d]) {
        if (axes >> d & 1u)
            continue;
        at += i % s->dim[d] * stride;
        stride *= s->dim[d];
    }
    return at;
}

const struct kernel_roles axes_roles = { .role = { ROLE_AXES } };

uint32_t kernel_axes(const struct kernel_call *k)
{
    const struct tensor *axes = kernel_in(k, ROLE_AXES);
    uint32_t bits = 0;

    for (size_t i = 0; i < tensor_count(axes); i++) {
        int32_t axis = ((const int32_t *) axes->data)[i];
        bits |= 1u << (axis < 0 ? axis + (int32_t) k->arg[0]->shape.rank : axis);
    }
    return bits;
}

/* The dimensions before the last two. */
static struct shape batches_of(const struct shape *s)
{
    struct shape b = *s;

    b.rank -= 2;
    return b;
}

const struct kernel_roles matrices_roles = { .role = { ROLE_ADJ_X, ROLE_ADJ_Y } };

struct matrix_batch kernel_matrices(const struct kernel_call *k)
{
    const struct shape *l = &k->arg[0]->shape, *r = &k->arg[1]->shape, *o = &k->out[0]->shape;
    struct shape bl = batches_of(l), br = batches_of(r), bo = batches_of(o);
    bool transpose_left = kernel_int(k, ROLE_ADJ_X, 0) != 0;
    struct matrix_batch m = {
        .n = shape_count(&bo),
        .rows = o->dim[o->rank - 2],
        .terms = l->dim[l->rank - (transpose_left ? 2 : 1)],
        .columns = o->dim[o->rank - 1],
        .transpose_left = transpose_left,
        .transpose_right = kernel_int(k, ROLE_ADJ_Y, 0) != 0,
    };

    broadcast_start(&m.at, &bo, &bl, &br);
    return m;
}

/* Elements by which the last window exceeds the input: the total SAME padding. */
static int needed_padding(const struct window_axis *s)
{
    int needed = (s->out - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 - s->in;

    return needed > 0 ? needed : 0;
}

static const struct kernel_roles sliding_roles = {
    .role = { ROLE_NCHW, ROLE_PADDING, ROLE_PAD_TOP, ROLE_PAD_LEFT, ROLE_STRIDE_HEIGHT,
              ROLE_STRIDE_WIDTH },
};
const struct kernel_roles pool_roles = {
    &sliding_roles,
    { ROLE_FILTER_HEIGHT, ROLE_FILTER_WIDTH, ROLE_ACTIVATION },
};
const struct kernel_roles transposed_roles = {
    &sliding_roles,
    { ROLE_FILTER, ROLE_BIAS, ROLE_ACTIVATION },
};
const struct kernel_roles convolution_roles = {
    &transposed_roles,
    { ROLE_DILATION_HEIGHT, ROLE_DILATION_WIDTH, ROLE_GROUPS },
};

/* The roles of one spatial axis; no dilation: 1. */
struct span_roles {
    enum kernel_role stride, pad, dilation;
};

static struct window_axis span_of(const struct kernel_call *k, int in, int out, int kernel,
                                  struct span_roles role)
{
    struct window_axis s = { .in = in, .out = out, .kernel = kernel };
    int scheme = kernel_int(k, ROLE_PADDING, 0);

    s.stride = kernel_int(k, role.stride, 1);
    s.dilation = kernel_int(k, role.dilation, 1);
    /* SAME pads both sides evenly, an odd element after */
    s.pad = scheme == 1 ? needed_padding(&s) / 2 : scheme == 2 ? 0 : kernel_int(k, role.pad, 0);
    if (k->kernel_faults & KERNEL_FAULT_PADDING)
        s.pad++;
    return s;
}

static struct image_window window_between(const struct kernel_call *k, const uint32_t *in,
                                          const uint32_t *out, int kernel_h, int kernel_w,
                                          bool dilated)
{
    struct span_roles y = { ROLE_STRIDE_HEIGHT, ROLE_PAD_TOP,
                            dilated ? ROLE_DILATION_HEIGHT : ROLE_NONE };
    struct span_roles x = { ROLE_STRIDE_WIDTH, ROLE_PAD_LEFT,
                            dilated ? ROLE_DILATION_WIDTH : ROLE_NONE };
    struct image_window win = { .nchw = kernel_int(k, ROLE_NCHW, 0) != 0 };
    int h = win.nchw ? 2 : 1, w = win.nchw ? 3 : 2, c = win.nchw ? 1 : 3;

    win.batch = in[0];
    win.in_c = in[c];
    win.out_c = out[c];
    win.y = span_of(k, (int) in[h], (int) out[h], kernel_h, y);
    win.x = span_of(k, (int) in[w], (int) out[w], kernel_w, x);
    return win;
}

struct image_window image_window_of(const struct kernel_call *k, int kernel_h, int kernel_w)
{
    return window_between(k, k->arg[0]->shape.dim, k->out[0]->shape.dim, kernel_h, kernel_w, true);
}

struct image_window image_window_pooled(const struct kernel_call *k)
{
    return window_between(k, k->arg[0]->shape.dim, k->out[0]->shape.dim,
                          kernel_int(k, ROLE_FILTER_HEIGHT, 1), kernel_int(k, ROLE_FILTER_WIDTH, 1),
                          false);
}

struct image_window image_window_transposed(const struct kernel_call *k, int kernel_h, int kernel_w)
{
    struct image_window win =
        window_between(k, k->out[0]->shape.dim, k->arg[0]->shape.dim, kernel_h, kernel_w, false);

    if (k->kernel_faults & KERNEL_FAULT_SIDE && kernel_int(k, ROLE_PADDING, 0) == 1) {
        win.y.pad += needed_padding(&win.y) & 1;
        win.x.pad += needed_padding(&win.x) & 1;
    }
    return win;
}

const struct kernel_roles resize_roles = {
    .role = { ROLE_NCHW, ROLE_ALIGN_CORNERS, ROLE_HALF_PIXEL_CENTERS },
};

struct resize_geometry resize_geometry_of(const struct kernel_call *k, uint32_t d)
{
    struct resize_geometry a = { (int) k->arg[0]->shape.dim[d], (int) k->out[0]->shape.dim[d],
                                 kernel_int(k, ROLE_ALIGN_CORNERS, 0) != 0,
                                 kernel_int(k, ROLE_HALF_PIXEL_CENTERS, 0) != 0 };

    if (k->kernel_faults & KERNEL_FAULT_HALF_PIXEL)
        a.half = false;
    return a;
}

struct tap_range window_axis_taps(const struct window_axis *s, int o)
{
    int start = o * s->stride - s->pad;
    struct tap_range t = { 0, s->kernel };

    if (start < 0)
        t.first = (-start + s->dilation - 1) / s->dilation;
    if (start + (s->kernel - 1) * s->dilation >= s->in)
        t.last = s->in > start ? (s->in - start + s->dilation - 1) / s->dilation : 0;
    if (t.first > t.last)
        t.first = t.last;
    return t;
}

static void permute_image(size_t batch, size_t rows, size_t columns, size_t size,
                          const uint8_t *from, uint8_t *to)
{
    for (size_t b = 0; b < batch; b++, from += rows * columns * size, to += rows * columns * size)
        for (size_t r = 0; r < rows; r++)
            for (size_t c = 0; c < columns; c++)
                memcpy(to + (c * rows + r) * size, from + (r * columns + c) * size, size);
}

void image_to_nhwc(const struct shape *s, size_t size, const void *from, void *to)
{
    permute_image(s->dim[0], s->dim[1], (size_t) s->dim[2] * s->dim[3], size, from, to);
}

void image_to_nchw(const struct shape *s, size_t size, const void *from, void *to)
{
    permute_image(s->dim[0], (size_t) s->dim[2] * s->dim[3], s->dim[1], size, from, to);
}
