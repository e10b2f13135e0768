/* Rules of operations that move elements, and of lookups. */
#include "tflite_convert.h"

static void require_same_scale(struct converter *c, uint32_t i)
{
    require(c, has_same_scale(input_of(c, i), output_of(c, 0)));
}

static void convert_concatenation(struct converter *c, const struct rule *r)
{
    const struct value *first = input_of(c, 0);
    const uint32_t n = c->step->n_in - 1;
    const int32_t axis = (int32_t) axis_of(c, first, number(c, n, 0));
    int32_t *x = arena_take(c->to->arena, n, sizeof(*x));

    for (uint32_t i = 0; x && i < n; i++) {
        const struct value *v = input_of(c, i);
        if (!require(c, v && v->type == first->type))
            return;
        x[i] = in(c, i);
        if (is_quantised(v))
            x[i] = requantise(c, x[i], out(c, 0), TFL_OMITTED);
    }
    if (x)
        emit(c, r->code, r->options, (int32_t[]){ axis, 0 }, n, x, 1, (int32_t[]){ out(c, 0) });
}

/* Operators whose inputs are those of the operation: tensors that give positions and sizes. */
static void convert_move(struct converter *c, const struct rule *r)
{
    int32_t x[4];

    require_same_scale(c, 0);
    for (uint32_t i = 0; i < c->step->n_in; i++) {
        require(c, !is_omitted(c, i));
        x[i] = in(c, i);
    }
    emit(c, r->code, OPTIONS_NONE, NULL, c->step->n_in, x, 1, (int32_t[]){ out(c, 0) });
}

/* If no dimension is left, the output is [1] in NNAPI and a scalar in TensorFlow Lite. */
static void convert_squeeze(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    int32_t values[1 + HAL_MAX_RANK] = { 0 };
    uint32_t n = 0, removed = 0;
    const int32_t *dims = numbers(c, 1, &n);

    require_same_scale(c, 0);
    if (is_omitted(c, 1)) {
        if (!require(c, is_shape_known(v)))
            return;
        for (uint32_t i = 0; i < v->n_dims; i++)
            removed |= v->dims[i] == 1 ? 1u << i : 0;
    } else if (!require(c, dims)) {
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        removed |= 1u << axis_of(c, v, dims[i]);
    if (removed == (1u << v->n_dims) - 1) {
        reshape(c, in(c, 0), 1, (int32_t[]){ 1 }, out(c, 0));
        return;
    }
    for (uint32_t i = 0; i < v->n_dims; i++)
        if (removed & 1u << i)
            values[1 + values[0]++] = (int32_t) i;
    if (!removed)
        copy(c, in(c, 0), out(c, 0));
    else
        emit(c, r->code, r->options, values, 1, (int32_t[]){ in(c, 0) }, 1,
             (int32_t[]){ out(c, 0) });
}

static void convert_transpose(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    int32_t reversed[HAL_MAX_RANK];

    if (!is_omitted(c, 1)) {
        convert_move(c, r);
        return;
    }
    require_same_scale(c, 0);
    for (uint32_t i = 0; i < v->n_dims; i++)
        reversed[i] = (int32_t) (v->n_dims - 1 - i);
    transpose(c, in(c, 0), v->n_dims, reversed, out(c, 0));
}

/* The padding value is a scalar: a float, or the stored value of a quantised one. */
static void convert_pad_with(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    int32_t value;

    require_same_scale(c, 0);
    if (is_quantised(v)) {
        struct tfl_tensor t = *tensor_at(c, in(c, 0));
        const uint8_t byte = (uint8_t) number(c, 2, 0);
        t.n_dims = 0;
        t.data = &byte;
        t.length = 1;
        value = tfl_add_tensor(c->to, &t);
    } else {
        value = in(c, 2);
    }
    emit(c, r->code, OPTIONS_NONE, NULL, 3, (int32_t[]){ in(c, 0), in(c, 1), value }, 1,
         (int32_t[]){ out(c, 0) });
}

static void convert_mirror_pad(struct converter *c, const struct rule *r)
{
    const int32_t mode = number(c, 2, 0);

    require_same_scale(c, 0);
    emit(c, r->code, r->options, &mode, 2, (int32_t[]){ in(c, 0), in(c, 1) }, 1,
         (int32_t[]){ out(c, 0) });
}

static void convert_gather(struct converter *c, const struct rule *r)
{
    const int32_t axis = (int32_t) axis_of(c, input_of(c, 0), number(c, 1, 0));

    require_same_scale(c, 0);
    emit(c, r->code, r->options, &axis, 2, (int32_t[]){ in(c, 0), in(c, 2) }, 1,
         (int32_t[]){ out(c, 0) });
}

static void convert_expand_dims(struct converter *c, const struct rule *r)
{
    require_same_scale(c, 0);
    emit2(c, r->code, in(c, 0), constant_int(c, number(c, 1, 0)), out(c, 0));
}

static void convert_split(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const int32_t axis = (int32_t) axis_of(c, v, number(c, 1, 0)), parts = number(c, 2, 0);
    int32_t *y = arena_take(c->to->arena, c->step->n_out, sizeof(*y));

    require(c, parts > 0 && (uint32_t) parts == c->step->n_out);
    for (uint32_t i = 0; y && i < c->step->n_out; i++) {
        require(c, has_same_scale(v, output_of(c, i)));
        y[i] = out(c, i);
    }
    if (y)
        emit(c, r->code, r->options, &parts, 2, (int32_t[]){ constant_int(c, axis), in(c, 0) },
             c->step->n_out, y);
}

/* Whether each dimension that is removed selects one element, forwards: TensorFlow Lite also
 * removes others, of which it takes the first element. */
static bool selects_one(struct converter *c, const struct value *v, uint32_t begin_mask,
                        uint32_t end_mask, uint32_t removed)
{
    uint32_t n[3] = { 0 };
    const int32_t *begin = numbers(c, 1, &n[0]), *end = numbers(c, 2, &n[1]);
    const int32_t *stride = numbers(c, 3, &n[2]);

    if (removed && (!begin || !end || !stride))
        return false;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        const int64_t size = v->dims[i];
        if (!(removed & 1u << i))
            continue;
        if (!size || i >= n[0] || i >= n[1] || i >= n[2] || stride[i] <= 0)
            return false;
        const int64_t first = begin_mask & 1u << i ? 0 : begin[i] < 0 ? begin[i] + size : begin[i];
        const int64_t last = end_mask & 1u << i ? size : end[i] < 0 ? end[i] + size : end[i];
        if (last - first != 1)
            return false;
    }
    return true;
}

static void convert_strided_slice(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const int32_t values[] = { number(c, 4, 0), number(c, 5, 0), 0, 0, number(c, 6, 0) };
    const bool all = ((uint32_t) values[4] & ((1u << v->n_dims) - 1)) == (1u << v->n_dims) - 1;
    const int32_t to = all ? like(c, out(c, 0)) : out(c, 0);

    require_same_scale(c, 0);
    require(c, selects_one(c, v, (uint32_t) values[0], (uint32_t) values[1], (uint32_t) values[4]));
    emit(c, r->code, r->options, values, 4, (int32_t[]){ in(c, 0), in(c, 1), in(c, 2), in(c, 3) },
         1, &to);
    if (all)
        reshape(c, to, 1, (int32_t[]){ 1 }, out(c, 0));
}

static void convert_topk(struct converter *c, const struct rule *r)
{
    require_same_scale(c, 0);
    emit(c, r->code, OPTIONS_NONE, NULL, 2, (int32_t[]){ in(c, 0), in(c, 1) }, 2,
         (int32_t[]){ out(c, 0), out(c, 1) });
}

static void convert_pack(struct converter *c, const struct rule *r)
{
    const uint32_t n = c->step->n_in - 1;
    int32_t *x = arena_take(c->to->arena, n, sizeof(*x));

    for (uint32_t i = 0; x && i < n; i++) {
        if (!require(c, input_of(c, 1 + i)))
            return;
        require_same_scale(c, 1 + i);
        x[i] = in(c, 1 + i);
    }
    if (x)
        emit(c, r->code, r->options, (int32_t[]){ (int32_t) n, number(c, 0, 0) }, n, x, 1,
             (int32_t[]){ out(c, 0) });
}

static void convert_fill(struct converter *c, const struct rule *r)
{
    const struct value *value = input_of(c, 1);

    require(c, value && (type_bit(value->type) & (F32 | I32)));
    emit2(c, r->code, in(c, 0), in(c, 1), out(c, 0));
}

/* The dimension is split in groups and their elements, which are exchanged. */
static void convert_channel_shuffle(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const int32_t groups = number(c, 1, 1);
    const uint32_t axis = axis_of(c, v, number(c, 2, 0));
    int32_t parts[4] = { 1, groups, 0, 1 }, dims[4];

    (void) r;
    require_same_scale(c, 0);
    if (!require(c, is_shape_known(v) && groups > 0) || !c->supported)
        return;
    for (uint32_t i = 0; i < v->n_dims; i++) {
        dims[i] = (int32_t) v->dims[i];
        if (i != axis)
            parts[i < axis ? 0 : 3] *= dims[i];
    }
    parts[2] = dims[axis] / groups;
    const int32_t apart = reshape(c, in(c, 0), 4, parts, TFL_OMITTED);
    const int32_t moved = transpose(c, apart, 4, (int32_t[]){ 0, 2, 1, 3 }, TFL_OMITTED);
    reshape(c, moved, v->n_dims, dims, out(c, 0));
}

/* ---- lookups */

static void convert_embedding_lookup(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 1);

    require(c, has_same_scale(v, output_of(c, 0)) && v->n_dims >= 2);
    emit2(c, r->code, in(c, 0), in(c, 1), out(c, 0));
}

static void convert_hashtable_lookup(struct converter *c, const struct rule *r)
{
    require_same_scale(c, 2);
    emit(c, r->code, OPTIONS_NONE, NULL, 3, (int32_t[]){ in(c, 0), in(c, 1), in(c, 2) }, 2,
         (int32_t[]){ out(c, 0), out(c, 1) });
}

/* The types: 2 dense and 3 sparse with offsets are 2 and 1; 1, sparse without, is not there. */
static void convert_lsh_projection(struct converter *c, const struct rule *r)
{
    const int32_t type = number(c, 3, 0), code = type == 3 ? 1 : 2;
    int32_t x[] = { in(c, 0), in(c, 1), in(c, 2) };

    require(c, type == 2 || type == 3);
    emit(c, r->code, r->options, &code, is_omitted(c, 2) ? 2 : 3, x, 1, (int32_t[]){ out(c, 0) });
}

/* ---- blocks of images */

static void convert_blocks(struct converter *c, const struct rule *r)
{
    const bool nchw = number(c, 2, 0);
    const int32_t size = number(c, 1, 0), x = image_in(c, 0, nchw), y = image_out(c, nchw);

    require(c, size > 0);
    require_same_scale(c, 0);
    emit(c, r->code, r->options, &size, 1, &x, 1, &y);
    finish_image(c, nchw, y);
}

static void convert_batches(struct converter *c, const struct rule *r)
{
    const bool pads = r->code == TFL_SPACE_TO_BATCH_ND, nchw = number(c, pads ? 3 : 2, 0);
    const int32_t x = image_in(c, 0, nchw), y = image_out(c, nchw);
    const int32_t third = pads ? in(c, 2) : constant_int_matrix(c, 2, 2, (int32_t[4]){ 0 });

    require_same_scale(c, 0);
    emit(c, r->code, OPTIONS_NONE, NULL, 3, (int32_t[]){ x, in(c, 1), third }, 1, &y);
    finish_image(c, nchw, y);
}

const struct rule move_rules[] = {
    { HAL_OP_CONCATENATION, 2, 255, 0, REAL, 4, TFL_CONCATENATION, OPTIONS_CONCATENATION,
      convert_concatenation },
    { HAL_OP_DEPTH_TO_SPACE, 2, 3, 0, REAL, 4, TFL_DEPTH_TO_SPACE, OPTIONS_DEPTH_TO_SPACE,
      convert_blocks },
    { HAL_OP_EMBEDDING_LOOKUP, 2, 2, 1, REAL, HAL_MAX_RANK, TFL_EMBEDDING_LOOKUP, 0,
      convert_embedding_lookup },
    { HAL_OP_HASHTABLE_LOOKUP, 3, 3, 2, F32 | I32 | U8, HAL_MAX_RANK, TFL_HASHTABLE_LOOKUP, 0,
      convert_hashtable_lookup },
    { HAL_OP_LSH_PROJECTION, 4, 4, 0, F32, 0, TFL_LSH_PROJECTION, OPTIONS_LSH_PROJECTION,
      convert_lsh_projection },
    { HAL_OP_RESHAPE, 2, 2, 0, REAL | I32, 0, TFL_RESHAPE, 0, convert_move },
    { HAL_OP_SPACE_TO_DEPTH, 2, 3, 0, REAL, 4, TFL_SPACE_TO_DEPTH, OPTIONS_SPACE_TO_DEPTH,
      convert_blocks },
    { HAL_OP_BATCH_TO_SPACE_ND, 2, 3, 0, REAL, 4, TFL_BATCH_TO_SPACE_ND, 0, convert_batches },
    { HAL_OP_PAD, 2, 2, 0, REAL, 4, TFL_PAD, 0, convert_move },
    { HAL_OP_SPACE_TO_BATCH_ND, 3, 4, 0, REAL, 4, TFL_SPACE_TO_BATCH_ND, 0, convert_batches },
    { HAL_OP_SQUEEZE, 1, 2, 0, REAL, 4, TFL_SQUEEZE, OPTIONS_SQUEEZE, convert_squeeze },
    { HAL_OP_STRIDED_SLICE, 7, 7, 0, REAL, 4, TFL_STRIDED_SLICE, OPTIONS_STRIDED_SLICE,
      convert_strided_slice },
    { HAL_OP_TRANSPOSE, 1, 2, 0, REAL, 4, TFL_TRANSPOSE, 0, convert_transpose },
    { HAL_OP_CHANNEL_SHUFFLE, 3, 3, 0, REAL, 4, TFL_TRANSPOSE, 0, convert_channel_shuffle },
    { HAL_OP_EXPAND_DIMS, 2, 2, 0, REAL | I32, 0, TFL_EXPAND_DIMS, 0, convert_expand_dims },
    { HAL_OP_GATHER, 3, 3, 0, REAL | I32, HAL_MAX_RANK, TFL_GATHER, OPTIONS_GATHER,
      convert_gather },
    { HAL_OP_PAD_V2, 3, 3, 0, REAL, 4, TFL_PADV2, 0, convert_pad_with },
    { HAL_OP_SLICE, 3, 3, 0, REAL | I32, 5, TFL_SLICE, 0, convert_move },
    { HAL_OP_SPLIT, 3, 3, 0, REAL | I32, HAL_MAX_RANK, TFL_SPLIT, OPTIONS_SPLIT, convert_split },
    { HAL_OP_TILE, 2, 2, 0, REAL | I32, 0, TFL_TILE, 0, convert_move },
    { HAL_OP_TOPK_V2, 2, 2, 0, REAL | I32, 0, TFL_TOPK_V2, 0, convert_topk },
    { HAL_OP_FILL, 2, 2, 0, I32, 0, TFL_FILL, 0, convert_fill },
    { HAL_OP_PACK, 2, 255, 1, REAL | I32, 0, TFL_PACK, OPTIONS_PACK, convert_pack },
    { HAL_OP_MIRROR_PAD, 3, 3, 0, REAL | I32, 5, TFL_MIRROR_PAD, OPTIONS_MIRROR_PAD,
      convert_mirror_pad },
    { HAL_OP_REVERSE, 2, 2, 0, REAL | I32, 8, TFL_REVERSE_V2, 0, convert_move },
    { 0 },
};
