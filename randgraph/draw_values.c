/* Values of new operands, by profile: each holds several classes of values, of which one is drawn
 * for an operand.  The record's role may prefer a class (`likes`) and may exclude values (`needs`);
 * only graphs with values that are not finite ignore what it excludes. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { LARGEST_INTEGER = 100 };
static const double least_divisor = 0.25;

/* Classes of values.  Those of quantised types are classes of their codes. */
enum value_class {
    UNIFORM, /* in a range around zero */
    WHOLE,   /* small whole numbers: exact sums, many ties */
    WIDE,    /* magnitudes that differ by powers of two */
    SPECIAL, /* where types and functions change: zeros, limits, neighbours of 1, subnormals */
    TIES,    /* multiples of one half: rounding */
    LARGE,   /* sums that leave accumulators, arguments that leave tables */
    SHIFTED, /* a mean far above the deviation: differences cancel */
    SPARSE,  /* mostly zeros of both signs */
    VAST,    /* floats beyond the range of integers, halves up to their largest; only in calls that
                may read any */
    FAR,     /* the same, all of one sign */
    N_CLASSES
};

/* Shares of the classes in each profile. */
static const uint8_t shares[VALUES_END][N_CLASSES] = {
    [VALUES_UNIFORM] = { [UNIFORM] = 90, [WIDE] = 10 },
    [VALUES_EXACT] = { [WHOLE] = 80, [TIES] = 20 },
    [VALUES_EDGE] = { [SPECIAL] = 70, [TIES] = 10, [SPARSE] = 20 },
    [VALUES_ADVERSARIAL] = { [WIDE] = 20, [LARGE] = 45, [SHIFTED] = 25, [SPARSE] = 10 },
};

enum randgraph_values profile_any(struct builder *b)
{
    const struct randgraph_weights *w = b->weights;
    const uint32_t weight[VALUES_END] = { 0, w->profile_uniform, w->profile_edge, w->profile_exact,
                                          w->profile_adversarial };

    return (enum randgraph_values) draw_weighted(b->rng, weight, VALUES_END);
}

static enum value_class draw_class(struct builder *b, const struct role *r)
{
    enum randgraph_values profile = b->values == VALUES_MIX ? b->call_values : b->values;
    uint32_t k = 0;

    if (profile == VALUES_MIX)
        profile = profile_any(b);
    if (profile == VALUES_ADVERSARIAL && r->likes && rng_percent(b->rng, 60))
        return r->likes & LIKES_LARGE ? LARGE : r->likes & LIKES_SHIFTED ? SHIFTED : WHOLE;
    k = rng_below(b->rng, 100);
    for (int i = 0; i < N_CLASSES; i++) {
        if (k < shares[profile][i])
            return (enum value_class) i;
        k -= shares[profile][i];
    }
    return UNIFORM;
}

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

/* Multiples of `step` in -most..most times step. */
static void fill_multiples(struct stream *s, size_t n, uint32_t most, double step, double *x)
{
    for (size_t i = 0; i < n;) {
        uint64_t bits = stream_next(s);
        for (int k = 0; k < 2 && i < n; k++, bits >>= 32) {
            uint64_t chosen = (bits & UINT32_MAX) * (2 * (uint64_t) most + 1) >> 32;
            x[i++] = ((double) chosen - most) * step;
        }
    }
}

static const double beyond[] = { INFINITY, -INFINITY, NAN, INFINITY };

static double special_float(uint64_t bits)
{
    static const double values[] = { 0.0,         -0.0,        1,          -1,       0x1p-1,
                                     -0x1p-1,     1.5,         -1.5,       2.5,      -2.5,
                                     3,           -3,          6,          -6,       1 + 0x1p-10,
                                     1 - 0x1p-11, 1 + 0x1p-23, 6 + 0x1p-8, 0x1p-149, -0x1p-130,
                                     0x1p-24,     -0x1p-15,    FLT_MIN,    0x1p-14,  1e-6,
                                     127.5,       -128.5,      255,        -1000 };

    return values[bits % COUNT(values)];
}

/* Replaces some elements by special values; in some graphs one in 16 by one that is not finite. */
static void put_special(struct builder *b, bool nonfinite, struct stream *s, size_t n, double *x)
{
    uint32_t mask = (uint32_t[]){ 1, 3, 7 }[rng_below(b->rng, 3)];

    for (size_t i = 0; i < n; i++) {
        uint64_t bits = stream_next(s);
        if ((bits & mask) == 0)
            x[i] = special_float(bits >> 8);
        if (nonfinite && (bits >> 32) % 16 == 0)
            x[i] = beyond[(bits >> 40) % COUNT(beyond)];
    }
}

static void scale_by_powers(struct stream *s, size_t n, double *x)
{
    for (size_t i = 0; i < n; i++)
        x[i] /= (double) (1u << (stream_next(s) >> 40) % 11);
}

/* Within a tenth of fp16_limit, so that fp16 results are in range too. */
static void fill_large(struct builder *b, struct stream *s, size_t n, double *x)
{
    static const double reaches[] = { 16, 32, 100, 500, 900 };

    fill_uniform(s, n, reaches[rng_below(b->rng, COUNT(reaches))], x);
    if (rng_percent(b->rng, 30)) /* of one sign */
        for (size_t i = 0; i < n; i++)
            x[i] = fabs(x[i]);
}

static void fill_shifted(struct builder *b, struct stream *s, size_t n, double *x)
{
    static const double means[] = { 8, -20, 100, -300, 500 };
    static const double deviations[] = { 0x1p-6, 0x1p-3, 1 };
    double mean = means[rng_below(b->rng, COUNT(means))];

    fill_uniform(s, n, deviations[rng_below(b->rng, COUNT(deviations))], x);
    for (size_t i = 0; i < n; i++)
        x[i] += mean;
}

static void fill_sparse(struct stream *s, size_t n, double reach, double *x)
{
    fill_uniform(s, n, reach, x);
    for (size_t i = 0; i < n; i++)
        if (stream_next(s) >> 62)
            x[i] = x[i] < 0 ? -0.0 : 0.0;
}

/* Around the ends of 32-bit integers, or up to 2^123; of fp16 up to 65504. */
static double vast_float(bool half, uint64_t bits)
{
    double share = (double) (int32_t) (uint32_t) (bits >> 32) * 0x1p-31;

    if (half)
        return ldexp(share * 65504, -(int) (bits & 7));
    return ldexp(share, (int) (bits & 7 ? 28 + (bits >> 3) % 8 : (bits >> 3 & 0xffff) % 124));
}

/* Some are not large. */
static void fill_vast(struct stream *s, bool half, size_t n, double reach, double *x)
{
    fill_uniform(s, n, reach, x);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = stream_next(s);
        if (bits & 3)
            x[i] = vast_float(half, bits >> 2);
    }
}

static void fill_far(struct builder *b, struct stream *s, bool half, size_t n, double *x)
{
    static const double means[] = { -40000, 70000, -0x1p24, 0x1p31, -0x1p33 };
    static const double of_half[] = { -1500, 4000, -20000, -33000, 60000 };
    uint32_t k = rng_below(b->rng, COUNT(means));
    double mean = half ? of_half[k] : means[k];

    fill_uniform(s, n, 0x1p-5, x);
    for (size_t i = 0; i < n; i++)
        x[i] = mean * (1 + x[i]);
}

/* A quarter special, an eighth ties, an eighth larger than the others, or a quarter vast; where
 * that is allowed, an eighth not finite. */
static void mix_floats(struct builder *b, bool vast, bool half, bool nonfinite, size_t n, double *x)
{
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = stream_next(&s);
        switch (bits & 7) {
        case 0:
        case 1: x[i] = special_float(bits >> 8); break;
        case 2: x[i] = trunc(x[i] * 4) + 0.5; break;
        case 3:
            x[i] = vast ? vast_float(half, bits >> 3) : x[i] * (fabs(x[i]) < 32 ? 16 : 1);
            break;
        case 4: x[i] = vast ? vast_float(half, bits >> 3) : x[i]; break;
        case 5: x[i] = nonfinite ? beyond[(bits >> 3) % COUNT(beyond)] : x[i]; break;
        default: break;
        }
    }
}

static void fill_class(struct builder *b, enum value_class class, bool half, bool nonfinite,
                       double reach, size_t n, double *x)
{
    struct stream s;

    rng_stream(b->rng, &s);
    switch (class) {
    case WHOLE: fill_multiples(&s, n, (uint32_t) reach, 1, x); break;
    case TIES: fill_multiples(&s, n, 2 * (uint32_t) reach, 0.5, x); break;
    case LARGE: fill_large(b, &s, n, x); break;
    case SHIFTED: fill_shifted(b, &s, n, x); break;
    case SPARSE: fill_sparse(&s, n, reach, x); break;
    case VAST: fill_vast(&s, half, n, reach, x); break;
    case FAR: fill_far(b, &s, half, n, x); break;
    case UNIFORM:
    case WIDE:
    case SPECIAL:
    default: fill_uniform(&s, n, reach, x); break;
    }
    if (class == WIDE)
        scale_by_powers(&s, n, x);
    if (class == SPECIAL)
        put_special(b, nonfinite, &s, n, x);
}

/* least: magnitude of numbers that need not be 0 */
static void apply_needs(unsigned needs, double least, size_t n, double *x)
{
    static const double small = 8;

    for (size_t i = 0; (needs & NEEDS_SMALL) && i < n; i++)
        x[i] = x[i] > small ? small : x[i] < -small ? -small : x[i];
    for (size_t i = 0; (needs & NEEDS_NONNEG) && i < n; i++)
        x[i] = fabs(x[i]);
    for (size_t i = 0; (needs & NEEDS_NONZERO) && i < n; i++)
        if (fabs(x[i]) < least)
            x[i] += x[i] < 0 ? -1 : 1;
    if ((needs & NEEDS_SPREAD) && n > 0)
        x[n / 2] = 1;
}

/* of_call: for an operation, not for a model's input. */
static int fill_floats(struct builder *b, const struct role *r, bool nonfinite, bool of_call,
                       struct tensor *t)
{
    enum { FAR_MEAN = 47 };
    static const double reaches[] = { 1, 2, 2, 4, 4, 8 };
    static const double least_argument = 0x1p-30;
    const unsigned of_log = NEEDS_NONNEG | NEEDS_NONZERO;
    size_t n = tensor_count(t);
    struct arena_mark mark = arena_mark(b->arena);
    double *x = arena_alloc_raw(b->arena, n + 1, sizeof *x);
    double reach = r->needs & NEEDS_SMALL ? 2 : reaches[rng_below(b->rng, COUNT(reaches))];
    enum value_class class = draw_class(b, r);
    bool mixes = of_call && b->mixes_values, vast = of_call && b->wide_floats && !r->needs;
    bool half = t->dtype == DT_F16;

    if (vast && mixes && rng_percent_aside(b->rng, FAR_MEAN, 30))
        class = FAR;
    if (vast && !mixes && rng_percent(b->rng, 75))
        class = VAST;
    if (!x)
        return -1;
    fill_class(b, class, half, nonfinite, reach, n, x);
    if (mixes && class != FAR)
        mix_floats(b, vast, half, nonfinite, n, x);
    unsigned needs = r->needs;
    if ((r->likes & LIKES_WHOLE) && (class == WHOLE || class == SPECIAL)) {
        for (size_t i = 0; i < n; i++)
            x[i] = trunc(x[i]);
        needs &= ~(unsigned) NEEDS_NONNEG;
    }
    if (nonfinite && rng_percent(b->rng, 50))
        needs = 0;
    apply_needs(needs, mixes && needs == of_log ? least_argument : least_divisor, n, x);
    tensor_narrow(x, t);
    arena_rewind(b->arena, mark);
    return 0;
}

/* Biases get real values of about +-2, like the sums of products that they are added to, or many
 * times as much, then rarely beyond the integers that floats hold; without a scale (per-channel
 * filters) stored values up to 4000. */
static uint32_t integer_reach(struct builder *b, const struct role *r, const struct tensor *t,
                              enum value_class class)
{
    static const double most = 0x1p20;
    bool large = class == LARGE;

    if (r->likes & LIKES_LARGE)
        return 1u << (8 + rng_below(b->rng, 13));
    if (r->q == Q_PRODUCT && large && rng_percent(b->rng, 30))
        return 1u << (22 + rng_below(b->rng, 7));
    if (r->q == Q_PRODUCT)
        return t->scale > 0 ? (uint32_t) fmin((large ? 32 : 2) / (double) t->scale + 2, most)
                            : 4000;
    if (r->needs & NEEDS_SMALL)
        return 4;
    return class == UNIFORM && rng_percent(b->rng, 80) ? LARGEST_INTEGER : 30000;
}

/* What integers of the shifted class are close to; beyond 2^24 floats do not tell them apart. */
static int32_t wide_base(const struct builder *b)
{
    static const int32_t bases[] = { 1 << 16, 1 << 24,       -(1 << 25),
                                     1 << 30, INT32_MAX - 3, INT32_MIN + 3 };
    enum { BASE = 15 };
    int k = 0;

    while (k + 1 < COUNT(bases) && rng_percent_aside(b->rng, BASE + (uint64_t) k, 75))
        k++;
    return bases[k];
}

int32_t special_integer(uint64_t bits)
{
    static const int32_t values[] = { 0,     1,      -1,      2,         INT32_MAX, INT32_MIN,
                                      32767, -32768, 46341,   -65536,    1 << 24,   (1 << 24) + 1,
                                      255,   256,    1 << 30, -(1 << 30) };

    return values[bits % COUNT(values)];
}

/* An integer that may be any.  x: what it is otherwise. */
static int64_t wide_integer(enum value_class class, uint64_t bits, int32_t base, int64_t x)
{
    if (class == LARGE)
        return (int32_t) (uint32_t) bits;
    if (class == SHIFTED)
        return base + (int64_t) ((bits >> 8) % 7) - 3;
    return class == SPECIAL && (bits & 3) == 0 ? special_integer(bits >> 8) : x;
}

static void fill_integers(struct builder *b, const struct op *op, const struct role *r,
                          struct tensor *t)
{
    /* within a tensor whose values are mixed, and in others */
    static const enum value_class mixed[] = { SPECIAL, SPECIAL, SPECIAL, LARGE,
                                              SHIFTED, UNIFORM, UNIFORM, UNIFORM };
    static const enum value_class whole[] = { SPECIAL, LARGE, SHIFTED, SHIFTED };
    size_t n = tensor_count(t);
    enum value_class class = draw_class(b, r);
    int64_t reach = integer_reach(b, r, t, class), lowest = r->needs & NEEDS_NONNEG ? 0 : -reach;
    uint64_t choices = (uint64_t) (reach - lowest + 1);
    bool any = r->q != Q_PRODUCT && !(r->needs & NEEDS_SMALL);
    bool wide = any && op && b->wide_integers, mixes = wide && b->mixes_values;
    if (wide && b->values == VALUES_MIX && rng_percent(b->rng, 65))
        class = whole[rng_below(b->rng, COUNT(whole))];
    bool special = mixes || (any && class == SPECIAL && (wide || b->nonfinite));
    int32_t base = wide_base(b);
    int32_t *q = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = stream_next(&s);
        int64_t x = lowest + (int64_t) ((bits >> 32) * choices >> 32);
        if (class == WHOLE || class == SPARSE)
            x %= 3;
        if (mixes)
            x = wide_integer(mixed[bits >> 4 & 7], bits >> 7, base, x);
        else if (wide || special)
            x = wide_integer(class, bits, base, x);
        if ((r->needs & NEEDS_NONNEG) && x < 0)
            x = 1;
        q[i] = (int32_t) (x == 0 && (r->needs & NEEDS_NONZERO) ? 1 : x);
    }
    if (special && !r->needs && n > 0) /* has no negative: NEG, ABS, differences */
        q[stream_next(&s) % n] = INT32_MIN;
}

/* Every value other than 0 is true. */
static void fill_bools(struct builder *b, const struct role *r, struct tensor *t)
{
    static const uint8_t truths[] = { 0, 1, 0, 2, 0, 127, 128, 255 };
    size_t n = tensor_count(t);
    bool odd = b->values == VALUES_MIX && rng_percent(b->rng, b->weights->odd_truths);
    bool special = draw_class(b, r) == SPECIAL || odd;
    uint8_t *q = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n;) {
        uint64_t bits = stream_next(&s);
        for (int k = 0; k < 21 && i < n; k++, bits >>= 3)
            q[i++] = special ? truths[bits & 7] : bits & 1;
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

/* One random code changed into one of the class.  noise: random bits. */
static int32_t code_of_class(enum value_class class, int32_t code, uint32_t noise,
                             const struct tensor *t, const struct codec *k)
{
    int32_t lowest = (int32_t) k->min, highest = (int32_t) k->max, few = (int32_t) (noise % 9) - 4;

    switch (class) {
    case WHOLE:
    case TIES: code = t->zero + few; break;
    case SPARSE: code = noise & 3 ? t->zero : code; break;
    case SPECIAL: {
        const int32_t special[] = { lowest,  lowest + 1, highest,     highest - 1,
                                    t->zero, t->zero,    t->zero + 1, t->zero - 1 };
        code = noise & 1 ? code : special[(noise >> 1) % COUNT(special)];
        break;
    }
    case LARGE: code = noise % 8 == 0 ? code : noise % 8 == 1 ? lowest : highest; break;
    case SHIFTED: code = highest - (int32_t) (noise % 4); break;
    case UNIFORM:
    case WIDE:
    case VAST:
    case FAR:
    case N_CLASSES: break;
    }
    return code < lowest ? lowest : code > highest ? highest : code;
}

/* Both factors of a sum of products must be large for the sum to leave its accumulator. */
static bool makes_large_sum(struct builder *b, const struct op *op)
{
    return op && op->error.kind == ERROR_DOT && b->values == VALUES_MIX &&
           b->call_values == VALUES_ADVERSARIAL && rng_percent(b->rng, 75);
}

/* Codes of 8 and 16 bits. */
static int32_t load_code(const uint8_t *from, const struct codec *k)
{
    int16_t wide;

    if (k->size == 1)
        return k->min < 0 ? (int8_t) *from : *from;
    memcpy(&wide, from, sizeof wide);
    return k->min < 0 ? wide : (uint16_t) wide;
}

static void store_code(int32_t code, uint8_t *to, const struct codec *k)
{
    const uint16_t wide = (uint16_t) code;

    if (k->size == 1)
        *to = (uint8_t) code;
    else
        memcpy(to, &wide, sizeof wide);
}

/* What changes random codes into those of an operand. */
struct coding {
    const struct tensor *t;
    const struct codec *k;
    unsigned needs;
    bool mirrored, symmetric; /* most extremes at the other end; no -128 */
};

/* Inlined for each class. */
static inline __attribute__((always_inline)) void
change_codes(const struct coding *f, enum value_class class, struct stream *s, size_t n)
{
    const struct codec *k = f->k;
    const int32_t ends = (int32_t) (k->min + k->max);
    uint8_t *at = f->t->data;

    for (size_t i = 0; i < n; i++, at += k->size) {
        int32_t code = load_code(at, k);
        if (class != UNIFORM)
            code = code_of_class(class, code, (uint32_t) (stream_next(s) >> 33), f->t, k);
        if ((class == LARGE || class == SHIFTED) && f->mirrored)
            code = ends - code;
        if (f->symmetric && code == -128)
            code = -127;
        store_code(f->needs ? apply_code_needs(f->needs, code, f->t->zero, k) : code, at, k);
    }
}

static void fill_codes(struct builder *b, const struct op *op, const struct role *r,
                       struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;
    size_t n = tensor_count(t), bytes = n * k->size;
    enum value_class class = makes_large_sum(b, op) ? LARGE : draw_class(b, r);
    bool mirrored = rng_below(b->rng, 2); /* most extremes are at the other end */
    uint8_t *to = t->data;
    struct stream s;

    rng_stream(b->rng, &s);
    size_t filled = 0;
    for (; bytes - filled >= 8; filled += 8) {
        uint64_t bits = stream_next(&s);
        for (size_t j = 0; j < 8; j++) /* compiled to one store */
            to[filled + j] = (uint8_t) (bits >> 8 * j);
    }
    for (uint64_t bits = filled < bytes ? stream_next(&s) : 0; filled < bytes; bits >>= 8)
        to[filled++] = (uint8_t) bits;
    /* weights do not use -128 */
    bool symmetric = t->dtype == DT_PC8 || (t->dtype == DT_Q8S && !(op && takes_nonfinite(op)));
    bool plain = class == UNIFORM || class == WIDE;
    if (plain && !symmetric && (!r->needs || k->size > 1))
        return;
    const struct coding f = { t, k, r->needs, mirrored, symmetric };
    switch (class) {
    case UNIFORM:
    case WIDE: change_codes(&f, UNIFORM, &s, n); break;
    case WHOLE:
    case TIES: change_codes(&f, WHOLE, &s, n); break;
    case SPARSE: change_codes(&f, SPARSE, &s, n); break;
    case SPECIAL: change_codes(&f, SPECIAL, &s, n); break;
    case LARGE: change_codes(&f, LARGE, &s, n); break;
    case SHIFTED: change_codes(&f, SHIFTED, &s, n); break;
    case VAST:
    case FAR:
    case N_CLASSES: break;
    }
}

bool takes_nonfinite(const struct op *op)
{
    if (op->move && !op->moves)
        return true;
    for (int i = 0; i < op->n_in; i++) {
        const struct role *r = &op->in[i];
        bool by_element = r->draw == DRAW_VALUES || r->draw == DRAW_BROADCAST;
        if (r->dims ? !by_element || (strcmp(r->dims, "?") != 0 && strcmp(r->dims, "*") != 0)
                    : r->draw != DRAW_ACTIVATION)
            return false;
    }
    return op->n_out == 1 && op->out[0].dims && !op->out[0].many;
}

/* The next number, by its bits; the same where that is none, or not finite. */
static uint32_t next_number(uint32_t code, bool up, const struct codec *k)
{
    const uint32_t sign = 1u << (8 * k->size - 1), m = code & (sign - 1);
    const uint32_t most = k->integer ? sign - 2 : k->size == 4 ? 0x7f7ffffe : 0x7bfe;

    return m == 0 || m > most ? code : up ? code + 1 : code - 1;
}

void fill_alike(struct builder *b, const struct tensor *like, struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;
    const size_t n = tensor_count(t), size = k->size;
    const uint32_t sign = 1u << (8 * size - 1);
    struct stream s;

    rng_stream(b->rng, &s);
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = stream_next(&s);
        uint32_t code = 0;
        if (bits & 2)
            continue;
        memcpy(&code, (const uint8_t *) like->data + i * size, size);
        if (!k->integer && (code & ~sign) == 0)
            code ^= sign;
        else if ((bits & 12) == 0)
            code = next_number(code, bits & 16, k);
        memcpy((uint8_t *) t->data + i * size, &code, size);
    }
}

int fill_values(struct builder *b, const struct op *op, const struct role *r, struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];

    if (!info->codec->integer)
        return fill_floats(b, r, op && b->nonfinite_call && takes_nonfinite(op), op != NULL, t);
    if (t->dtype == DT_I32)
        fill_integers(b, op, r, t);
    else if (info->quant == QUANT_NONE)
        fill_bools(b, r, t);
    else
        fill_codes(b, op, r, t);
    return 0;
}
