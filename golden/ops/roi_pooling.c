#include <string.h>

#include "golden/ops/shared/image/roi.h"

static const struct role outputs[] = {
    { "output", "for each box a grid of bins", "M??C", .slot = 0, .image = true, .q = Q_SAME },
};

static const struct form forms[] = {
    { "",
      { ROI_INPUT, ROI_BOXES, ROI_BATCHES, ROI_OUT_H, ROI_OUT_W, ROI_STRIDE_H, ROI_STRIDE_W,
        ROI_LAYOUT, END } },
};

/* Pixels of a bin along an axis, as half-open ranges: from..to by the definition, least..most those
 * that may belong to it with rounding errors, sure_from..sure_to those that certainly do. */
struct span {
    size_t from, to;
    size_t sure_from, sure_to;
    size_t least, most;
};

static size_t clip(double x, double limit)
{
    return x > 0 ? (size_t) bound_smaller(x, limit) : 0;
}

/* Bin i of `bins` in the pixels first..last; u: unit roundoff of the boundaries, 0: exact. */
static void span_of(double first, double last, double i, double bins, double limit, double u,
                    struct span *s)
{
    double length = bound_larger(last - first + 1, 1), lo = i * length, hi = (i + 1) * length;
    /* integers and halves are computed exactly; other quotients may be rounded past an integer */
    bool exact = u == 0 || fmod(2 * length, bins) == 0;
    double slack = exact ? 0 : 4 * u * (first + length + 1);
    double slack_from = i > 0 ? slack : 0; /* the first bin begins exactly with the region */

    s->from = clip(first + floor(lo / bins), limit);
    s->to = clip(first + ceil(hi / bins), limit);
    s->least = clip(first + floor(lo / bins - slack_from), limit);
    s->most = clip(first + ceil(hi / bins + slack), limit);
    s->sure_from = clip(first + floor(lo / bins + slack_from), limit);
    s->sure_to = clip(first + ceil(hi / bins - slack), limit);
}

static void widen_span(struct span *s, const struct span *other)
{
    s->least = other->least < s->least ? other->least : s->least;
    s->most = other->most > s->most ? other->most : s->most;
    s->sure_from = other->sure_from > s->sure_from ? other->sure_from : s->sure_from;
    s->sure_to = other->sure_to < s->sure_to ? other->sure_to : s->sure_to;
}

/* The coordinate x plus `side` times its error, rounded to a pixel, half away from zero. */
static double pixel(struct ball x, int side)
{
    double a = x.x + side * x.e;

    return floor(a) + (a - floor(a) >= 0.5);
}

/* Bin i of a region along an axis, for all roundings of the region's ends within their errors. */
static struct span bin_of(const struct call *c, const struct region *r, int axis, size_t i)
{
    double bins = (double) roi_bins(c, axis), limit = (double) roi_pixels(c, axis);
    struct ball from = r->from[axis], to = r->to[axis];
    double first = pixel(from, 0), last = pixel(to, 0);
    struct span s, other;

    span_of(first, last, (double) i, bins, limit, c->unit, &s);
    for (int k = 0; k < 4 && c->unit > 0; k++) {
        double first2 = pixel(from, k & 1 ? 1 : -1), last2 = pixel(to, k & 2 ? 1 : -1);
        if (first2 == first && last2 == last)
            continue;
        span_of(first2, last2, (double) i, bins, limit, c->unit, &other);
        widen_span(&s, &other);
    }
    return s;
}

struct box_of_pixels {
    size_t top, bottom, left, right;
};

/* y[C] = the largest of image + sign * e over some pixels; 0 for none. */
static void largest(const struct call *c, const double *image, const struct box_of_pixels *b,
                    const double *e, double sign, double *y)
{
    size_t width = c->letter['W'], channels = c->letter['C'];

    for (size_t k = 0; k < channels; k++) {
        bool first = true;
        y[k] = 0;
        for (size_t i = b->top; i < b->bottom; i++)
            for (size_t j = b->left; j < b->right; j++) {
                size_t at = (i * width + j) * channels + k;
                double x = image[at] + (e ? sign * e[at] : 0);
                if (first || x > y[k])
                    y[k] = x;
                first = false;
            }
    }
}

static size_t image_at(const struct call *c, const struct region *r)
{
    return r->image * c->letter['H'] * c->letter['W'] * c->letter['C'];
}

static void pool(struct call *c, const struct region *r, const struct span *sy,
                 const struct span *sx, double *y)
{
    const double *image = c->x[ROI_INPUT] + image_at(c, r);
    struct box_of_pixels b = { sy->from, sy->to, sx->from, sx->to };

    largest(c, image, &b, NULL, 0, y);
}

/* The smallest possible result of a bin in channel k: the largest of the pixels that are certainly
 * in it; if there is none, the smallest of the possible ones, or 0 for an empty bin. */
static double least_of(const struct call *c, const double *image, const double *e,
                       const struct box_of_pixels *b, bool sure, size_t k)
{
    double least = sure ? -INFINITY : 0;

    for (size_t i = b->top; i < b->bottom; i++)
        for (size_t j = b->left; j < b->right; j++) {
            size_t at = (i * c->letter['W'] + j) * c->letter['C'] + k;
            double x = image[at] - (e ? e[at] : 0);
            least = sure ? bound_larger(least, x) : bound_smaller(least, x);
        }
    return least;
}

static bool has_pixels(const struct box_of_pixels *b)
{
    return b->top < b->bottom && b->left < b->right;
}

/* The result lies between the largest of the certain pixels and the largest of all possible ones.
 */
static void bound_bin(struct call *c, const struct region *r, const struct span *sy,
                      const struct span *sx, size_t at)
{
    const double *image = c->x[ROI_INPUT] + image_at(c, r);
    const double *e = c->ex[ROI_INPUT] ? c->ex[ROI_INPUT] + image_at(c, r) : NULL;
    struct box_of_pixels all = { sy->least, sy->most, sx->least, sx->most };
    struct box_of_pixels sure = { sy->sure_from, sy->sure_to, sx->sure_from, sx->sure_to };
    bool some = has_pixels(&sure);
    const double *y = c->y[0] + at;
    double *ey = c->ey[0] + at;

    largest(c, image, &all, e, 1, ey);
    for (size_t k = 0; k < c->letter['C']; k++) {
        double lo = least_of(c, image, e, some ? &sure : &all, some, k);
        ey[k] = bound_interval(y[k], lo, some ? ey[k] : bound_larger(ey[k], 0));
    }
}

static int walk_regions(struct call *c, bool bounds, struct why *w)
{
    size_t at = 0;
    struct region r;

    if (tensor_count(c->out[0]) == 0)
        return 0;
    for (size_t m = 0; m < c->letter['M']; m++) {
        TRY(roi_read(c, m, &r, w));
        for (size_t i = 0; i < roi_bins(c, 0); i++) {
            struct span sy = bin_of(c, &r, 0, i);
            for (size_t j = 0; j < roi_bins(c, 1); j++, at += c->letter['C']) {
                struct span sx = bin_of(c, &r, 1, j);
                if (bounds)
                    bound_bin(c, &r, &sy, &sx, at);
                else
                    pool(c, &r, &sy, &sx, c->y[0] + at);
            }
        }
    }
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    return walk_regions(c, false, w);
}

static int bound(struct call *c, struct why *w)
{
    if (!c->ex[ROI_BATCHES])
        return walk_regions(c, true, w);
    roi_undecided(c);
    return 0;
}

const struct op op_ROI_POOLING = {
    .code = OP_ROI_POOLING,
    .name = "ROI_POOLING",
    .summary = "Pools boxes of images: the largest pixel in each of a grid of bins.",
    .formula = "output[m,i,j,c] = max over the pixels (y, x) in bin i, j of box m, its ends "
               "rounded to pixels, of input[batches[m], y, x, c]; 0 if empty",
    .since = L3,
    .in = roi_in,
    .n_in = ROI_SAMPLES_H,
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = roi_typings,
    .n_typings = ROI_TYPINGS,
    .layout = 1 + ROI_LAYOUT,
    .fails_above = ROLE_BIT(ROI_BATCHES),
    .fails_below = ROLE_BIT(ROI_BATCHES),
    .error = { ERROR_EXACT,
               .text = "ex; distance to the largest pixels of bins with other roundings" },
    .infer = roi_infer,
    .eval = eval,
    .bound = bound,
    .draw = roi_draw,
};
