/* Smaller dimensions.  A dimension is cut in all values that share it; which do is read from the
 * patterns of the records, or guessed from equal sizes: what does not fit is not valid, and costs
 * no execution. */
#include <string.h>

#include "golden/edit/ties.h"
#include "golden/model/copy_elements.h"
#include "harness/shrink/reductions.h"

/* ---- cutting */

/* Leaves `size` elements of a dimension, the first or the last ones. */
static bool cut_tensor(struct edit *c, const struct value_ref *ref, uint32_t dim, uint32_t size,
                       bool last)
{
    struct tensor from = *edit_tensor(c, ref), to = from;
    struct copy_axis axis[MAX_RANK];
    ptrdiff_t from_stride[MAX_RANK], to_stride[MAX_RANK];
    size_t bytes = dtype_info[from.dtype].codec->size;
    uint32_t skip = last ? from.shape.dim[dim] - size : 0;
    to.shape.dim[dim] = size;
    to.data = arena_alloc(c->arena, tensor_count(&to) + 1, bytes);
    if (!to.data)
        return false;
    element_strides(&from.shape, from_stride);
    element_strides(&to.shape, to_stride);
    for (uint32_t d = 0; d < to.shape.rank; d++)
        axis[d] = (struct copy_axis){ to.shape.dim[d], from_stride[d], to_stride[d] };
    copy_elements(bytes, axis, to.shape.rank,
                  (const char *) from.data + skip * (size_t) from_stride[dim] * bytes, to.data);
    if (to.channel_scale && to.channel_dim == dim) {
        to.channel_scale += skip;
        to.n_channels = size;
    }
    edit_set_value(c, ref, &to);
    return true;
}

/* Kinds of dimensions that are cut together: those of golden/edit/ties.h, and all that are
 * multiples of one, such as the output channels of a depthwise convolution. */
enum { MULTIPLES = TOGETHER_KINDS, KINDS };
enum { SIZES = 5, ENDS = 2, PER_DIMENSION = KINDS * SIZES * ENDS };

static uint32_t size_at(uint32_t n, uint32_t choice)
{
    return choice < 3 ? choice + 1 : choice == 3 ? n / 2 : n - 1;
}

/* Cuts all dimensions that are multiples of `old`, unless all of these are equal. */
static enum reduced cut_multiples(struct edit *c, const struct value_ref *refs, uint32_t n,
                                  uint32_t old, uint32_t size, bool last)
{
    bool multiple = false;

    for (uint32_t i = 0; i < n && !multiple; i++) {
        const struct shape *s = &edit_tensor(c, &refs[i])->shape;
        for (uint32_t d = 0; d < s->rank; d++)
            multiple |= s->dim[d] > old && s->dim[d] % old == 0;
    }
    for (uint32_t i = 0; i < n && multiple; i++) {
        struct shape s = edit_tensor(c, &refs[i])->shape;
        for (uint32_t d = 0; d < s.rank; d++)
            if (s.dim[d] && s.dim[d] % old == 0 &&
                !cut_tensor(c, &refs[i], d, s.dim[d] / old * size, last))
                return REDUCE_NOTHING;
    }
    return multiple ? REDUCE_DONE : REDUCE_NOTHING;
}

static enum reduced cut(struct edit *c, const struct value_ref *refs, uint32_t n, uint32_t at,
                        uint32_t dim, uint32_t choice)
{
    struct ties ties;
    uint32_t kind = choice / (SIZES * ENDS);
    uint32_t old = edit_tensor(c, &refs[at])->shape.dim[dim];
    uint32_t size = size_at(old, choice / ENDS % SIZES);
    bool last = choice % ENDS;
    if (size >= old || size < 1)
        return REDUCE_NOTHING;
    if (kind == MULTIPLES)
        return cut_multiples(c, refs, n, old, size, last);
    if (!ties_find(c, &ties))
        return REDUCE_NOTHING;
    for (uint32_t i = 0; i < n; i++) {
        struct shape s = edit_tensor(c, &refs[i])->shape;
        for (uint32_t d = 0; d < s.rank; d++)
            if (goes_together(&ties, (enum together) kind, &refs[at], dim, &refs[i], d,
                              s.dim[d] == old) &&
                !cut_tensor(c, &refs[i], d, size, last))
                return REDUCE_NOTHING;
    }
    return REDUCE_DONE;
}

enum reduced shrink_dimensions(struct edit *c, uint32_t site)
{
    struct value_ref *refs;
    uint32_t n = edit_values(c, &refs), choice = site % PER_DIMENSION;
    site /= PER_DIMENSION;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = edit_tensor(c, &refs[i])->shape.rank;
        if (site < rank)
            return cut(c, refs, n, i, site, choice);
        site -= rank;
    }
    return REDUCE_END;
}

/* ---- ranks */

/* Removes dimension `site` from all tensors that have the highest rank, where it is 1 in all. */
enum reduced shrink_ranks(struct edit *c, uint32_t site)
{
    struct value_ref *refs;
    uint32_t n = edit_values(c, &refs), most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = edit_tensor(c, &refs[i])->shape.rank;
        most = rank > most ? rank : most;
    }
    if (most <= 1 || site >= most)
        return REDUCE_END;
    for (uint32_t i = 0; i < n; i++) {
        struct tensor t = *edit_tensor(c, &refs[i]);
        if (t.shape.rank != most)
            continue;
        if (t.shape.dim[site] != 1 || t.channel_scale)
            return REDUCE_NOTHING;
        for (uint32_t d = site + 1; d < most; d++)
            t.shape.dim[d - 1] = t.shape.dim[d];
        t.shape.rank--;
        struct operand *o = &c->e.model.graph[refs[i].graph].operand[refs[i].operand];
        if (refs[i].input >= 0)
            o->tensor.shape = t.shape; /* unknown dimensions become known */
        edit_set_value(c, &refs[i], &t);
    }
    return REDUCE_DONE;
}

enum reduced shrink_unknown_shapes(struct edit *c, uint32_t site)
{
    const struct graph *g = &c->e.model.graph[0];
    bool unknown = false;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        if (dtype_info[o->tensor.dtype].tensor && o->life != LIFE_NO_VALUE && !operand_constant(o))
            unknown = unknown || !shape_known(&o->tensor.shape);
    }
    if (site || !unknown)
        return REDUCE_END;
    c->specify = true;
    return REDUCE_DONE;
}
