/* RESIZE_BILINEAR, ROI_ALIGN and ROI_POOLING in floats. */
#include <math.h>

#include "sim/kernels/float/float_operands.h"

/* ---- bilinear interpolation */

/* Two neighbouring pixels along an axis, and the weight of the second. */
struct between {
    int first, second;
    float part;
};

/* The neighbours of a real position, clamped to the image. */
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

/* Position of output pixel o in the input. */
static float source_of(const struct resize_geometry *a, int o)
{
    if (a->half)
        return ((float) o + 0.5f) * (float) a->in / (float) a->out - 0.5f;
    if (a->corners && a->out > 1)
        return (float) o * (float) (a->in - 1) / (float) (a->out - 1);
    return (float) o * (float) a->in / (float) a->out;
}

static int run_resize(struct kernel_call *k, struct why *w)
{
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    struct resize_geometry ay = resize_geometry_of(k, nchw ? 2 : 1),
                           ax = resize_geometry_of(k, nchw ? 3 : 2);
    const float *x = floats_load_image(k, k->arg[0], nchw);
    float *to = floats_new(k, tensor_count(k->out[0])), *y = to;
    size_t channels = k->arg[0]->shape.dim[nchw ? 1 : 3], batch = k->arg[0]->shape.dim[0];
    struct plane p = { x, ay.in, ax.in, channels };

    if (!x || !y)
        return why_no_memory(w);
    for (size_t b = 0; b < batch; b++, p.x += (size_t) ay.in * (size_t) ax.in * channels)
        for (int i = 0; i < ay.out; i++)
            for (int j = 0; j < ax.out; j++)
                for (size_t c = 0; c < channels; c++)
                    *to++ = bilinear(&p, between_of(source_of(&ay, i), ay.in),
                                     between_of(source_of(&ax, j), ax.in), c);
    return floats_store_image(k, y, k->out[0], nchw) < 0 ? why_no_memory(w) : 0;
}

/* ---- regions of interest: boxes divided into bins */

/* One axis of a region, in pixels; pixels: size of the image. */
struct extent {
    float from, to;
    int pixels, bins;
};

struct regions {
    bool nchw;
    size_t batch;
    struct plane image; /* x: of the first image */
    const float *boxes;
    const int32_t *batches;
    size_t n;
    int bins[2]; /* rows, columns */
    float *y;
};

static int regions_of(struct kernel_call *k, struct regions *ret_regions, struct why *w)
{
    const uint32_t *d = k->arg[0]->shape.dim;
    bool nchw = kernel_int(k, ROLE_NCHW, 0) != 0;
    struct regions r = {
        .nchw = nchw,
        .batch = d[0],
        .image = { floats_load_image(k, k->arg[0], nchw), (int) d[nchw ? 2 : 1],
                   (int) d[nchw ? 3 : 2], d[nchw ? 1 : 3] },
        .boxes = floats_load(k, k->arg[1]),
        .batches = k->arg[2]->data,
        .n = k->arg[1]->shape.dim[0],
        .bins = { kernel_int(k, ROLE_OUTPUT_HEIGHT, 1), kernel_int(k, ROLE_OUTPUT_WIDTH, 1) },
        .y = floats_new(k, tensor_count(k->out[0])),
    };

    if (!r.image.x || !r.boxes || !r.y)
        return why_no_memory(w);
    for (size_t i = 0; i < r.n; i++)
        if (r.batches[i] < 0 || (size_t) r.batches[i] >= r.batch)
            return why_fail(w, WHY_EXECUTION, "region %zu: image %d of %zu", i, r.batches[i],
                            r.batch);
    *ret_regions = r;
    return 0;
}

/* Boxes are x1, y1, x2, y2 and must lie in the image; rounding errors of 0.1 % are clipped. */
static int extent_of(const struct kernel_call *k, const struct regions *r, size_t i, int axis,
                     struct extent *ret_extent, struct why *w)
{
    float unit = kernel_float(k, axis ? ROLE_STRIDE_WIDTH : ROLE_STRIDE_HEIGHT, 1);
    const float *box = r->boxes + 4 * i + (axis ? 0 : 1);
    struct extent e = { box[0] / unit, box[2] / unit, axis ? r->image.w : r->image.h,
                        r->bins[axis] };

    float most = (float) e.pixels;
    if (!(e.from >= 0 && e.from <= e.to && e.to <= most * 1.001f))
        return why_fail(w, WHY_EXECUTION, "region %zu: %g to %g does not lie in 0 to %d pixels", i,
                        (double) e.from, (double) e.to, e.pixels);
    e.from = fminf(e.from, most);
    e.to = fminf(e.to, most);
    *ret_extent = e;
    return 0;
}

static struct plane image_of(const struct regions *r, size_t i)
{
    struct plane p = r->image;

    p.x += (size_t) r->batches[i] * (size_t) p.h * (size_t) p.w * p.channels;
    return p;
}

/* Position of sample s of n in bin i. */
static struct between sample_at(const struct extent *e, int i, int s, int n)
{
    float step = fmaxf(e->to - e->from, 1) / (float) e->bins;

    return between_of(e->from + step * ((float) i + ((float) s + 0.5f) / (float) n), e->pixels);
}

static int samples_of(const struct kernel_call *k, const struct extent *e, enum kernel_role role)
{
    int asked = kernel_int(k, role, 0);

    if (k->kernel_faults & KERNEL_FAULT_SAMPLING)
        return 1;
    return asked > 0 ? asked : (int) ceilf(fmaxf(e->to - e->from, 1) / (float) e->bins);
}

static float mean_of_bin(const struct plane *p, const struct extent e[2], const int samples[2],
                         const int bin[2], size_t channel)
{
    float sum = 0;

    for (int i = 0; i < samples[0]; i++)
        for (int j = 0; j < samples[1]; j++)
            sum += bilinear(p, sample_at(&e[0], bin[0], i, samples[0]),
                            sample_at(&e[1], bin[1], j, samples[1]), channel);
    return sum / ((float) samples[0] * (float) samples[1]);
}

static int run_roi_align(struct kernel_call *k, struct why *w)
{
    struct regions r;

    TRY(regions_of(k, &r, w));
    float *to = r.y;
    for (size_t m = 0; m < r.n; m++) {
        struct extent e[2];
        for (int axis = 0; axis < 2; axis++)
            TRY(extent_of(k, &r, m, axis, &e[axis], w));
        int samples[2] = { samples_of(k, &e[0], ROLE_SAMPLING_RATIO_HEIGHT),
                           samples_of(k, &e[1], ROLE_SAMPLING_RATIO_WIDTH) };
        struct plane p = image_of(&r, m);
        for (int i = 0; i < r.bins[0]; i++)
            for (int j = 0; j < r.bins[1]; j++)
                for (size_t c = 0; c < p.channels; c++)
                    *to++ = mean_of_bin(&p, e, samples, (const int[]){ i, j }, c);
    }
    return floats_store_image(k, r.y, k->out[0], r.nchw) < 0 ? why_no_memory(w) : 0;
}

/* A range of pixels [first, last). */
struct pixels {
    int first, last;
};

/* The pixels of bin i of a region whose ends are rounded to pixels. */
static struct pixels bin_of(const struct extent *e, int i)
{
    int from = (int) roundf(e->from), to = (int) roundf(e->to);
    int length = to - from + 1 > 1 ? to - from + 1 : 1;
    int64_t first = from + (int64_t) i * length / e->bins;
    int64_t last = from + ((int64_t) (i + 1) * length + e->bins - 1) / e->bins;

    return (struct pixels){ first < e->pixels ? (int) first : e->pixels,
                            last < e->pixels ? (int) last : e->pixels };
}

static float largest_of(const struct plane *p, struct pixels y, struct pixels x, size_t channel)
{
    bool none = y.first >= y.last || x.first >= x.last;
    float top = none ? 0 : -INFINITY;

    for (int i = y.first; i < y.last; i++)
        for (int j = x.first; j < x.last; j++)
            top = fmaxf(top, pixel(p, i, j, channel));
    return top;
}

static int run_roi_pooling(struct kernel_call *k, struct why *w)
{
    struct regions r;

    TRY(regions_of(k, &r, w));
    float *to = r.y;
    for (size_t m = 0; m < r.n; m++) {
        struct extent ey, ex;
        TRY(extent_of(k, &r, m, 0, &ey, w));
        TRY(extent_of(k, &r, m, 1, &ex, w));
        struct plane p = image_of(&r, m);
        for (int i = 0; i < r.bins[0]; i++)
            for (int j = 0; j < r.bins[1]; j++)
                for (size_t c = 0; c < p.channels; c++)
                    *to++ = largest_of(&p, bin_of(&ey, i), bin_of(&ex, j), c);
    }
    return floats_store_image(k, r.y, k->out[0], r.nchw) < 0 ? why_no_memory(w) : 0;
}

#define ALL (FLOATS | QUANTISED8)

static const struct kernel_roles regions_roles = {
    .role = { ROLE_NCHW, ROLE_OUTPUT_HEIGHT, ROLE_OUTPUT_WIDTH, ROLE_STRIDE_HEIGHT,
              ROLE_STRIDE_WIDTH },
};

static const struct kernel_roles align_roles = {
    &regions_roles,
    { ROLE_SAMPLING_RATIO_HEIGHT, ROLE_SAMPLING_RATIO_WIDTH },
};

const struct device_kernel float_region_kernels[] = {
    { "RESIZE_BILINEAR", ALL, run_resize, &resize_roles },
    { "ROI_ALIGN", ALL, run_roi_align, &align_roles },
    { "ROI_POOLING", ALL, run_roi_pooling, &regions_roles },
    { NULL },
};
