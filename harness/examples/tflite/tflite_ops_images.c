/* Rules of convolutions, pools and resizing. */
#include <math.h>
#include <string.h>

#include "tflite_convert.h"

enum { SAME = 0, VALID = 1 };

/* The windows of an operation: its paddings, strides, dilations and activation. */
struct window {
    bool is_explicit, nchw;
    int32_t padding; /* SAME or VALID, as TensorFlow Lite has them */
    int32_t left, right, top, bottom;
    int32_t stride_w, stride_h, dilation_w, dilation_h, activation;
    int32_t own; /* the input that only this operation has: multiplier or groups */
};

/* Whether the padding is given by four numbers rather than a scheme: input `layout` of a form with
 * a scheme is the first optional one, the layout. */
static bool is_explicit(struct converter *c, uint32_t layout)
{
    const struct value *v = input_of(c, layout);
    return v && v->type != HAL_TYPE_BOOL;
}

/* Reads the inputs from `at` on: padding, strides, `own` numbers, activation, layout, dilations. */
static struct window read_window(struct converter *c, uint32_t at, uint32_t own)
{
    struct window w = { .is_explicit = is_explicit(c, at + 4 + own) };
    const int32_t scheme = w.is_explicit ? 2 : number(c, at, 0);

    require(c, scheme == 1 || scheme == 2);
    w.padding = scheme == 1 ? SAME : VALID;
    if (w.is_explicit) {
        w.left = number(c, at, 0);
        w.right = number(c, at + 1, 0);
        w.top = number(c, at + 2, 0);
        w.bottom = number(c, at + 3, 0);
    }
    at += w.is_explicit ? 4 : 1;
    w.stride_w = number(c, at, 0);
    w.stride_h = number(c, at + 1, 0);
    w.own = own ? number(c, at + 2, 0) : 0;
    w.activation = number(c, at + 2 + own, 0);
    w.nchw = number(c, at + 3 + own, 0);
    w.dilation_w = number(c, at + 4 + own, 1);
    w.dilation_h = number(c, at + 5 + own, 1);
    require(c, w.stride_w > 0 && w.stride_h > 0 && w.dilation_w > 0 && w.dilation_h > 0 &&
                   w.activation >= 0 && w.activation <= 3 && w.left >= 0 && w.right >= 0 &&
                   w.top >= 0 && w.bottom >= 0);
    return w;
}

/* Whether the numbers are those of the scheme SAME, for an image of known size. */
static bool is_same(uint32_t size, int32_t filter, int32_t stride, int32_t dilation, int32_t before,
                    int32_t after)
{
    const int64_t n = size, windows = (n + stride - 1) / stride;
    int64_t total = (windows - 1) * stride + (int64_t) (filter - 1) * dilation + 1 - n;

    total = total < 0 ? 0 : total;
    return n && before == total / 2 && after == total - total / 2;
}

/* Makes an explicit padding one that TensorFlow Lite has: a scheme, or VALID of a padded image.
 * `pad_code`: pads, with zeros (PAD) or with the lowest value (PADV2); 0: nothing pads. */
static int32_t pad_image(struct converter *c, struct window *w, int32_t x, int32_t filter_h,
                         int32_t filter_w, enum tfl_code pad_code)
{
    const struct value *v = input_of(c, 0);
    const uint32_t height = v->dims[w->nchw ? 2 : 1], width = v->dims[w->nchw ? 3 : 2];
    struct tfl_tensor lowest = *tensor_at(c, x);
    const float infinity = -INFINITY;
    const uint8_t byte = lowest.type == TFL_INT8 ? 0x80 : 0;

    if (!w->is_explicit || (!w->left && !w->right && !w->top && !w->bottom))
        return x;
    if (is_same(height, filter_h, w->stride_h, w->dilation_h, w->top, w->bottom) &&
        is_same(width, filter_w, w->stride_w, w->dilation_w, w->left, w->right)) {
        w->padding = SAME;
        return x;
    }
    const int32_t padded = like(c, x);
    int32_t inputs[] = { x,
                         constant_int_matrix(
                             c, 4, 2,
                             (int32_t[]){ 0, 0, w->top, w->bottom, w->left, w->right, 0, 0 }),
                         TFL_OMITTED };
    lowest.n_dims = 0;
    lowest.data = lowest.type == TFL_FLOAT32 ? (const void *) &infinity : &byte;
    lowest.length = lowest.type == TFL_FLOAT32 ? sizeof(infinity) : 1;
    if (pad_code == TFL_PADV2)
        inputs[2] = tfl_add_tensor(c->to, &lowest);
    if (require(c, pad_code != 0))
        emit(c, pad_code, OPTIONS_NONE, NULL, pad_code == TFL_PADV2 ? 3 : 2, inputs, 1, &padded);
    return padded;
}

/* ---- convolutions */

/* The operands of a convolution in one of the typings that TensorFlow Lite has: all floats; all
 * unsigned; signed with filters without a zero point.  Others get there by other_sign(), which is
 * exact. */
struct operands {
    int32_t x, filter, bias, y;
    bool changed; /* y is to be brought to the type of the output */
};

static bool is_valid_typing(struct converter *c)
{
    const struct value *x = input_of(c, 0), *filter = input_of(c, 1), *bias = input_of(c, 2);

    return filter && bias && output_of(c, 0)->type == x->type &&
           bias->type == (x->type == HAL_TYPE_TENSOR_FLOAT32 ? HAL_TYPE_TENSOR_FLOAT32
                                                             : HAL_TYPE_TENSOR_INT32) &&
           (filter->type == x->type || (x->type != HAL_TYPE_TENSOR_FLOAT32 &&
                                        filter->type == HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL));
}

static struct operands choose_typing(struct converter *c, int32_t x, int32_t y)
{
    const struct value *v = input_of(c, 0), *filter = input_of(c, 1);
    struct operands o = { x, in(c, 1), in(c, 2), y, false };
    bool is_signed = v->type == HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, wants_signed = is_signed;

    double products = 1;

    for (uint32_t i = 1; i < filter->n_dims; i++)
        products *= filter->dims[i];
    if (!require(c, is_valid_typing(c) && fits_products(v, filter, output_of(c, 0), products)) ||
        v->type == HAL_TYPE_TENSOR_FLOAT32)
        return o;
    if (filter->type == HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL)
        wants_signed = true;
    else if (is_signed && filter->zero)
        wants_signed = false;
    if (is_signed == wants_signed)
        return o;
    o.changed = true;
    o.x = other_sign(c, o.x);
    o.y = like_other_sign(c, o.y);
    if (filter->type != HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL)
        o.filter = other_sign(c, o.filter);
    return o;
}

/* The scales of a bias whose filter has one for each channel. */
static int32_t scaled_bias(struct converter *c, int32_t bias)
{
    const struct value *x = input_of(c, 0), *filter = input_of(c, 1);
    struct tfl_tensor t = *tensor_at(c, bias);

    if (!t.data || filter->type != HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL)
        return bias;
    float *scales = arena_take(c->to->arena, filter->n_channel_scales, sizeof(*scales));
    for (uint32_t i = 0; scales && i < filter->n_channel_scales; i++)
        scales[i] = x->scale * filter->channel_scales[i];
    t.n_scales = scales ? filter->n_channel_scales : 0;
    t.scales = scales;
    return tfl_add_tensor(c->to, &t);
}

static void finish_typing(struct converter *c, const struct operands *o, int32_t y)
{
    if (o->changed)
        emit1(c, TFL_QUANTIZE, o->y, y);
}

/* Part i of n of a constant along its first dimension, which its channels lie along. */
static int32_t part_of(struct converter *c, int32_t constant, int32_t i, int32_t n)
{
    struct tfl_tensor t = *tensor_at(c, constant);

    if (!require(c, t.data && t.dims[0] % n == 0))
        return TFL_OMITTED;
    t.dims[0] /= n;
    t.length /= (size_t) n;
    t.data = (const uint8_t *) t.data + (size_t) i * t.length;
    if (t.n_scales > 1) {
        t.n_scales /= (uint32_t) n;
        t.scales += (uint32_t) i * t.n_scales;
    }
    return tfl_add_tensor(c->to, &t);
}

/* A convolution of each group of channels: TensorFlow Lite 2.9 has none of groups. */
static void emit_groups(struct converter *c, const struct window *w, const int32_t *values,
                        const int32_t *inputs, int32_t y)
{
    const int32_t n = w->own, axis = constant_int(c, 3);
    int32_t *x = arena_take(c->to->arena, (size_t) n, sizeof(*x));
    int32_t *parts = arena_take(c->to->arena, (size_t) n, sizeof(*parts));

    for (int32_t i = 0; x && parts && i < n; i++) {
        x[i] = like(c, inputs[0]);
        parts[i] = like(c, y);
    }
    if (!x || !parts)
        return;
    emit(c, TFL_SPLIT, OPTIONS_SPLIT, &n, 2, (int32_t[]){ axis, inputs[0] }, (uint32_t) n, x);
    for (int32_t i = 0; c->supported && i < n; i++)
        emit(c, TFL_CONV_2D, OPTIONS_CONV_2D, values, 3,
             (int32_t[]){ x[i], part_of(c, inputs[1], i, n), part_of(c, inputs[2], i, n) }, 1,
             &parts[i]);
    emit(c, TFL_CONCATENATION, OPTIONS_CONCATENATION, (int32_t[]){ 3, 0 }, (uint32_t) n, parts, 1,
         &y);
}

static void convert_convolution(struct converter *c, const struct rule *r)
{
    const bool is_grouped = r->operation == HAL_OP_GROUPED_CONV_2D,
               is_depthwise = r->operation == HAL_OP_DEPTHWISE_CONV_2D;
    const struct value *filter = input_of(c, 1);
    struct window w = read_window(c, 3, is_grouped || is_depthwise);

    if (!require(c, filter && filter->n_dims == 4 && filter->dims[1] && filter->dims[2]) ||
        !require(c, (!is_grouped && !is_depthwise) || (w.own > 0 && w.own <= UINT16_MAX)) ||
        !c->supported)
        return;
    const int32_t image = image_in(c, 0, w.nchw), y = image_out(c, w.nchw);
    const struct operands o = choose_typing(c, image, y);
    const int32_t x =
        pad_image(c, &w, o.x, (int32_t) filter->dims[1], (int32_t) filter->dims[2], TFL_PAD);
    const int32_t inputs[] = { x, o.filter, scaled_bias(c, o.bias) };
    const int32_t plain[] = { w.padding,    w.stride_w,   w.stride_h,
                              w.activation, w.dilation_w, w.dilation_h };
    const int32_t depthwise[] = { w.padding,    w.stride_w,   w.stride_h,  w.own,
                                  w.activation, w.dilation_w, w.dilation_h };
    if (is_grouped)
        emit_groups(c, &w, plain, inputs, o.y);
    else
        emit(c, r->code, r->options, is_depthwise ? depthwise : plain, 3, inputs, 1, &o.y);
    finish_typing(c, &o, y);
    finish_image(c, w.nchw, y);
}

/* Of a transposed convolution: all positions that the filter reaches, VALID, and of these the part
 * that the paddings leave. */
struct enlarged {
    int32_t full[4], begin[4], size[4];
};

static bool enlarge(const struct value *x, const struct value *filter, const struct window *w,
                    const int32_t *shape, struct enlarged *ret)
{
    const int32_t strides[] = { w->stride_h, w->stride_w };
    const int32_t before[] = { w->top, w->left }, after[] = { w->bottom, w->right };
    const int axis = w->nchw ? 2 : 1;

    *ret = (struct enlarged){ .full = { (int32_t) x->dims[0] } };
    ret->full[3] = (int32_t) filter->dims[0];
    for (int i = 0; i < 2; i++) {
        const int64_t n = x->dims[axis + i], taps = filter->dims[1 + i];
        const int64_t full = (n - 1) * strides[i] + taps;
        int64_t first = before[i], size = full - before[i] - after[i];
        if (shape) {
            size = shape[axis + i];
            first = w->padding == SAME && full > size ? (full - size) / 2 : 0;
        }
        if (size <= 0 || first + size > full || full > INT32_MAX)
            return false;
        ret->full[1 + i] = (int32_t) full;
        ret->begin[1 + i] = (int32_t) first;
        ret->size[1 + i] = (int32_t) size;
    }
    ret->size[0] = ret->full[0];
    ret->size[3] = ret->full[3];
    return true;
}

static void convert_transposed_convolution(struct converter *c, const struct rule *r)
{
    const bool is_implicit = !is_explicit(c, 8);
    const struct value *v = input_of(c, 0), *filter = input_of(c, 1);
    struct window w = { 0 };
    struct enlarged e;
    uint32_t n = 0;
    const int32_t *shape = NULL;

    if (is_implicit) {
        shape = numbers(c, 3, &n);
        w.padding = number(c, 4, 0) == 1 ? SAME : VALID;
    } else {
        w.left = number(c, 3, 0);
        w.right = number(c, 4, 0);
        w.top = number(c, 5, 0);
        w.bottom = number(c, 6, 0);
    }
    const uint32_t at = is_implicit ? 5 : 7;
    w.stride_w = number(c, at, 0);
    w.stride_h = number(c, at + 1, 0);
    w.activation = number(c, at + 2, 0);
    w.nchw = number(c, at + 3, 0);
    require(c, w.stride_w > 0 && w.stride_h > 0 && w.left >= 0 && w.right >= 0 && w.top >= 0 &&
                   w.bottom >= 0 && w.activation >= 0 && w.activation <= 3);
    if (!require(c, (!is_implicit || (shape && n == 4)) && is_shape_known(v) && filter &&
                        filter->n_dims == 4 && is_shape_known(filter)) ||
        !c->supported || !require(c, enlarge(v, filter, &w, shape, &e)))
        return;
    const int32_t image = image_in(c, 0, w.nchw), y = image_out(c, w.nchw);
    const struct operands o = choose_typing(c, image, y);
    const bool is_part = memcmp(e.full, e.size, sizeof(e.full)) != 0;
    const int32_t full = is_part || w.activation ? like(c, o.y) : o.y;
    emit(c, r->code, r->options, (int32_t[]){ VALID, w.stride_w, w.stride_h }, 4,
         (int32_t[]){ constant_ints(c, 4, e.full), o.filter, o.x, scaled_bias(c, o.bias) }, 1,
         &full);
    const int32_t part =
        is_part ? slice(c, full, 4, e.begin, e.size, w.activation ? TFL_OMITTED : o.y) : full;
    if (w.activation)
        activate(c, part, w.activation, o.y);
    finish_typing(c, &o, y);
    finish_image(c, w.nchw, y);
}

/* ---- pools */

static void convert_pool(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const bool given = is_explicit(c, 7);
    const uint32_t at = given ? 5 : 2;
    struct window w = { .is_explicit = given, .dilation_w = 1, .dilation_h = 1 };
    const int32_t scheme = given ? 2 : number(c, 1, 0);

    w.padding = scheme == 1 ? SAME : VALID;
    if (given) {
        w.left = number(c, 1, 0);
        w.right = number(c, 2, 0);
        w.top = number(c, 3, 0);
        w.bottom = number(c, 4, 0);
    }
    w.stride_w = number(c, at, 0);
    w.stride_h = number(c, at + 1, 0);
    const int32_t filter_w = number(c, at + 2, 0), filter_h = number(c, at + 3, 0);
    w.activation = number(c, at + 4, 0);
    w.nchw = number(c, at + 5, 0);
    require(c, (scheme == 1 || scheme == 2) && w.stride_w > 0 && w.stride_h > 0 && filter_w > 0 &&
                   filter_h > 0 && w.left >= 0 && w.right >= 0 && w.top >= 0 && w.bottom >= 0 &&
                   w.activation >= 0 && w.activation <= 3 && has_same_scale(v, output_of(c, 0)));
    if (!c->supported)
        return;
    const int32_t image = image_in(c, 0, w.nchw);
    const int32_t x =
        pad_image(c, &w, image, filter_h, filter_w, r->code == TFL_MAX_POOL_2D ? TFL_PADV2 : 0);
    const int32_t y = image_out(c, w.nchw);
    emit(c, r->code, r->options,
         (int32_t[]){ w.padding, w.stride_w, w.stride_h, filter_w, filter_h, w.activation }, 1, &x,
         1, &y);
    finish_image(c, w.nchw, y);
}

/* ---- resizing */

/* Sizes are given, or scales, of which the size is known for an image of known size. */
static int32_t new_size(struct converter *c, uint32_t i, uint32_t size)
{
    const struct value *v = input_of(c, i);

    if (v && v->type == HAL_TYPE_FLOAT32 && require(c, size != 0))
        return (int32_t) floorf((float) size * real(c, i, 0));
    return number(c, i, 0);
}

static void convert_resize(struct converter *c, const struct rule *r)
{
    const struct value *v = input_of(c, 0);
    const bool nchw = number(c, 3, 0);
    const int32_t width = new_size(c, 1, v->dims[nchw ? 3 : 2]);
    const int32_t height = new_size(c, 2, v->dims[nchw ? 2 : 1]);
    const bool is_bilinear = r->code == TFL_RESIZE_BILINEAR;
    const int32_t corners = number(c, 4, 0), centers = number(c, 5, 0);

    require(c, width > 0 && height > 0 && has_same_scale(v, output_of(c, 0)));
    const int32_t x = image_in(c, 0, nchw), y = image_out(c, nchw);
    const int32_t values[] = { 0, 0, corners, centers };
    emit(c, r->code, r->options, is_bilinear ? values : values + 2, 2,
         (int32_t[]){ x, constant_ints(c, 2, (int32_t[]){ height, width }) }, 1, &y);
    finish_image(c, nchw, y);
}

const struct rule image_rules[] = {
    { HAL_OP_AVERAGE_POOL_2D, 7, 11, 0, REAL, 4, TFL_AVERAGE_POOL_2D, OPTIONS_POOL_2D,
      convert_pool },
    { HAL_OP_CONV_2D, 7, 13, 0, REAL, 4, TFL_CONV_2D, OPTIONS_CONV_2D, convert_convolution },
    { HAL_OP_DEPTHWISE_CONV_2D, 8, 14, 0, REAL, 4, TFL_DEPTHWISE_CONV_2D, OPTIONS_DEPTHWISE_CONV_2D,
      convert_convolution },
    { HAL_OP_L2_POOL_2D, 7, 11, 0, F32, 4, TFL_L2_POOL_2D, OPTIONS_POOL_2D, convert_pool },
    { HAL_OP_MAX_POOL_2D, 7, 11, 0, REAL, 4, TFL_MAX_POOL_2D, OPTIONS_POOL_2D, convert_pool },
    { HAL_OP_RESIZE_BILINEAR, 3, 6, 0, REAL, 4, TFL_RESIZE_BILINEAR, OPTIONS_RESIZE_BILINEAR,
      convert_resize },
    { HAL_OP_GROUPED_CONV_2D, 9, 12, 0, REAL, 4, TFL_CONV_2D, OPTIONS_CONV_2D,
      convert_convolution },
    { HAL_OP_TRANSPOSE_CONV_2D, 9, 11, 0, REAL, 4, TFL_TRANSPOSE_CONV, OPTIONS_TRANSPOSE_CONV,
      convert_transposed_convolution },
    { HAL_OP_RESIZE_NEAREST_NEIGHBOR, 4, 6, 0, REAL, 4, TFL_RESIZE_NEAREST_NEIGHBOR,
      OPTIONS_RESIZE_NEAREST_NEIGHBOR, convert_resize },
    { 0 },
};
