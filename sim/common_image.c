/* What moves pixels: the same on every device. */
#include <string.h>

#include "sim/kernel.h"

struct resize_axis resize_axis_of(const struct kernel_call *k, uint32_t d)
{
    struct resize_axis a = { (int) k->arg[0]->shape.dim[d], (int) k->out[0]->shape.dim[d],
                             kernel_int(k, "align_corners", 0) != 0,
                             kernel_int(k, "half_pixel_centers", 0) != 0 };

    if (k->tweaks & TWEAK_HALF_PIXEL)
        a.half = false;
    return a;
}

/* The pixel nearest to output pixel o, in integers: its position is a fraction. */
static int nearest(const struct resize_axis *a, int o)
{
    int64_t in = a->in, out = a->out, at;

    if (a->corners && out > 1)
        at = (2 * o * (in - 1) + out - 1) / (2 * (out - 1));
    else if (a->half)
        at = (2 * o + 1) * in / (2 * out);
    else
        at = o * in / out;
    return (int) (at < in ? at : in - 1);
}

static int run_nearest(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    bool nchw = kernel_int(k, "nchw", 0) != 0;
    struct resize_axis ay = resize_axis_of(k, nchw ? 2 : 1), ax = resize_axis_of(k, nchw ? 3 : 2);
    size_t size = dtype_info[x->dtype].codec->size;
    size_t run = (nchw ? 1 : x->shape.dim[3]) * size; /* bytes of a pixel that lie together */
    size_t planes = x->shape.dim[0] * (size_t) (nchw ? x->shape.dim[1] : 1);
    size_t h = (size_t) ay.in, row = (size_t) ax.in;
    uint8_t *to = k->out[0]->data;

    (void) w;
    for (size_t p = 0; p < planes; p++)
        for (int i = 0; i < ay.out; i++)
            for (int j = 0; j < ax.out; j++, to += run) {
                size_t at = (p * h + (size_t) nearest(&ay, i)) * row + (size_t) nearest(&ax, j);
                memcpy(to, (const uint8_t *) x->data + at * run, run);
            }
    return 0;
}

const struct kernel image_kernels[] = {
    { "RESIZE_NEAREST_NEIGHBOR", FLOATS | QUANTISED8, run_nearest },
    { NULL },
};
