/* Parts of images in floats: resizing and regions of interest. */
#include <math.h>

#include "sim/floats.h"

/* ---- between pixels */

/* Two neighbours along an axis, and how much of the second. */
struct between {
    int first, second;
    float part;
};

/* A real position; what lies outside is the nearest pixel. */
static struct between between_of(float at, int n)
{
    int first = (int) floorf(at);

    if (first < 0)
        return (struct between){ 0, 0, 0 };
    if (first >= n - 1)
        return (struct between){ n - 1, n - 1, 0 };
    return (struct between){ first, first + 1, at - (float) first };
}

/* An image [h][w][channels]. */
struct plane {
    const float *x;
    int h, w;
    size_t channels;
};

static float pixel(const struct plane *p, int y, int x, size_t c)
{
    return p->x[((size_t) y * (size_t) p->w + (size_t) x) * p->channels + c];
}

static float mix(float a, float b, float part)
{
    return a * (1 - part) + b * part;
}

static float bilinear(const struct plane *p, struct between y, struct between x, size_t c)
{
    return mix(mix(pixel(p, y.first, x.first, c), pixel(p, y.first, x.second, c), x.part),
               mix(pixel(p, y.second, x.first, c), pixel(p, y.second, x.second, c), x.part),
               y.part);
}

/* ---- resizing */

/* Where the centre (or corner) of output pixel o lies in the input. */
static float source_of(const struct resize_axis *a, int o)
{
    if (a->half)
        return ((float) o + 0.5f) * (float) a->in / (float) a->out - 0.5f;
    if (a->corners && a->out > 1)
        return (float) o * (float) (a->in - 1) / (float) (a->out - 1);
    return (float) o * (float) a->in / (float) a->out;
}

static int run_resize(struct kernel_call *k, struct why *w)
{
    bool nchw = kernel_int(k, "nchw", 0) != 0;
    struct resize_axis ay = resize_axis_of(k, nchw ? 2 : 1), ax = resize_axis_of(k, nchw ? 3 : 2);
    const float *x = floats_load_image(k, k->arg[0], nchw);
    float *to = floats_new(k, tensor_count(k->out[0])), *y = to;
    size_t channels = k->arg[0]->shape.dim[nchw ? 1 : 3], batch = k->arg[0]->shape.dim[0];
    struct plane p = { x, ay.in, ax.in, channels };

    if (!x || !y)
        return kernel_no_memory(w);
    for (size_t b = 0; b < batch; b++, p.x += (size_t) ay.in * (size_t) ax.in * channels)
        for (int i = 0; i < ay.out; i++)
            for (int j = 0; j < ax.out; j++)
                for (size_t c = 0; c < channels; c++)
                    *to++ = bilinear(&p, between_of(source_of(&ay, i), ay.in),
                                     between_of(source_of(&ax, j), ax.in), c);
    return floats_store_image(k, y, k->out[0], nchw) < 0 ? kernel_no_memory(w) : 0;
}

#define ALL (FLOATS | QUANTISED8)

const struct kernel float_region_kernels[] = {
    { "RESIZE_BILINEAR", ALL, run_resize },
    { NULL },
};
