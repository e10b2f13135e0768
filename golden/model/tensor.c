#include "golden/model/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "golden/math/rounding.h"
#include "golden/math/vector_loop.h"

/* One codec per storage format. */
#define CODEC_INT(id, ctype, wide, lo, hi)                                                         \
    VECTOR_LOOP static void widen_##id(const void *from, size_t n, double zero, double scale,      \
                                       double *to)                                                 \
    {                                                                                              \
        for (size_t i = 0; i < n; i++)                                                             \
            to[i] = ((double) ((const ctype *) from)[i] - zero) * scale;                           \
    }                                                                                              \
    VECTOR_LOOP static void narrow_##id(const double *from, size_t n, double zero, double scale,   \
                                        void *to)                                                  \
    {                                                                                              \
        const struct rounding_range r = { lo - zero, hi - zero };                                  \
        const wide z = (wide) zero;                                                                \
        for (size_t i = 0; i < n; i++)                                                             \
            ((ctype *) to)[i] = (ctype) ((wide) round_half_away(from[i] / scale, r) + z);          \
    }                                                                                              \
    static const struct codec codec_##id = { sizeof(ctype), lo, hi, true, widen_##id, narrow_##id };

CODEC_INT(u8, uint8_t, int32_t, 0, UINT8_MAX)
CODEC_INT(s8, int8_t, int32_t, INT8_MIN, INT8_MAX)
CODEC_INT(u16, uint16_t, int32_t, 0, UINT16_MAX)
CODEC_INT(s16, int16_t, int32_t, INT16_MIN, INT16_MAX)
CODEC_INT(s32, int32_t, int64_t, INT32_MIN, INT32_MAX)
CODEC_INT(u32, uint32_t, int64_t, 0, UINT32_MAX)
/* double does not represent all 64-bit integers: operations on them use eval_exact(). */
CODEC_INT(s64, int64_t, int64_t, -0x1p63, 0x1.fffffffffffffp62)
#undef CODEC_INT

VECTOR_LOOP static void widen_bool(const void *from, size_t n, double zero, double scale,
                                   double *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        to[i] = ((const uint8_t *) from)[i] != 0;
}

VECTOR_LOOP static void narrow_bool(const double *from, size_t n, double zero, double scale,
                                    void *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        ((uint8_t *) to)[i] = from[i] != 0;
}

static const struct codec codec_bool = { 1, 0, 1, true, widen_bool, narrow_bool };

VECTOR_LOOP static void widen_f32(const void *from, size_t n, double zero, double scale, double *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        to[i] = (double) ((const float *) from)[i];
}

VECTOR_LOOP static void narrow_f32(const double *from, size_t n, double zero, double scale,
                                   void *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        ((float *) to)[i] = (float) from[i];
}

static const struct codec codec_f32 = {
    4, -3.4028234663852886e38, 3.4028234663852886e38, false, widen_f32, narrow_f32
};

static inline uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline double double_of(uint64_t bits)
{
    double x;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* The conversions of fp16 have no branches, so that loops over them can be vectorised: each case is
 * computed, then one selected. */
static inline double widened_half(uint64_t h)
{
    uint64_t infinite = (h & 31 << 10) == 31 << 10 ? (uint64_t) 2047 << 52 : 0; /* or NaN */
    /* multiplied by the ratio of the smallest normal numbers: exact, subnormal numbers, too */
    double magnitude = double_of((h & 0x7fff) << 42) * 0x1p1008;

    return double_of(bits_of(magnitude) | infinite | (h & 0x8000) << 48);
}

static inline uint16_t narrowed_half(double x)
{
    uint64_t sign = bits_of(x) >> 48 & 0x8000, bits = bits_of(x) & INT64_MAX;
    double a = fabs(x);
    /* rounding up to the smallest normal number gives its bits */
    uint64_t subnormal = bits_of(a * 0x1p24 + 0x1p52) & UINT16_MAX;
    /* to nearest even; a carry increments the exponent */
    uint64_t rounded = bits + ((uint64_t) 1 << 41) - 1 + (bits >> 42 & 1);
    uint64_t half = (rounded >> 42) - ((uint64_t) 1008 << 10);

    half = a < 0x1p-14 ? subnormal : half;
    half = a >= 65520 ? 0x7c00 : half;
    half = isnan(x) ? 0x7e00 : half;
    return (uint16_t) (sign | half);
}

double f16_to_double(uint16_t h)
{
    return widened_half(h);
}

uint16_t f16_from_double(double x)
{
    return narrowed_half(x);
}

VECTOR_LOOP static void widen_f16(const void *from, size_t n, double zero, double scale, double *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        to[i] = widened_half(((const uint16_t *) from)[i]);
}

VECTOR_LOOP static void narrow_f16(const double *from, size_t n, double zero, double scale,
                                   void *to)
{
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        ((uint16_t *) to)[i] = narrowed_half(from[i]);
}

static const struct codec codec_f16 = { 2, -65504, 65504, false, widen_f16, narrow_f16 };

static void widen_none(const void *from, size_t n, double zero, double scale, double *to)
{
    (void) from;
    (void) zero;
    (void) scale;
    for (size_t i = 0; i < n; i++)
        to[i] = 0;
}

static void narrow_none(const double *from, size_t n, double zero, double scale, void *to)
{
    (void) from;
    (void) n;
    (void) zero;
    (void) scale;
    (void) to;
}

static const struct codec codec_none = { 0, 0, 0, true, widen_none, narrow_none };

const struct dtype_info dtype_info[DT_END] = {
#define DTYPE(code, id, name, brief, codec, quant, since)                                          \
    [DT_##id] = { name, brief, &codec_##codec, QUANT_##quant, since, (name)[0] == 'T' },
#include "golden/model/dtype.def"
#undef DTYPE
    [DT_FOREIGN] = { "extension type", "EXT", &codec_none, QUANT_NONE, 3, true },
#define EXTENSION(id, name)
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since)                           \
    [DT_##id] = { name, brief, &codec_##codec, QUANT_NONE, since, (name)[0] == 'T' },
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
};

const struct dtype_info *dtype_find(int64_t code)
{
    return code >= 0 && code < DT_END ? &dtype_info[code] : NULL;
}

int dtype_by_name(const char *name)
{
    for (int i = 0; i < DT_COUNT; i++)
        if (!strcmp(dtype_info[i].name, name))
            return i;
    return -1;
}

bool shape_equal(const struct shape *a, const struct shape *b)
{
    return a->rank == b->rank && !memcmp(a->dim, b->dim, sizeof a->dim[0] * a->rank);
}

size_t shape_count(const struct shape *s)
{
    size_t n = 1;

    for (uint32_t i = 0; i < s->rank; i++)
        n *= s->dim[i];
    return n;
}

bool shape_known(const struct shape *s)
{
    for (uint32_t i = 0; i < s->rank; i++)
        if (s->dim[i] == 0)
            return false;
    return s->rank > 0;
}

bool shape_matches(const struct shape *s, const struct shape *declared)
{
    bool ok = !declared->rank || s->rank == declared->rank;

    for (uint32_t d = 0; ok && d < declared->rank; d++)
        ok = !declared->dim[d] || s->dim[d] == declared->dim[d];
    return ok;
}

int shape_check_size(const struct shape *s, size_t size)
{
    uint64_t n = size;
    bool zero = false;

    for (uint32_t i = 0; i < s->rank; i++) {
        zero |= s->dim[i] == 0;
        if (s->dim[i] && __builtin_mul_overflow(n, s->dim[i], &n))
            return -1;
        if (n > UINT32_MAX)
            return -1;
    }
    return zero || n <= UINT32_MAX ? 0 : -1;
}

char *shape_text(const struct shape *s, char text[SHAPE_TEXT])
{
    size_t n = 1;

    strcpy(text, "[");
    for (uint32_t i = 0; i < s->rank && i < MAX_RANK; i++) {
        const char *comma = i ? "," : "";
        n += (size_t) snprintf(text + n, SHAPE_TEXT - n, "%s%u", comma, s->dim[i]);
    }
    snprintf(text + n, SHAPE_TEXT - n, "]");
    return text;
}

size_t tensor_count(const struct tensor *t)
{
    return shape_count(&t->shape);
}

size_t tensor_bytes(const struct tensor *t)
{
    return tensor_count(t) * dtype_info[t->dtype].codec->size;
}

static bool same_extension(const struct tensor *a, const struct tensor *b)
{
    return a->extension_length == b->extension_length &&
           (!a->extension_length || !memcmp(a->extension, b->extension, a->extension_length));
}

bool tensor_same_quant(const struct tensor *a, const struct tensor *b)
{
    if (!same_extension(a, b))
        return false;
    if (a->scale != b->scale || a->zero != b->zero)
        return false;
    if (!a->channel_scale || !b->channel_scale)
        return a->channel_scale == b->channel_scale;
    return a->channel_dim == b->channel_dim && a->n_channels == b->n_channels &&
           !memcmp(a->channel_scale, b->channel_scale, a->n_channels * sizeof(float));
}

double tensor_step(const struct tensor *t, uint32_t channel)
{
    if (t->channel_scale)
        return (double) t->channel_scale[channel];
    return t->scale != 0 ? (double) t->scale : 1;
}

double tensor_saturate(const struct tensor *t, double real)
{
    const struct codec *c = dtype_info[t->dtype].codec;

    if (!c->integer || isnan(real))
        return real;
    double step = tensor_step(t, 0), lo = (c->min - t->zero) * step, hi = (c->max - t->zero) * step;
    return real < lo ? lo : real > hi ? hi : real;
}

/* Adjacent elements of a channel. */
static size_t slice_of_channel(const struct tensor *t)
{
    size_t n = 1;

    for (uint32_t i = t->channel_dim + 1; i < t->shape.rank; i++)
        n *= t->shape.dim[i];
    return n;
}

/* Called for each run of elements with the same scale: the whole tensor or a slice of a channel. */
typedef void tensor_run(const struct tensor *t, size_t at, size_t n, double scale, void *other);

static void each_run(const struct tensor *t, tensor_run *run, void *other)
{
    size_t n = tensor_count(t);

    if (!t->channel_scale) {
        run(t, 0, n, tensor_step(t, 0), other);
        return;
    }
    size_t inner = slice_of_channel(t);
    uint32_t channels = t->shape.dim[t->channel_dim];
    for (size_t at = 0; at < n; at += inner)
        run(t, at, inner, (double) t->channel_scale[at / inner % channels], other);
}

static void widen_run(const struct tensor *t, size_t at, size_t n, double scale, void *other)
{
    const struct codec *c = dtype_info[t->dtype].codec;

    c->widen((const char *) t->data + at * c->size, n, t->zero, scale, (double *) other + at);
}

void tensor_widen(const struct tensor *t, double *ret_values)
{
    each_run(t, widen_run, ret_values);
}

void tensor_widen_part(const struct tensor *t, size_t at, size_t n, double *ret_values)
{
    const struct codec *c = dtype_info[t->dtype].codec;

    if (!t->channel_scale)
        c->widen((const char *) t->data + at * c->size, n, t->zero, tensor_step(t, 0), ret_values);
    for (size_t i = 0; t->channel_scale && i < n;) {
        size_t inner = slice_of_channel(t), slice = (at + i) / inner;
        size_t left = (slice + 1) * inner - (at + i), run = left < n - i ? left : n - i;
        double step = (double) t->channel_scale[slice % t->shape.dim[t->channel_dim]];
        c->widen((const char *) t->data + (at + i) * c->size, run, t->zero, step, ret_values + i);
        i += run;
    }
}

void tensor_widen_units(const struct tensor *t, double *ret_values)
{
    dtype_info[t->dtype].codec->widen(t->data, tensor_count(t), t->zero, 1, ret_values);
}

struct narrowing {
    const double *values;
    void *data;
};

static void narrow_run(const struct tensor *t, size_t at, size_t n, double scale, void *other)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    const struct narrowing *to = other;

    c->narrow(to->values + at, n, t->zero, scale, (char *) to->data + at * c->size);
}

void tensor_narrow(const double *values, struct tensor *t)
{
    struct narrowing to = { values, t->data };

    each_run(t, narrow_run, &to);
}

double tensor_at(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    uint32_t channel = 0;
    double x;

    if (t->channel_scale)
        channel = (uint32_t) (i / slice_of_channel(t) % t->shape.dim[t->channel_dim]);
    c->widen((const char *) t->data + i * c->size, 1, t->zero, tensor_step(t, channel), &x);
    return x;
}

int tensor_align(struct tensor *t, struct arena *a, struct why *w)
{
    size_t size = dtype_info[t->dtype].codec->size;

    if (size <= 1 || (uintptr_t) t->data % size == 0)
        return 0;
    void *copy = arena_copy(a, t->data, tensor_bytes(t));
    if (!copy)
        return why_no_memory(w);
    t->data = copy;
    return 0;
}
