/* CONV_2D in TENSOR_FLOAT32 and TENSOR_QUANT8_ASYMM: optional inputs that are not there, two
 * layouts, and a filter with a scale for each channel.  `halcyon ops CONV_2D` prints its
 * definition. Fill in: a faster one. */
#include <string.h>

#include "kernels.h"

/* The parameters along one dimension of the image. */
struct axis {
    int32_t before, after, stride, dilation; /* padding before and after */
};

struct conv {
    bool is_same; /* implicit padding SAME: `before` and `after` follow from the shapes */
    bool nchw;
    int32_t activation;
    struct axis y, x;
};

/* The inputs after the bias are, in this order: explicit padding (4) or the padding scheme (1);
 * strides and the activation; then, each optional, nchw and two dilations.  The scheme is followed
 * by nchw at index 7. */
static bool read_parameters(const struct arguments *a, struct conv *c)
{
    const bool is_implicit = a->n_in < 10 || a->in[7]->type == HAL_TYPE_BOOL;
    const uint32_t strides = is_implicit ? 4 : 7;
    int32_t scheme = 0, nchw;

    memset(c, 0, sizeof(*c));
    if (is_implicit && !read_constant(a, 3, 0, &scheme))
        return false;
    if (!is_implicit &&
        (!read_constant(a, 3, 0, &c->x.before) || !read_constant(a, 4, 0, &c->x.after) ||
         !read_constant(a, 5, 0, &c->y.before) || !read_constant(a, 6, 0, &c->y.after)))
        return false;
    if (!read_constant(a, strides, 1, &c->x.stride) ||
        !read_constant(a, strides + 1, 1, &c->y.stride) ||
        !read_constant(a, strides + 2, 0, &c->activation) ||
        !read_constant(a, strides + 3, 0, &nchw) ||
        !read_constant(a, strides + 4, 1, &c->x.dilation) ||
        !read_constant(a, strides + 5, 1, &c->y.dilation))
        return false;
    c->is_same = scheme == 1;
    c->nchw = nchw != 0;
    return true;
}

static bool is_valid(const struct axis *a)
{
    return a->before >= 0 && a->after >= 0 && a->stride > 0 && a->dilation > 0;
}

/* Checks the copy of the constants: the client may have changed them after the model was checked.
 */
bool conv_2d_supports(const struct arguments *a)
{
    const int32_t type = a->in[0]->type, filter = a->in[1]->type;
    struct conv c;

    return (type == HAL_TYPE_TENSOR_FLOAT32 ||
            (type == HAL_TYPE_TENSOR_QUANT8_ASYMM &&
             (filter == type || (filter == HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL &&
                                 a->in[1]->channel_dim == 0)))) &&
           read_parameters(a, &c) && is_valid(&c.x) && is_valid(&c.y) && c.activation >= 0 &&
           c.activation <= 3;
}

/* ---- shapes */

/* Numbers of images, rows, columns and channels, and the elements between two of them. */
struct layout {
    uint32_t n[4];
    size_t stride[4];
};
enum { BATCH, ROW, COLUMN, CHANNEL };

static struct layout layout_of(const struct operand *o, bool nchw)
{
    static const int nhwc_order[] = { BATCH, ROW, COLUMN, CHANNEL };
    static const int nchw_order[] = { BATCH, CHANNEL, ROW, COLUMN };
    const int *order = nchw ? nchw_order : nhwc_order;
    struct layout l;
    size_t stride = 1;

    for (int d = 3; d >= 0; d--) {
        l.n[order[d]] = o->dims[d];
        l.stride[order[d]] = stride;
        stride *= o->dims[d];
    }
    return l;
}

/* The output's size along one dimension, 0 if the filter does not fit; sets the padding of SAME. */
static uint32_t output_size(uint32_t input, uint32_t filter, bool is_same, struct axis *a)
{
    const int64_t reach = ((int64_t) filter - 1) * a->dilation + 1; /* of the dilated filter */

    if (is_same) {
        const int64_t size = ((int64_t) input + a->stride - 1) / a->stride;
        const int64_t missing = (size - 1) * a->stride + reach - input;
        a->before = missing > 0 ? (int32_t) (missing / 2) : 0;
        return (uint32_t) size;
    }
    const int64_t padded = (int64_t) input + a->before + a->after;
    return padded < reach ? 0 : (uint32_t) ((padded - reach) / a->stride + 1);
}

bool conv_2d_shape(struct arguments *a)
{
    const struct operand *input = a->in[0], *filter = a->in[1], *bias = a->in[2];
    struct operand *out = a->out[0];
    struct conv c;

    if (!read_parameters(a, &c) || input->n_dims != 4 || filter->n_dims != 4 || bias->n_dims != 1)
        return false;
    const struct layout in = layout_of(input, c.nchw), taps = layout_of(filter, false);
    const uint32_t rows = output_size(in.n[ROW], taps.n[ROW], c.is_same, &c.y);
    const uint32_t columns = output_size(in.n[COLUMN], taps.n[COLUMN], c.is_same, &c.x);
    out->n_dims = 4;
    out->dims[0] = in.n[BATCH];
    out->dims[1] = c.nchw ? taps.n[BATCH] : rows;
    out->dims[2] = c.nchw ? rows : columns;
    out->dims[3] = c.nchw ? columns : taps.n[BATCH];
    return rows && columns && taps.n[CHANNEL] == in.n[CHANNEL] && bias->dims[0] == taps.n[BATCH] &&
           (!filter->scales || filter->n_scales == taps.n[BATCH]);
}

/* ---- values */

/* The value that an element represents, less the scale. */
static double get_units(const struct operand *o, size_t at)
{
    int32_t i;

    switch (o->type) {
    case HAL_TYPE_TENSOR_FLOAT32: return get_float(o, at);
    case HAL_TYPE_TENSOR_QUANT8_ASYMM: return o->data[at] - o->zero;
    case HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL: return (int8_t) o->data[at];
    default: memcpy(&i, o->data + at * sizeof(i), sizeof(i)); return i;
    }
}

/* The scale of the products with channel o of the filter, and of its bias. */
static double product_scale(const struct arguments *a, size_t o)
{
    const struct operand *filter = a->in[1];

    return a->in[0]->type == HAL_TYPE_TENSOR_FLOAT32
               ? 1
               : (double) a->in[0]->scale * (filter->scales ? filter->scales[o] : filter->scale);
}

static void put_value(const struct operand *o, size_t at, float x)
{
    if (o->type == HAL_TYPE_TENSOR_FLOAT32) {
        put_float(o, at, x);
        return;
    }
    const float q = x / o->scale + (float) o->zero;
    o->data[at] = (uint8_t) (q <= 0 ? 0 : q >= 255 ? 255 : q + 0.5f); /* rounds to nearest */
}

/* One place of the output: the sum over all taps of the filter and all channels of the input. */
struct place {
    size_t batch, row, column, channel;
};

static double sum_of_products(const struct arguments *a, const struct conv *c,
                              const struct layout *in, const struct layout *taps,
                              const struct place *p)
{
    double sum = get_units(a->in[2], p->channel);

    for (size_t i = 0; i < taps->n[ROW]; i++) {
        const int64_t row =
            (int64_t) p->row * c->y.stride + (int64_t) i * c->y.dilation - c->y.before;
        for (size_t k = 0; k < taps->n[COLUMN]; k++) {
            const int64_t column =
                (int64_t) p->column * c->x.stride + (int64_t) k * c->x.dilation - c->x.before;
            if (row < 0 || row >= in->n[ROW] || column < 0 || column >= in->n[COLUMN])
                continue; /* padding */
            const size_t x = p->batch * in->stride[BATCH] + (size_t) row * in->stride[ROW] +
                             (size_t) column * in->stride[COLUMN];
            const size_t w =
                p->channel * taps->stride[BATCH] + i * taps->stride[ROW] + k * taps->stride[COLUMN];
            for (size_t ch = 0; ch < in->n[CHANNEL]; ch++)
                sum += get_units(a->in[0], x + ch * in->stride[CHANNEL]) *
                       get_units(a->in[1], w + ch * taps->stride[CHANNEL]);
        }
    }
    return sum;
}

void conv_2d_run(const struct arguments *a)
{
    struct conv c;

    read_parameters(a, &c);
    const struct layout in = layout_of(a->in[0], c.nchw), taps = layout_of(a->in[1], false),
                        out = layout_of(a->out[0], c.nchw);
    output_size(in.n[ROW], taps.n[ROW], c.is_same, &c.y);
    output_size(in.n[COLUMN], taps.n[COLUMN], c.is_same, &c.x);
    struct place p;
    for (p.batch = 0; p.batch < out.n[BATCH]; p.batch++)
        for (p.row = 0; p.row < out.n[ROW]; p.row++)
            for (p.column = 0; p.column < out.n[COLUMN]; p.column++)
                for (p.channel = 0; p.channel < out.n[CHANNEL]; p.channel++) {
                    const double sum = sum_of_products(a, &c, &in, &taps, &p);
                    put_value(a->out[0],
                              p.batch * out.stride[BATCH] + p.row * out.stride[ROW] +
                                  p.column * out.stride[COLUMN] + p.channel * out.stride[CHANNEL],
                              activate((float) (sum * product_scale(a, p.channel)), c.activation));
                }
}
