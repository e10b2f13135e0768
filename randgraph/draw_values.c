/* Values of new operands: uniform, whole or of widely differing magnitudes, both signs, as far as
 * the role's needs allow. */
#include <math.h>

#include "randgraph/randgraph_internal.h"

enum { LARGEST_INTEGER = 100 };
static const double least_divisor = 0.25;

static void fill_uniform(struct stream *s, size_t n, double reach, double *x)
{
    double unit = reach * 0x1p-31;
    size_t i = 0;

    for (; i + 1 < n; i += 2) {
        uint64_t bits = stream_next(s);
        x[i] = (double) (int32_t) (uint32_t) bits * unit;
        x[i + 1] = (double) (int32_t) (uint32_t) (bits >> 32) * unit;
    }
    if (i < n)
        x[i] = (double) (int32_t) (uint32_t) stream_next(s) * unit;
}

/* Whole numbers in -most..most. */
static void fill_whole(struct stream *s, size_t n, uint32_t most, double *x)
{
    for (size_t i = 0; i < n;) {
        uint64_t bits = stream_next(s);
        for (int k = 0; k < 2 && i < n; k++, bits >>= 32)
            x[i++] = (double) ((bits & UINT32_MAX) * (2 * (uint64_t) most + 1) >> 32) - most;
    }
}

/* Uniform in +-reach, small whole numbers, or magnitudes that differ by powers of two. */
static int fill_floats(struct builder *b, const struct role *r, struct tensor *t)
{
    static const double reaches[] = { 1, 2, 2, 4, 4, 8 };
    size_t n = tensor_count(t);
    struct arena_mark mark = arena_mark(b->arena);
    double *x = arena_alloc_raw(b->arena, n + 1, sizeof *x);
    double reach = r->needs & NEEDS_SMALL ? 2 : reaches[rng_below(b->rng, COUNT(reaches))];
    struct stream s;

    if (!x)
        return -1;
    rng_stream(b->rng, &s);
    if (rng_percent(b->rng, b->weights->whole_values)) {
        fill_whole(&s, n, (uint32_t) reach, x);
    } else {
        bool wide = rng_percent(b->rng, b->weights->wide_values);
        fill_uniform(&s, n, reach, x);
        for (size_t i = 0; wide && i < n; i++)
            x[i] /= (double) (1u << (stream_next(&s) >> 40) % 11);
    }
    if (r->needs & NEEDS_NONNEG)
        for (size_t i = 0; i < n; i++)
            x[i] = fabs(x[i]);
    if (r->needs & NEEDS_NONZERO)
        for (size_t i = 0; i < n; i++)
            if (fabs(x[i]) < least_divisor)
                x[i] += x[i] < 0 ? -1 : 1;
    if ((r->needs & NEEDS_SPREAD) && n > 0)
        x[n / 2] = 1;
    tensor_narrow(x, t);
    arena_rewind(b->arena, mark);
    return 0;
}

/* Biases get real values of about +-2, like the sums of products that they are added to; without a
 * scale (per-channel filters) stored values up to 4000. */
static uint32_t integer_reach(struct builder *b, const struct role *r, const struct tensor *t)
{
    if (r->q == Q_PRODUCT)
        return t->scale > 0 ? (uint32_t) fmin(2 / (double) t->scale + 2, 0x1p20) : 4000;
    if (r->needs & NEEDS_SMALL)
        return 4;
    return rng_percent(b->rng, 80) ? LARGEST_INTEGER : 30000;
}

static void fill_integers(struct builder *b, const struct role *r, struct tensor *t)
{
    size_t n = tensor_count(t);
    int64_t reach = integer_reach(b, r, t), lowest = r->needs & NEEDS_NONNEG ? 0 : -reach;
    uint64_t choices = (uint64_t) (reach - lowest + 1);
    int32_t *q = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n; i++) {
        int64_t x = lowest + (int64_t) ((stream_next(&s) >> 32) * choices >> 32);
        q[i] = (int32_t) (x == 0 && (r->needs & NEEDS_NONZERO) ? 1 : x);
    }
}

static void fill_bools(struct builder *b, struct tensor *t)
{
    size_t n = tensor_count(t);
    uint8_t *q = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n;) {
        uint64_t bits = stream_next(&s);
        for (int k = 0; k < 64 && i < n; k++, bits >>= 1)
            q[i++] = bits & 1;
    }
}

/* Mirrors codes of negative numbers at the zero point and moves codes of zero off it, as needed. */
static int32_t apply_code_needs(unsigned needs, int32_t code, int32_t zero, const struct codec *k)
{
    if ((needs & NEEDS_NONNEG) && code < zero)
        code = 2 * zero - code;
    if ((needs & NEEDS_NONZERO) && code == zero)
        code += (double) code < k->max ? 1 : -1;
    return (double) code > k->max ? (int32_t) k->max : code;
}

static void fill_codes(struct builder *b, const struct role *r, struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;
    size_t n = tensor_count(t), bytes = n * k->size;
    uint8_t *to = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < bytes;) {
        uint64_t bits = stream_next(&s);
        for (int j = 0; j < 8 && i < bytes; j++, bits >>= 8)
            to[i++] = (uint8_t) bits;
    }
    bool low = t->dtype == DT_PC8 || t->dtype == DT_Q8S; /* -128 is not used by symmetric types */
    if (k->size == 1 && k->min < 0 && (low || r->needs))
        for (size_t i = 0; i < n; i++) {
            int8_t *q = (int8_t *) &to[i];
            *q = (int8_t) apply_code_needs(r->needs, low && *q == -128 ? -127 : *q, t->zero, k);
        }
    else if (k->size == 1 && r->needs)
        for (size_t i = 0; i < n; i++)
            to[i] = (uint8_t) apply_code_needs(r->needs, to[i], t->zero, k);
}

int fill_values(struct builder *b, const struct role *r, struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];

    if (!info->codec->integer)
        return fill_floats(b, r, t);
    if (t->dtype == DT_I32)
        fill_integers(b, r, t);
    else if (info->quant == QUANT_NONE)
        fill_bools(b, t);
    else
        fill_codes(b, r, t);
    return 0;
}
