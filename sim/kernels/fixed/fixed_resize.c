/* RESIZE_BILINEAR in fixed point: positions and weights have 16 fractional bits. */
#include "sim/kernels/fixed/fixed.h"

#define ROUND_DOWN(k) (((k)->kernel_faults & KERNEL_FAULT_TRUNCATE) != 0)

enum { POINT = 16 };

/* Two neighbouring pixels along an axis, and the weight of the second. */
struct between {
    int first, second;
    int64_t part;
};

/* Position of output pixel o between input pixels. */
static struct between between_of(const struct resize_geometry *a, int o)
{
    int64_t above = a->in, below = a->out, at, one = INT64_C(1) << POINT;

    if (a->half)
        at = ((2 * o + 1) * above * one / below - one) / 2;
    else if (a->corners && below > 1)
        at = o * (above - 1) * one / (below - 1);
    else
        at = o * above * one / below;
    if (at < 0)
        at = 0;
    int first = (int) (at >> POINT);
    if (first >= a->in - 1)
        return (struct between){ a->in - 1, a->in - 1, 0 };
    return (struct between){ first, first + 1, at & (one - 1) };
}

static int64_t mix(int64_t a, int64_t b, int64_t part)
{
    return a * ((INT64_C(1) << POINT) - part) + b * part;
}

/* Element strides of an image in NHWC or NCHW. */
struct image_strides {
    size_t row, column, channel, image;
};

static struct image_strides image_strides_of(const struct shape *s, bool nchw)
{
    const uint32_t *d = s->dim;
    size_t plane = nchw ? (size_t) d[2] * d[3] : 1;

    if (nchw)
        return (struct image_strides){ d[3], 1, plane, d[1] * plane };
    return (struct image_strides){ (size_t) d[2] * d[3], d[3], 1, (size_t) d[1] * d[2] * d[3] };
}

static int64_t resized(const struct tensor *x, size_t at, struct image_strides p, struct between y,
                       struct between z)
{
    size_t top = at + (size_t) y.first * p.row, bottom = at + (size_t) y.second * p.row;
    size_t left = (size_t) z.first * p.column, right = (size_t) z.second * p.column;

    return mix(mix(fixed_at(x, top + left), fixed_at(x, top + right), z.part),
               mix(fixed_at(x, bottom + left), fixed_at(x, bottom + right), z.part), y.part);
}

static int run_resize(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    struct resize_geometry ay = resize_geometry_of(k, nchw ? 2 : 1),
                           ax = resize_geometry_of(k, nchw ? 3 : 2);
    struct image_strides from = image_strides_of(&x->shape, nchw),
                         to = image_strides_of(&out->shape, nchw);
    size_t channels = x->shape.dim[nchw ? 1 : 3];
    struct fixed_range r = fixed_range(out);

    (void) w;
    for (size_t b = 0; b < x->shape.dim[0]; b++)
        for (int i = 0; i < ay.out; i++)
            for (int j = 0; j < ax.out; j++)
                for (size_t c = 0; c < channels; c++) {
                    int64_t sum = resized(x, b * from.image + c * from.channel, from,
                                          between_of(&ay, i), between_of(&ax, j));
                    size_t at = b * to.image + (size_t) i * to.row + (size_t) j * to.column;
                    fixed_store(out, at + c * to.channel,
                                shift_round(sum, 2 * POINT, ROUND_DOWN(k)), r);
                }
    return 0;
}

const struct device_kernel fixed_image_kernels[] = {
    { "RESIZE_BILINEAR", QUANTISED8, run_resize, &resize_roles },
    { NULL },
};
