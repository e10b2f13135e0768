/* Scales and zero points: fixed by the record, taken from another operand, or chosen. */
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { SCALE_STEPS = 4096, ADVERSARIAL_PERCENT = 40 };
enum {
    EQUAL_OPERAND = 11,
    EQUAL_ZERO,
    EQUAL_RESULT,
    PROBE_ZERO,
    PROBE_CODE,
    PROBE_SCALE
}; /* choices aside */

/* A scale with which `codes` steps span between one and two times `span`; rarely a round number. */
static float draw_scale(struct builder *b, double span, double codes)
{
    double odd = 1 + (double) rng_below(b->rng, SCALE_STEPS) / SCALE_STEPS;

    return (float) (span * odd / codes);
}

/* In graphs of the adversarial profile. */
static bool draw_adversarial(struct builder *b)
{
    return b->values == VALUES_ADVERSARIAL && rng_percent(b->rng, ADVERSARIAL_PERCENT);
}

static double codes_of(enum dtype type)
{
    return dtype_info[type].codec->max - dtype_info[type].codec->min;
}

static int32_t middle(enum dtype type)
{
    const struct codec *k = dtype_info[type].codec;

    return (int32_t) (k->min + (k->max - k->min + 1) / 2);
}

static const struct tensor *operand(const struct draft *d, uint32_t at)
{
    return at < d->n_in ? d->arg[at] : NULL;
}

/* The channel dimension of a per-channel operand: the one with the bias's letter, else random. */
static uint32_t channel_dim(const struct draft *d, uint32_t at, uint32_t rank)
{
    const char *dims = d->op->in[d->role[at]].dims;

    for (int i = 0; d->form->role[i] != END; i++) {
        const struct role *bias = &d->op->in[d->form->role[i]];
        const char *found = bias->q == Q_PRODUCT ? strchr(dims, bias->dims[0]) : NULL;
        if (found)
            return (uint32_t) (found - dims);
    }
    return rng_below(d->b->rng, rank);
}

static int channel_scales(struct draft *d, uint32_t at, struct tensor *t)
{
    t->channel_dim = channel_dim(d, at, t->shape.rank);
    t->n_channels = t->shape.dim[t->channel_dim];
    float *scale = arena_alloc_raw(d->b->arena, t->n_channels + 1, sizeof *scale);
    if (!scale)
        return -1;
    for (uint32_t i = 0; i < t->n_channels; i++)
        scale[i] = draw_scale(d->b, 1, 255);
    t->channel_scale = scale;
    return 0;
}

void scale_random(struct builder *b, double reach, struct tensor *t)
{
    enum quant quant = dtype_info[t->dtype].quant;

    if (quant != QUANT_AFFINE && quant != QUANT_SYMM)
        return;
    int32_t lowest = (int32_t) dtype_info[t->dtype].codec->min;
    double codes = codes_of(t->dtype);
    t->scale = draw_scale(b, 2 * reach, codes);
    t->zero = 0;
    if (quant == QUANT_SYMM)
        return;
    switch (rng_below(b->rng, 4)) {
    case 0: t->zero = lowest; break;
    case 1: t->zero = lowest + (int32_t) rng_below(b->rng, (uint32_t) codes + 1); break;
    default: t->zero = middle(t->dtype); break;
    }
}

/* The first operand, or the one that was chosen before it. */
static const struct tensor *first_operand(const struct draft *d)
{
    return d->arg[0] ? d->arg[0] : d->arg[d->primary];
}

/* Kernels have other paths for operands of equal scales. */
static void equal_scale(const struct draft *d, struct tensor *t)
{
    const struct tensor *first = first_operand(d);

    if (!first || first->dtype != t->dtype ||
        !rng_percent_aside(d->b->rng, EQUAL_OPERAND, d->b->weights->equal_scale))
        return;
    t->scale = first->scale;
    if (rng_percent_aside(d->b->rng, EQUAL_ZERO, 40))
        t->zero = first->zero;
}

int scale_for_operand(struct draft *d, uint32_t at, struct tensor *t)
{
    const struct role *r = &d->op->in[d->role[at]];
    enum quant quant = dtype_info[t->dtype].quant;
    double reach = r->needs & NEEDS_SMALL ? 2 : (double) (1 + rng_below(d->b->rng, 4));

    if (quant == QUANT_NONE)
        return 0;
    if (quant == QUANT_CHANNEL)
        return channel_scales(d, at, t);
    if (quant == QUANT_BIAS) {
        const struct tensor *x = operand(d, 0), *y = operand(d, 1);
        if (r->q == Q_PRODUCT)
            t->scale =
                x && y && !y->channel_scale ? (float) ((double) x->scale * (double) y->scale) : 0;
        return 0;
    }
    const struct tensor *like = r->q == Q_LIKE ? d->call.in[r->qlike] : NULL;
    if (r->q == Q_FIXED) {
        t->scale = (float) r->qscale;
        t->zero = (int32_t) dtype_info[t->dtype].codec->min + r->qzero;
    } else if (like) {
        t->scale = like->scale;
        t->zero = like->zero;
    } else if (r->q == Q_POWER) {
        t->scale = (float) ldexp(r->qscale, -(int) rng_below(d->b->rng, 7));
        t->zero = 0;
    } else if (d->same && d->same->dtype == t->dtype && (at == 0 || r->q == Q_SAME)) {
        t->scale = d->same->scale;
        t->zero = d->same->zero;
    } else {
        scale_random(d->b, reach, t);
        equal_scale(d, t);
        if (quant == QUANT_AFFINE && draw_adversarial(d->b))
            t->zero = (int32_t) ((r->needs & NEEDS_NONNEG) || rng_below(d->b->rng, 2)
                                     ? dtype_info[t->dtype].codec->min
                                     : dtype_info[t->dtype].codec->max);
    }
    return 0;
}

bool scale_fits(const struct draft *d, const struct role *r, const struct tensor *t)
{
    enum quant quant = dtype_info[t->dtype].quant;
    bool first = r == &d->op->in[d->form->role[0]];

    if (quant == QUANT_NONE || quant == QUANT_CHANNEL)
        return true;
    if (r->q == Q_FIXED)
        return (double) t->scale == r->qscale &&
               t->zero == (int32_t) dtype_info[t->dtype].codec->min + r->qzero;
    if (r->q == Q_PRODUCT || r->q == Q_POWER)
        return false;
    if (r->q == Q_LIKE && d->call.in[r->qlike])
        return tensor_same_quant(t, d->call.in[r->qlike]);
    if (d->same && d->same->dtype == t->dtype && (r->q == Q_SAME || first))
        return tensor_same_quant(t, d->same);
    return true;
}

/* A scale slightly above the product of the first two (Q_OVER). */
static double over_product(const struct draft *d)
{
    const struct tensor *a = operand(d, 0), *b = operand(d, 1);

    return a && b ? (double) a->scale * (double) b->scale * 1.0001 : 0;
}

bool scale_is_free(const struct role *r, enum dtype type)
{
    enum quant quant = dtype_info[type].quant;

    bool fixed = r->q == Q_SAME || r->q == Q_FIXED || r->q == Q_LIKE || r->q == Q_POWER;
    return (quant == QUANT_AFFINE || quant == QUANT_SYMM) && !fixed;
}

/* Of a probe's result, whose values are not computed. */
static void vary_result(const struct draft *d, const struct role *r, struct tensor *t)
{
    static const int8_t shift[] = { -8, -4, -2, 3, 6, 9 };
    const struct rng *g = d->b->rng;
    int32_t least = (int32_t) dtype_info[t->dtype].codec->min;
    uint32_t n = rng_below_aside(g, PROBE_SCALE, 2 * COUNT(shift));

    if (n < COUNT(shift) && (r->q != Q_OVER || shift[n] > 0))
        t->scale = ldexpf(t->scale, shift[n]);
    switch (rng_below_aside(g, PROBE_ZERO, 4)) {
    case 0: t->zero = least; break;
    case 1: t->zero = least + 1 + (int32_t) rng_below_aside(g, PROBE_CODE, 100); break;
    default: break;
    }
}

void scale_preliminary(const struct draft *d, const struct role *r, struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];

    if (info->quant == QUANT_NONE || info->quant == QUANT_BIAS)
        return;
    if (scale_is_free(r, t->dtype)) {
        t->scale = (float) (4 / codes_of(t->dtype) + 2 * over_product(d));
        t->zero = info->quant == QUANT_AFFINE ? middle(t->dtype) : 0;
        if (d->b->traits && info->quant == QUANT_AFFINE)
            vary_result(d, r, t);
    } else if ((r->q == Q_SAME && d->arg[0]) || (r->q == Q_LIKE && d->call.in[r->qlike])) {
        const struct tensor *like = r->q == Q_SAME ? d->arg[0] : d->call.in[r->qlike];
        t->scale = like->scale;
        t->zero = like->zero;
    } else {
        t->scale = (float) r->qscale;
        t->zero = (int32_t) info->codec->min + r->qzero;
    }
}

bool scale_allowed(const struct draft *d, const struct role *r, const struct tensor *like)
{
    enum quant quant = dtype_info[like->dtype].quant;

    if (quant == QUANT_NONE || quant == QUANT_BIAS)
        return true;
    if (!scale_is_free(r, like->dtype))
        return tensor_same_quant(&d->out[0]->t, like);
    return r->q != Q_OVER || (double) like->scale > over_product(d);
}

static double clamp(double x, double lo, double hi)
{
    return x < lo ? lo : x > hi ? hi : x;
}

/* A scale slightly above that of the units in which the operation computes, so that the results are
 * multiplied by slightly less than 1; `scale` if that one is far from it. */
static double next_to_units(const struct draft *d, const struct role *r, double scale)
{
    static const double far = 16;
    const struct tensor *a = operand(d, 0), *b = operand(d, 1);
    bool product = r->q == Q_OVER || d->op->error.kind == ERROR_DOT;
    double unit = a ? (double) a->scale : 0;

    if (product)
        unit = b ? unit * (double) b->scale : 0;
    if (!(unit > scale / far && unit < scale * far))
        return scale;
    return unit * (1 + ldexp(1, -(int) (8 + rng_below(d->b->rng, 13))));
}

/* The scale of the first operand, where it is near to `scale`, rather if the second has it too;
 * `scale` otherwise. */
static double scale_of_first(const struct draft *d, enum dtype type, double scale)
{
    const struct tensor *first = first_operand(d), *second = operand(d, 1);
    bool equals = first && second && second != first && second->dtype == type &&
                  second->scale == first->scale;
    uint32_t percent = equals ? 50 : d->b->weights->equal_scale;

    if (!first || first->dtype != type || !rng_percent_aside(d->b->rng, EQUAL_RESULT, percent))
        return scale;
    double equal = (double) first->scale;
    return equal > scale / 2 && equal < scale * 4 ? equal : scale;
}

static bool may_have_zero(const struct draft *d, const struct tensor *t)
{
    return draft_may_be(d, TRAIT_OUT_ZERO, trait_of_zero(t));
}

/* Covers lo..hi as far as a zero point can that the limits on the call allow: the middle, the end
 * of the range, or any other. */
static void move_zero(const struct draft *d, double lo, double hi, struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;
    const int32_t zero[] = { middle(t->dtype), (int32_t) k->min, middle(t->dtype) + 1 };

    for (int i = 0; i < COUNT(zero); i++) {
        t->zero = zero[i];
        if (!may_have_zero(d, t))
            continue;
        double below = zero[i] - k->min, above = k->max - zero[i];
        double scale = fmax(below > 0 ? -lo / below : 0, hi / above);
        t->scale = fmaxf(t->scale, (float) scale);
        return;
    }
}

/* By how much a result's range is smaller than its values, as a power of two.  Sums of products are
 * not clipped far: their terms may cancel, and a sum in floats would then be off by several of the
 * small steps. */
static int draw_clip(const struct draft *d)
{
    enum { FAR = 8 };
    static const int8_t clip[] = { 1, 1, 1, 1, 1, 2, FAR, 12 };
    int drawn = clip[rng_below(d->b->rng, COUNT(clip))];

    return d->op->error.kind == ERROR_DOT && drawn >= FAR ? 2 : drawn;
}

/* Covers lo..hi and zero with a margin; sometimes several times as much, sometimes half or less,
 * so that the largest values saturate. */
void scale_result(const struct draft *d, const struct role *r, double lo, double hi,
                  struct tensor *t)
{
    static const double least_scale = 0x1p-24;
    const struct dtype_info *info = &dtype_info[t->dtype];
    const struct randgraph_weights *w = d->b->weights;
    double codes = codes_of(t->dtype), stretch = 1 + (double) rng_below(d->b->rng, 64) / 256;

    if (rng_percent(d->b->rng, w->loose_scale))
        stretch *= 2 + (double) rng_below(d->b->rng, 64) / 32;
    else if (rng_percent(d->b->rng, w->clipped_scale))
        stretch *= ldexp(1, -draw_clip(d));
    lo = lo < 0 ? lo * stretch : 0;
    hi = hi > 0 ? hi * stretch : 0;
    if (info->quant == QUANT_SYMM)
        lo = -(hi = fmax(hi, -lo));
    if (hi - lo < least_scale * codes) /* nearly zeros: any scale holds them */
        hi = stretch;
    double scale = fmin((hi - lo) / codes, 0x1p30), least = over_product(d);
    bool adversarial = draw_adversarial(d->b), at_end = adversarial && rng_below(d->b->rng, 2);
    if (adversarial && !at_end)
        scale = next_to_units(d, r, scale);
    if (at_end) /* the zero point: values of the other sign saturate */
        lo = hi > -lo ? 0 : -scale * codes;
    if (!adversarial)
        scale = scale_of_first(d, t->dtype, scale);
    if (r->q == Q_OVER && scale < least)
        scale = least;
    t->scale = (float) scale;
    if (r->q == Q_OVER && (double) t->scale <= least / 1.0001)
        t->scale *= 1.001f;
    if (info->quant == QUANT_AFFINE)
        t->zero = (int32_t) clamp(info->codec->min + floor(-lo / scale + 0.5), info->codec->min,
                                  info->codec->max);
    if (info->quant == QUANT_AFFINE && !may_have_zero(d, t))
        move_zero(d, lo, hi, t);
}
