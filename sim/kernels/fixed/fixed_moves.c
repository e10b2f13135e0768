/* Operations that only move elements, as an address generator computes them: for each element of a
 * result the index of the element that it is a copy of, from the operation's definition.  The
 * reference copies ranges instead (golden/model/copy_elements.h), so that it and this device can
 * disagree. */
#include <string.h>

#include "sim/kernels/fixed/fixed.h"

/* An element of a result. */
struct result_element {
    uint32_t result;
    size_t index;        /* in the result */
    size_t at[MAX_RANK]; /* its coordinates, in the declared layout */
};

/* Index of the element of input *input that `to` is a copy of; *input is 0 at first.  FILLED: it is
 * a copy of no element, but has the call's filling value. */
enum { FILLED = -1 };

static ptrdiff_t index_of(const struct shape *s, const size_t *at)
{
    size_t index = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        index = index * s->dim[d] + at[d];
    return (ptrdiff_t) index;
}

/* The same for coordinates that may lie outside: FILLED. */
static ptrdiff_t index_inside(const struct shape *s, const int64_t *at)
{
    size_t inside[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++) {
        if (at[d] < 0 || at[d] >= (int64_t) s->dim[d])
            return FILLED;
        inside[d] = (size_t) at[d];
    }
    return index_of(s, inside);
}

/* Element i of a list of integers. */
static int32_t listed(const struct kernel_call *k, enum kernel_role role, size_t i)
{
    return ((const int32_t *) kernel_in(k, role)->data)[i];
}

static bool has_bit(const struct kernel_call *k, enum kernel_role mask, uint32_t bit)
{
    return (uint32_t) kernel_int(k, mask, 0) >> bit & 1u;
}

/* The operand `axis` as a dimension of a tensor of that rank. */
static uint32_t axis_of(const struct kernel_call *k, uint32_t rank)
{
    int32_t axis = kernel_int(k, ROLE_AXIS, 0);

    return (uint32_t) (axis < 0 ? axis + (int32_t) rank : axis);
}

/* RESHAPE, SQUEEZE, EXPAND_DIMS: the elements keep their order. */
static ptrdiff_t place_same(const struct kernel_call *k, const struct result_element *to,
                            uint32_t *input)
{
    (void) k, (void) input;
    return (ptrdiff_t) to->index;
}

static ptrdiff_t place_concatenation(const struct kernel_call *k, const struct result_element *to,
                                     uint32_t *input)
{
    uint32_t axis = axis_of(k, k->out[0]->shape.rank), i = k->call.many_at;
    size_t at[MAX_RANK];

    memcpy(at, to->at, sizeof(at));
    for (; at[axis] >= k->arg[i]->shape.dim[axis]; i++)
        at[axis] -= k->arg[i]->shape.dim[axis];
    *input = i;
    return index_of(&k->arg[i]->shape, at);
}

static ptrdiff_t place_split(const struct kernel_call *k, const struct result_element *to,
                             uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    uint32_t axis = axis_of(k, s->rank);
    size_t at[MAX_RANK];

    memcpy(at, to->at, sizeof(at));
    at[axis] += to->result * k->out[to->result]->shape.dim[axis];
    return index_of(s, at);
}

static ptrdiff_t place_pack(const struct kernel_call *k, const struct result_element *to,
                            uint32_t *input)
{
    const struct shape *s = &k->arg[k->call.many_at]->shape;
    uint32_t axis = axis_of(k, s->rank + 1);
    size_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[d] = to->at[d < axis ? d : d + 1];
    *input = k->call.many_at + (uint32_t) to->at[axis];
    return index_of(s, at);
}

/* PAD and PAD_V2 */
static ptrdiff_t place_pad(const struct kernel_call *k, const struct result_element *to,
                           uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    int64_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[d] = (int64_t) to->at[d] - listed(k, ROLE_PADDINGS, 2 * d);
    return index_inside(s, at);
}

static ptrdiff_t place_mirror_pad(const struct kernel_call *k, const struct result_element *to,
                                  uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    int64_t at[MAX_RANK], repeated = kernel_int(k, ROLE_MODE, 0) == 1;

    for (uint32_t d = 0; d < s->rank; d++) {
        int64_t n = s->dim[d], i = (int64_t) to->at[d] - listed(k, ROLE_PADDINGS, 2 * d);
        at[d] = i < 0 ? -i - repeated : i < n ? i : 2 * (n - 1) + repeated - i;
    }
    return index_inside(s, at);
}

/* Without `perm` the order of the dimensions is reversed. */
static ptrdiff_t place_transpose(const struct kernel_call *k, const struct result_element *to,
                                 uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    bool reversed = !kernel_in(k, ROLE_PERM);
    size_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[reversed ? s->rank - 1 - d : (uint32_t) listed(k, ROLE_PERM, d)] = to->at[d];
    return index_of(s, at);
}

static ptrdiff_t place_reverse(const struct kernel_call *k, const struct result_element *to,
                               uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    int32_t axis = listed(k, ROLE_AXIS, 0);
    uint32_t dim = (uint32_t) (axis < 0 ? axis + (int32_t) s->rank : axis);
    size_t at[MAX_RANK];

    memcpy(at, to->at, sizeof(at));
    at[dim] = s->dim[dim] - 1 - at[dim];
    return index_of(s, at);
}

static ptrdiff_t place_tile(const struct kernel_call *k, const struct result_element *to,
                            uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    size_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[d] = to->at[d] % s->dim[d];
    return index_of(s, at);
}

/* ---- selections */

/* The bind step has checked that indexes are inside. */
static ptrdiff_t place_gather(const struct kernel_call *k, const struct result_element *to,
                              uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape, *list = &kernel_in(k, ROLE_INDICES)->shape;
    uint32_t axis = axis_of(k, s->rank);
    size_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[d] = to->at[d <= axis ? d : d + list->rank - 1];
    at[axis] = (size_t) listed(k, ROLE_INDICES, (size_t) index_of(list, to->at + axis));
    return index_of(s, at);
}

static ptrdiff_t place_embedding(const struct kernel_call *k, const struct result_element *to,
                                 uint32_t *input)
{
    size_t at[MAX_RANK];

    memcpy(at, to->at, sizeof(at));
    at[0] = (size_t) listed(k, ROLE_LOOKUPS, to->at[0]);
    *input = 1;
    return index_of(&k->arg[1]->shape, at);
}

static ptrdiff_t place_slice(const struct kernel_call *k, const struct result_element *to,
                             uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    size_t at[MAX_RANK];

    for (uint32_t d = 0; d < s->rank; d++)
        at[d] = to->at[d] + (size_t) listed(k, ROLE_BEGIN, d);
    return index_of(s, at);
}

/* The first index that dimension d of a strided slice selects; one beyond the ends selects the
 * first or the last element that lies inside. */
static int64_t slice_begin(const struct kernel_call *k, const struct shape *s, uint32_t d)
{
    int64_t n = s->dim[d], begin = listed(k, ROLE_BEGIN, d);
    bool backwards = listed(k, ROLE_STRIDES, d) < 0;

    if (has_bit(k, ROLE_BEGIN_MASK, d))
        return backwards ? n - 1 : 0;
    if (begin < 0)
        begin += n;
    return begin < 0 ? 0 : begin >= n ? n - 1 : begin;
}

static ptrdiff_t place_strided_slice(const struct kernel_call *k, const struct result_element *to,
                                     uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    int64_t at[MAX_RANK];
    uint32_t kept = 0;

    for (uint32_t d = 0; d < s->rank; d++) {
        at[d] = slice_begin(k, s, d);
        if (!has_bit(k, ROLE_SHRINK_AXIS_MASK, d))
            at[d] += (int64_t) to->at[kept++] * listed(k, ROLE_STRIDES, d);
    }
    return index_inside(s, at);
}

/* ---- images */

/* The dimensions of rows, columns and channels. */
struct image_axes {
    uint32_t y, x, c;
};

static struct image_axes image_axes_of(const struct kernel_call *k)
{
    return kernel_int(k, ROLE_NCHW, 0) ? (struct image_axes){ 2, 3, 1 }
                                       : (struct image_axes){ 1, 2, 3 };
}

static ptrdiff_t place_depth_to_space(const struct kernel_call *k, const struct result_element *to,
                                      uint32_t *input)
{
    struct image_axes a = image_axes_of(k);
    size_t block = (size_t) kernel_int(k, ROLE_BLOCK_SIZE, 1), at[MAX_RANK];
    size_t part = to->at[a.y] % block * block + to->at[a.x] % block;

    memcpy(at, to->at, sizeof(at));
    at[a.y] /= block;
    at[a.x] /= block;
    at[a.c] += part * k->out[0]->shape.dim[a.c];
    return index_of(&k->arg[*input]->shape, at);
}

static ptrdiff_t place_space_to_depth(const struct kernel_call *k, const struct result_element *to,
                                      uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    struct image_axes a = image_axes_of(k);
    size_t block = (size_t) kernel_int(k, ROLE_BLOCK_SIZE, 1), at[MAX_RANK];
    size_t part = to->at[a.c] / s->dim[a.c];

    memcpy(at, to->at, sizeof(at));
    at[a.y] = at[a.y] * block + part / block;
    at[a.x] = at[a.x] * block + part % block;
    at[a.c] %= s->dim[a.c];
    return index_of(s, at);
}

static ptrdiff_t place_batch_to_space(const struct kernel_call *k, const struct result_element *to,
                                      uint32_t *input)
{
    struct image_axes a = image_axes_of(k);
    size_t height = (size_t) listed(k, ROLE_BLOCK_SIZES, 0);
    size_t width = (size_t) listed(k, ROLE_BLOCK_SIZES, 1), at[MAX_RANK];
    size_t part = to->at[a.y] % height * width + to->at[a.x] % width;

    memcpy(at, to->at, sizeof(at));
    at[0] += part * k->out[0]->shape.dim[0];
    at[a.y] /= height;
    at[a.x] /= width;
    return index_of(&k->arg[*input]->shape, at);
}

static ptrdiff_t place_space_to_batch(const struct kernel_call *k, const struct result_element *to,
                                      uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    struct image_axes a = image_axes_of(k);
    int32_t height = listed(k, ROLE_BLOCK_SIZES, 0), width = listed(k, ROLE_BLOCK_SIZES, 1);
    int64_t part = (int64_t) (to->at[0] / s->dim[0]), at[MAX_RANK];

    at[0] = (int64_t) (to->at[0] % s->dim[0]);
    at[a.y] = (int64_t) to->at[a.y] * height + part / width - listed(k, ROLE_PADDINGS, 0);
    at[a.x] = (int64_t) to->at[a.x] * width + part % width - listed(k, ROLE_PADDINGS, 2);
    at[a.c] = (int64_t) to->at[a.c];
    return index_inside(s, at);
}

static ptrdiff_t place_channel_shuffle(const struct kernel_call *k, const struct result_element *to,
                                       uint32_t *input)
{
    const struct shape *s = &k->arg[*input]->shape;
    size_t groups = (size_t) kernel_int(k, ROLE_NUM_GROUPS, 1), at[MAX_RANK];
    uint32_t axis = axis_of(k, s->rank);

    memcpy(at, to->at, sizeof(at));
    at[axis] = at[axis] % groups * (s->dim[axis] / groups) + at[axis] / groups;
    return index_of(s, at);
}

/* The input pixel nearest to output pixel o, in exact integers. */
static size_t nearest(const struct resize_geometry *g, size_t o)
{
    size_t in = (size_t) g->in, out = (size_t) g->out, at;

    if (g->corners && out > 1)
        at = (2 * o * (in - 1) + (out - 1)) / (2 * (out - 1));
    else if (g->half)
        at = (2 * o + 1) * in / (2 * out);
    else
        at = o * in / out;
    return at < in ? at : in - 1;
}

static ptrdiff_t place_nearest(const struct kernel_call *k, const struct result_element *to,
                               uint32_t *input)
{
    struct image_axes a = image_axes_of(k);
    struct resize_geometry y = resize_geometry_of(k, a.y), x = resize_geometry_of(k, a.x);
    size_t at[MAX_RANK];

    memcpy(at, to->at, sizeof(at));
    at[a.y] = nearest(&y, at[a.y]);
    at[a.x] = nearest(&x, at[a.x]);
    return index_of(&k->arg[*input]->shape, at);
}

/* ---- the engine */

static size_t size_of(const struct tensor *t)
{
    return dtype_info[t->dtype].codec->size;
}

/* PAD_V2's value, else zero: the zero point of a quantised type. */
static void filling_of(const struct kernel_call *k, uint8_t filling[sizeof(double)])
{
    const struct tensor *value = kernel_in(k, ROLE_PAD_VALUE), *out = k->out[0];

    memset(filling, 0, sizeof(double));
    if (QUANTISED8 >> out->dtype & 1u)
        filling[0] = (uint8_t) (value ? kernel_int(k, ROLE_PAD_VALUE, 0) : out->zero);
    else if (value)
        memcpy(filling, value->data, size_of(out));
}

static void next_place(const struct shape *s, struct result_element *p)
{
    p->index++;
    for (uint32_t d = s->rank; d-- > 0;) {
        if (++p->at[d] < s->dim[d])
            return;
        p->at[d] = 0;
    }
}

static int run_moves(struct kernel_call *k, struct why *w)
{
    uint8_t filling[sizeof(double)];

    (void) w;
    filling_of(k, filling);
    for (uint32_t i = 0; i < k->call.n_out; i++) {
        struct tensor *out = k->out[i];
        size_t size = size_of(out), n = tensor_count(out);
        struct result_element to = { .result = i };
        for (; to.index < n; next_place(&out->shape, &to)) {
            uint32_t input = 0;
            ptrdiff_t at = k->kernel->place(k, &to, &input);
            const uint8_t *from = at == FILLED ? filling : k->arg[input]->data;
            memcpy((uint8_t *) out->data + to.index * size,
                   at == FILLED ? from : from + (size_t) at * size, size);
        }
    }
    return 0;
}

static const struct kernel_roles resize_nearest_roles = {
    &resize_roles,
    { ROLE_PAD_VALUE },
};

static const struct kernel_roles move_roles = {
    &resize_nearest_roles,
    { ROLE_AXIS, ROLE_BEGIN, ROLE_BEGIN_MASK, ROLE_BLOCK_SIZE, ROLE_BLOCK_SIZES, ROLE_INDICES,
      ROLE_LOOKUPS, ROLE_MODE, ROLE_NUM_GROUPS, ROLE_PADDINGS, ROLE_PERM, ROLE_SHRINK_AXIS_MASK,
      ROLE_STRIDES },
};

#define ANY_TYPE UINT32_MAX

const struct device_kernel fixed_move_kernels[] = {
    { "RESHAPE", ANY_TYPE, run_moves, &move_roles, .place = place_same },
    { "SQUEEZE", ANY_TYPE, run_moves, &move_roles, .place = place_same },
    { "EXPAND_DIMS", ANY_TYPE, run_moves, &move_roles, .place = place_same },
    { "CONCATENATION", ANY_TYPE, run_moves, &move_roles, .place = place_concatenation },
    { "SPLIT", ANY_TYPE, run_moves, &move_roles, .place = place_split },
    { "PACK", ANY_TYPE, run_moves, &move_roles, .place = place_pack },
    { "PAD", ANY_TYPE, run_moves, &move_roles, .place = place_pad },
    { "PAD_V2", ANY_TYPE, run_moves, &move_roles, .place = place_pad },
    { "MIRROR_PAD", ANY_TYPE, run_moves, &move_roles, .place = place_mirror_pad },
    { "TRANSPOSE", ANY_TYPE, run_moves, &move_roles, .place = place_transpose },
    { "REVERSE", ANY_TYPE, run_moves, &move_roles, .place = place_reverse },
    { "TILE", ANY_TYPE, run_moves, &move_roles, .place = place_tile },
    { "GATHER", ANY_TYPE, run_moves, &move_roles, .place = place_gather },
    { "EMBEDDING_LOOKUP", ANY_TYPE, run_moves, &move_roles, .place = place_embedding },
    { "SLICE", ANY_TYPE, run_moves, &move_roles, .place = place_slice },
    { "STRIDED_SLICE", ANY_TYPE, run_moves, &move_roles, .place = place_strided_slice },
    { "DEPTH_TO_SPACE", ANY_TYPE, run_moves, &move_roles, .place = place_depth_to_space },
    { "SPACE_TO_DEPTH", ANY_TYPE, run_moves, &move_roles, .place = place_space_to_depth },
    { "BATCH_TO_SPACE_ND", ANY_TYPE, run_moves, &move_roles, .place = place_batch_to_space },
    { "SPACE_TO_BATCH_ND", ANY_TYPE, run_moves, &move_roles, .place = place_space_to_batch },
    { "CHANNEL_SHUFFLE", ANY_TYPE, run_moves, &move_roles, .place = place_channel_shuffle },
    { "RESIZE_NEAREST_NEIGHBOR", ANY_TYPE, run_moves, &move_roles, .place = place_nearest },
    { NULL },
};
