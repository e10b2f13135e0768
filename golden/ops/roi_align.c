#include <string.h>

#include "golden/base/arena.h"
#include "golden/ops/shared/image/roi.h"

static const struct role outputs[] = {
    { "output", "for each box a grid of bins", "M??C", .slot = 0, .image = true },
};

static const struct form forms[] = {
    { "",
      { ROI_INPUT, ROI_BOXES, ROI_BATCHES, ROI_OUT_H, ROI_OUT_W, ROI_STRIDE_H, ROI_STRIDE_W,
        ROI_SAMPLES_H, ROI_SAMPLES_W, ROI_LAYOUT, END } },
};

enum { MOST_SAMPLES = 1 << 16 };

static int check_samples(struct call *c, int role, struct why *w)
{
    if (call_known(c, role))
        REQUIRE(w, call_int(c, role) >= 0 && call_int(c, role) <= MOST_SAMPLES,
                "%s: %s is %d, must be in 0..%d", c->op->name, c->op->in[role].name,
                call_int(c, role), MOST_SAMPLES);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    TRY(check_samples(c, ROI_SAMPLES_H, w));
    TRY(check_samples(c, ROI_SAMPLES_W, w));
    return roi_infer(c, w);
}

/* The mean of bilinear samples over a grid of points separates into both axes.  This is one axis of
 * a bin: the weight of each pixel.  The arrays have an element per pixel of the axis. */
struct bin {
    size_t lo, hi;  /* pixels lo..hi have weights */
    double *weight; /* of pixel k; the sum is 1 */
    /* For bounds: weighted position errors of the samples that may lie between pixels k and k + 1,
     * and the weight of the samples with pixel k as a neighbour. */
    double *shift, *share;
};

static int bin_new(struct call *c, int axis, struct bin *ret_bin, struct why *w)
{
    size_t n = roi_pixels(c, axis) + 1;
    double *lists = arena_alloc(c->scratch, 3 * n, sizeof *lists);

    if (!lists)
        return why_no_memory_for(w, "%s", c->op->name);
    *ret_bin = (struct bin){ 0, 0, lists, lists + n, lists + 2 * n };
    return 0;
}

static void bin_clear(struct bin *b, size_t pixels)
{
    for (size_t i = 0; i <= pixels; i++)
        b->weight[i] = b->shift[i] = b->share[i] = 0;
    b->lo = pixels;
    b->hi = 0;
}

static size_t pixel_of(double x, size_t pixels)
{
    double last = (double) pixels - 1;

    return x >= last ? pixels - 1 : x > 0 ? (size_t) x : 0;
}

/* Adds a sample at x with weight `part`.  Beyond the centre of the last pixel it takes that pixel.
 */
static void bin_sample(struct bin *b, size_t pixels, struct ball x, double part)
{
    size_t k = pixel_of(x.x, pixels), next = k + 1 < pixels ? k + 1 : k;
    double fraction = next > k ? x.x - (double) k : 0;

    b->weight[k] += part * (1 - fraction);
    b->weight[next] += part * fraction;
    b->share[k] += part;
    if (next > k)
        b->share[next] += part;
    b->lo = k < b->lo ? k : b->lo;
    b->hi = next > b->hi ? next : b->hi;
    if (!(x.e > 0))
        return;
    size_t first = pixel_of(x.x - x.e, pixels), last = pixel_of(x.x + x.e, pixels);
    for (size_t i = first; i <= last; i++)
        b->shift[i] += part * x.e;
    b->lo = first < b->lo ? first : b->lo;
    b->hi = last + 1 < pixels && last + 1 > b->hi ? last + 1 : b->hi;
}

/* One axis of a region: where it begins, its bins of `step` pixels with `samples` points each. */
struct cut {
    struct ball from, step;
    size_t samples;
    bool open; /* rounding may also give `other` samples */
    size_t other;
};

static struct cut cut_axis(const struct call *c, const struct region *r, int axis)
{
    static const int samples[] = { ROI_SAMPLES_H, ROI_SAMPLES_W };
    struct ball length =
        ball_max(ball_difference(r->to[axis], r->from[axis], c->unit), ball_exact(1));
    struct ball bins = ball_exact((double) roi_bins(c, axis));
    struct cut k = { r->from[axis], ball_quotient(length, bins, c->unit), 0, false, 0 };
    double asked = call_int(c, samples[axis]), n = asked > 0 ? asked : ceil(k.step.x);
    double least = ceil(k.step.x - k.step.e), most = ceil(k.step.x + k.step.e);

    k.samples = (size_t) n;
    if (asked == 0 && least != most) {
        k.open = true;
        k.other = (size_t) (n == least ? most : fmax(least, 1));
    }
    return k;
}

/* Computes bin i of an axis. */
static void cut_bin(const struct call *c, const struct cut *k, size_t samples, int axis, size_t i,
                    struct bin *b)
{
    size_t pixels = roi_pixels(c, axis);
    double n = (double) samples, u = c->unit;

    bin_clear(b, pixels);
    for (size_t s = 0; s < samples; s++) {
        double steps = (double) i + ((double) s + 0.5) / n;
        struct ball x = ball_sum(k->from, ball_product(k->step, ball_exact(steps), 2 * u), u);
        x.e += (double) s * u * fabs(x.x); /* implementations accumulate the position */
        bin_sample(b, pixels, x, 1 / n);
    }
}

/* Whether pixel k may be a neighbour of a sample, be it with a weight of 0. */
static bool bin_meets(const struct bin *b, size_t k)
{
    return b->share[k] > 0 || b->shift[k] > 0 || (k > 0 && b->shift[k - 1] > 0);
}

/* y[C] = the mean over the bin of an image [H][W][C]; magnitude: of absolute values, for bounds.
 * A neighbour with weight 0 does not contribute to the mean.  Implementations may multiply it by 0,
 * so that one that is infinite or NaN makes the magnitude NaN. */
static void mean_of_bin(const struct call *c, const double *image, const struct bin *by,
                        const struct bin *bx, bool magnitude, double *y)
{
    size_t width = c->letter['W'], channels = c->letter['C'];

    for (size_t k = 0; k < channels; k++)
        y[k] = 0;
    for (size_t i = by->lo; i <= by->hi; i++)
        for (size_t j = bx->lo; j <= bx->hi; j++) {
            const double *x = image + (i * width + j) * channels;
            double weight = by->weight[i] * bx->weight[j];
            if (weight == 0 && !(magnitude && bin_meets(by, i) && bin_meets(bx, j)))
                continue;
            if (magnitude)
                for (size_t k = 0; k < channels; k++)
                    y[k] += weight * fabs(x[k]);
            else
                for (size_t k = 0; k < channels; k++)
                    y[k] += weight * x[k];
        }
}

static const double *image_of(const struct call *c, const double *x, const struct region *r)
{
    return x + r->image * c->letter['H'] * c->letter['W'] * c->letter['C'];
}

/* Iteration over all bins of all regions. */
struct walk {
    struct call *c;
    struct cut cut[2];
    struct bin bin[2];
    struct region region;
    double *spare; /* [C] */
};

static int walk_regions(struct call *c, int (*visit)(struct walk *t, size_t i, size_t j, size_t at),
                        struct why *w)
{
    struct walk t = { .c = c };
    size_t at = 0, rows = roi_bins(c, 0), columns = roi_bins(c, 1);

    if (tensor_count(c->out[0]) == 0)
        return 0;
    TRY(bin_new(c, 0, &t.bin[0], w));
    TRY(bin_new(c, 1, &t.bin[1], w));
    t.spare = arena_alloc_raw(c->scratch, c->letter['C'] + 1, sizeof(double));
    if (!t.spare)
        return why_no_memory_for(w, "%s", c->op->name);
    for (size_t m = 0; m < c->letter['M']; m++) {
        TRY(roi_read(c, m, &t.region, w));
        for (int k = 0; k < 2; k++)
            t.cut[k] = cut_axis(c, &t.region, k);
        for (size_t i = 0; i < rows; i++) {
            cut_bin(c, &t.cut[0], t.cut[0].samples, 0, i, &t.bin[0]);
            for (size_t j = 0; j < columns; j++, at += c->letter['C']) {
                cut_bin(c, &t.cut[1], t.cut[1].samples, 1, j, &t.bin[1]);
                TRY(visit(&t, i, j, at));
            }
        }
    }
    return 0;
}

static int visit_value(struct walk *t, size_t i, size_t j, size_t at)
{
    struct call *c = t->c;

    (void) i;
    (void) j;
    mean_of_bin(c, image_of(c, c->x[ROI_INPUT], &t->region), &t->bin[0], &t->bin[1], false,
                c->y[0] + at);
    return 0;
}

static int eval(struct call *c, struct why *w)
{
    return walk_regions(c, visit_value, w);
}

/* Adds to e[C] the effect of position errors of the samples along one axis, whose pixels are `step`
 * elements apart, for all weights on the other axis. */
static void add_shifted(const struct call *c, const double *image, const struct bin *along,
                        size_t step, const struct bin *across, size_t row, size_t pixels, double *e)
{
    size_t channels = c->letter['C'];

    for (size_t a = across->lo; a <= across->hi; a++) {
        double weight = across->weight[a] + across->shift[a] + (a ? across->shift[a - 1] : 0);
        for (size_t b = along->lo; b <= along->hi && b + 1 < pixels; b++) {
            const double *x = image + a * row + b * step;
            double shift = weight * along->shift[b];
            if (!(shift > 0))
                continue;
            for (size_t k = 0; k < channels; k++)
                e[k] += fabs(x[step + k] - x[k]) * shift;
        }
    }
}

/* Quantised implementations use 8-bit weights: adds half a step of 1/255 for each of 4 neighbours.
 */
static void add_weights(const struct call *c, const double *image, const struct walk *t, double *e)
{
    size_t width = c->letter['W'], channels = c->letter['C'];

    if (c->arg[ROI_INPUT]->scale == 0)
        return;
    for (size_t i = t->bin[0].lo; i <= t->bin[0].hi; i++)
        for (size_t j = t->bin[1].lo; j <= t->bin[1].hi; j++)
            for (size_t k = 0; k < channels; k++)
                e[k] += 0.5 / 255 * t->bin[0].share[i] * t->bin[1].share[j] *
                        fabs(image[(i * width + j) * channels + k]);
}

/* Adds the error of a bin with that many samples. */
static void add_errors(struct walk *t, const double *image, size_t samples, double *e)
{
    struct call *c = t->c;
    const struct bin *by = &t->bin[0], *bx = &t->bin[1];
    size_t channels = c->letter['C'], width = c->letter['W'];

    if (c->ex[ROI_INPUT]) {
        mean_of_bin(c, image_of(c, c->ex[ROI_INPUT], &t->region), by, bx, true, t->spare);
        for (size_t k = 0; k < channels; k++)
            e[k] += t->spare[k];
    }
    mean_of_bin(c, image, by, bx, true, t->spare);
    for (size_t k = 0; k < channels; k++)
        e[k] += bound_sum(c, 4 * samples, t->spare[k]) + bound_tiny(c->unit);
    add_shifted(c, image, bx, channels, by, width * channels, width, e);
    add_shifted(c, image, by, width * channels, bx, channels, c->letter['H'], e);
    add_weights(c, image, t, e);
}

/* Where rounding may give another number of samples, adds the distance to that result. */
static void add_other_samples(struct walk *t, const double *image, size_t i, size_t j,
                              const double *y, double *e)
{
    struct call *c = t->c;
    size_t channels = c->letter['C'];

    for (int other = 1; other < 4; other++) {
        bool rows = other & 1, columns = other & 2;
        if ((rows && !t->cut[0].open) || (columns && !t->cut[1].open))
            continue;
        size_t n_rows = rows ? t->cut[0].other : t->cut[0].samples;
        size_t n_columns = columns ? t->cut[1].other : t->cut[1].samples;
        cut_bin(c, &t->cut[0], n_rows, 0, i, &t->bin[0]);
        cut_bin(c, &t->cut[1], n_columns, 1, j, &t->bin[1]);
        mean_of_bin(c, image, &t->bin[0], &t->bin[1], false, t->spare);
        for (size_t k = 0; k < channels; k++)
            e[k] += fabs(t->spare[k] - y[k]);
        add_errors(t, image, n_rows * n_columns, e);
    }
    cut_bin(c, &t->cut[0], t->cut[0].samples, 0, i, &t->bin[0]);
}

static int visit_bound(struct walk *t, size_t i, size_t j, size_t at)
{
    struct call *c = t->c;
    const double *image = image_of(c, c->x[ROI_INPUT], &t->region);
    double *e = c->ey[0] + at;

    for (size_t k = 0; k < c->letter['C']; k++)
        e[k] = 0;
    add_errors(t, image, t->cut[0].samples * t->cut[1].samples, e);
    if (t->cut[0].open || t->cut[1].open)
        add_other_samples(t, image, i, j, c->y[0] + at, e);
    for (size_t k = 0; k < c->letter['C']; k++)
        e[k] = bound_clean(e[k]);
    return 0;
}

static int bound(struct call *c, struct why *w)
{
    if (!c->ex[ROI_BATCHES])
        return walk_regions(c, visit_bound, w);
    roi_undecided(c);
    return 0;
}

const struct op op_ROI_ALIGN = {
    .code = OP_ROI_ALIGN,
    .name = "ROI_ALIGN",
    .summary = "Samples boxes of images: means of bilinear samples in a grid of bins.",
    .formula = "output[m,i,j,c] = mean over a grid of points (y, x) in bin i, j of box m of the "
               "bilinear interpolation of input[batches[m], y, x, c]",
    .since = L3,
    .in = roi_in,
    .n_in = ROI_ROLES,
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = roi_typings,
    .n_typings = ROI_TYPINGS,
    .layout = 1 + ROI_LAYOUT,
    .takes_empty = ROLE_BIT(ROI_BOXES) | ROLE_BIT(ROI_BATCHES),
    .fails_above = ROLE_BIT(ROI_BATCHES),
    .fails_below = ROLE_BIT(ROI_BATCHES),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "mean of ex, factor * sqrt(K) * u * mean |x|, and the slope of the image "
                       "times the errors of the samples' positions" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = roi_draw,
};
