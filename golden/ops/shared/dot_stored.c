/* Sums of products from stored to stored elements, a few lines of the image at a time, so that
 * widened inputs and sums stay in the cache; weights are packed once per plan.
 *
 * Float operands use the double kernel, as in dot_eval().  Units of 8-bit quantised operands are at
 * most 255 in absolute value: up to MATMUL_INT_DEPTH products sum exactly in 32-bit integers, and
 * the double kernel's sums are exact as well, so both are the same number.  Bias, scale, activation
 * and narrowing are applied in the order of dot_eval(): the same bits. */
#include <string.h>

#include "golden/exec/const_cache.h"
#include "golden/ops/shared/dot.h"

enum {
    CACHE_BYTES = 256 << 10,    /* working set of a chunk of lines */
    MAX_CACHE_BYTES = 1 << 20,  /* the same for operations with many weights */
    MAX_PATCH_BYTES = 64 << 20, /* of one line; wider images use the double kernel */
    MIN_PARALLEL = 1 << 17,     /* products */
    BLOCK = 2048,               /* elements that are narrowed at a time */
    READ_BEYOND = 16            /* elements after the last that the integer kernel may read */
};

/* Scratch memory of a thread. */
struct slot {
    void *image;         /* widened lines: double or int16_t */
    int16_t *patches;    /* integers: the inputs of each output pixel as a row, unless is_dense() */
    const int16_t **tap; /* depthwise integers: the input pixel of each tap */
    void *sums;          /* double or int32_t */
};

struct stored {
    struct call *call;
    const struct dot *dot;
    const struct tensor *x, *f;
    struct tensor *y;
    struct dot_window v;
    bool integer;
    size_t taps, depth, terms;  /* products of a sum: taps * depth */
    const void *weights;        /* packed */
    const double *init, *scale; /* per output channel; scale NULL: 1 */
    const int16_t *zeros;       /* a pixel of padding */
    size_t lines, chunks;       /* lines of a chunk, chunks of an image */
    struct slot *slot;
    struct matmul_pool *pool; /* for the kernel, if there is only one chunk */
};

/* ---- choice of the method */

static const struct codec *codec_of(const struct tensor *t)
{
    return dtype_info[t->dtype].codec;
}

static bool is_byte(const struct tensor *t)
{
    return codec_of(t)->integer && codec_of(t)->size == 1;
}

static size_t patch_row(const struct stored *s)
{
    return matmul_int_depth(s->terms);
}

/* Whether the pixels of the image are the rows of the product (a 1x1 convolution). */
static bool is_dense(const struct stored *s)
{
    const struct matmul_axis *y = &s->v.y, *x = &s->v.x;

    return s->taps == 1 && s->depth == s->v.in_c && s->depth % 2 == 0 && y->stride == 1 &&
           x->stride == 1 && y->pad == 0 && x->pad == 0 && x->in == x->out;
}

/* Sets the operands, the window and the method of summation. */
static void describe(struct stored *s)
{
    const struct call *c = s->call;
    const struct dot_window *v = &s->v;

    s->x = c->in[s->dot->input];
    s->f = c->in[s->dot->filter];
    s->y = c->out[0];
    s->dot->window(c, &s->v);
    s->taps = v->y.kernel * v->x.kernel;
    s->depth = v->groups ? v->in_c / v->groups : 1;
    s->terms = s->taps * s->depth;
    s->integer = is_byte(s->x) && is_byte(s->f) && is_byte(s->y) && s->terms <= MATMUL_INT_DEPTH &&
                 (v->groups || v->multiplier == 1) &&
                 v->x.out * patch_row(s) <= MAX_PATCH_BYTES / sizeof(int16_t);
}

/* ---- weights, and values per output channel */

static void *take(const struct stored *s, size_t n, size_t size, struct why *w)
{
    void *p = arena_alloc_raw(s->call->scratch, n + READ_BEYOND, size);

    if (!p)
        why_no_memory_for(w, "%s", s->call->op->name);
    return p;
}

/* Units of n elements of an 8-bit tensor from `at` on. */
static void units(const struct tensor *t, size_t at, size_t n, int16_t *to)
{
    const uint8_t *u = (const uint8_t *) t->data + at;
    const int8_t *i = (const int8_t *) t->data + at;
    const int16_t zero = (int16_t) t->zero;

    if (codec_of(t)->min < 0)
        for (size_t k = 0; k < n; k++)
            to[k] = (int16_t) (i[k] - zero);
    else
        for (size_t k = 0; k < n; k++)
            to[k] = (int16_t) (u[k] - zero);
}

static int make_panels(const void *context, void *to, struct why *w)
{
    const struct stored *s = context;
    double *f = take(s, tensor_count(s->f), sizeof *f, w);

    if (!f)
        return -1;
    tensor_widen_units(s->f, f);
    matmul_pack_into(s->v.out_c, s->terms, s->v.groups, f, to);
    return 0;
}

static int make_values(const void *context, void *to, struct why *w)
{
    const struct stored *s = context;

    (void) w;
    tensor_widen_units(s->f, to);
    return 0;
}

static int make_integers(const void *context, void *to, struct why *w)
{
    const struct stored *s = context;
    size_t n = s->v.out_c / (s->v.groups ? s->v.groups : 1), bytes = matmul_int_bytes(n, s->terms);
    int16_t *f = take(s, tensor_count(s->f), sizeof *f, w);

    if (!f)
        return -1;
    units(s->f, 0, tensor_count(s->f), f);
    if (!s->v.groups)
        matmul_int_pack_taps(s->v.out_c, s->taps, f, to);
    for (size_t g = 0; g < s->v.groups; g++)
        matmul_int_pack(n, s->terms, f + g * n * s->terms, (int16_t *) ((char *) to + g * bytes));
    return 0;
}

static struct const_recipe recipe_of(const struct stored *s)
{
    size_t n = s->v.out_c, k = s->terms, groups = s->v.groups;

    if (s->integer && groups)
        return (struct const_recipe){
            CONST_INT_PANELS, n, k, groups, groups * matmul_int_bytes(n / groups, k),
            make_integers,    s
        };
    if (s->integer)
        return (struct const_recipe){ CONST_INT_TAPS, n, k, 0, matmul_int_taps_bytes(n, k),
                                      make_integers,  s };
    if (groups)
        return (struct const_recipe){ CONST_PANELS, n, k, groups, matmul_packed_bytes(n, k, groups),
                                      make_panels,  s };
    return (
        struct const_recipe){ CONST_UNITS, 0, 0, 0, (n * k + 1) * sizeof(double), make_values, s };
}

static int make_channels(struct stored *s, struct why *w)
{
    const struct call *c = s->call;
    const struct tensor *bias = s->dot->bias == NO_ROLE ? NULL : c->in[s->dot->bias];
    size_t n = s->v.out_c;
    double *init = take(s, n, sizeof *init, w), *scale = take(s, n, sizeof *scale, w);

    if (!init || !scale)
        return -1;
    memset(init, 0, n * sizeof *init);
    if (bias && bias->data)
        tensor_widen_units(bias, init);
    for (size_t i = 0; i < n; i++)
        scale[i] = tensor_step(s->x, 0) * tensor_step(s->f, (uint32_t) i);
    s->init = init;
    s->scale = codec_of(s->x)->integer ? scale : NULL;
    return 0;
}

/* ---- chunks */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

static size_t image_size(const struct stored *s)
{
    return s->integer ? sizeof(int16_t) : sizeof(double);
}

static size_t sum_size(const struct stored *s)
{
    return s->integer ? sizeof(int32_t) : sizeof(double);
}

static size_t patches_size(const struct stored *s)
{
    bool none = !s->integer || !s->v.groups || is_dense(s);

    return none ? 0 : s->v.x.out * patch_row(s);
}

static void cut(struct stored *s, size_t weights, size_t slots)
{
    const struct dot_window *v = &s->v;
    size_t line = v->y.stride * v->x.in * v->in_c * image_size(s) +
                  v->x.out * v->out_c * sum_size(s) + patches_size(s) * sizeof(int16_t);
    size_t bytes = larger(CACHE_BYTES, smaller(weights / 2, MAX_CACHE_BYTES));
    size_t lines = larger(bytes / (line + 1), 1), chunks = (v->y.out - 1) / lines + 1;

    if (slots > 1) /* twice as many as threads, so that one slow thread does not delay the others */
        chunks = smaller(larger(chunks, 2 * slots / v->batch), v->y.out);
    s->lines = (v->y.out - 1) / chunks + 1;
    s->chunks = (v->y.out - 1) / s->lines + 1;
}

static int make_slots(struct stored *s, size_t slots, struct why *w)
{
    const struct dot_window *v = &s->v;
    size_t reach = (s->lines - 1) * v->y.stride + (v->y.kernel - 1) * v->y.dilation + 1;
    size_t image = smaller(v->y.in, reach) * v->x.in * v->in_c;
    struct slot *slot = take(s, slots, sizeof *slot, w);
    int16_t *zeros = take(s, v->in_c, sizeof *zeros, w);

    if (!slot || !zeros)
        return -1;
    memset(zeros, 0, (v->in_c + READ_BEYOND) * sizeof *zeros);
    for (size_t i = 0; i < slots; i++) {
        slot[i].image = take(s, image, image_size(s), w);
        slot[i].patches = take(s, s->lines * patches_size(s), sizeof(int16_t), w);
        slot[i].tap = take(s, matmul_int_depth(s->taps), sizeof(int16_t *), w);
        slot[i].sums = take(s, s->lines * v->x.out * v->out_c, sum_size(s), w);
        if (!slot[i].image || !slot[i].patches || !slot[i].tap || !slot[i].sums)
            return -1;
    }
    s->slot = slot;
    s->zeros = zeros;
    return 0;
}

/* The axis for lines o0..o1-1 of the output alone; *ret_i0: the first line of the image that they
 * read. */
static struct matmul_axis part_of(const struct matmul_axis *a, size_t o0, size_t o1, size_t *ret_i0)
{
    ptrdiff_t first = (ptrdiff_t) (o0 * a->stride) - a->pad;
    ptrdiff_t end = (ptrdiff_t) ((o1 - 1) * a->stride + (a->kernel - 1) * a->dilation) - a->pad + 1;
    size_t i0 = first > 0 ? smaller((size_t) first, a->in) : 0;
    size_t i1 = end > 0 ? smaller((size_t) end, a->in) : 0;
    struct matmul_axis part = *a;

    part.in = i1 > i0 ? i1 - i0 : 0;
    part.out = o1 - o0;
    part.pad = (ptrdiff_t) i0 - first;
    *ret_i0 = i0;
    return part;
}

/* ---- sums of a chunk */

static void sum_doubles(const struct stored *s, const struct slot *slot,
                        const struct matmul_axis *y)
{
    const struct dot_window *v = &s->v;

    if (v->groups) {
        struct matmul_conv conv = { .batch = 1,
                                    .in_c = v->in_c,
                                    .out_c = v->out_c,
                                    .groups = v->groups,
                                    .y = *y,
                                    .x = v->x,
                                    .image = slot->image,
                                    .packed = s->weights,
                                    .init = s->init,
                                    .out = slot->sums };
        matmul_conv(&conv, s->pool);
    } else {
        struct matmul_depthwise conv = { .batch = 1,
                                         .in_c = v->in_c,
                                         .multiplier = v->multiplier,
                                         .y = *y,
                                         .x = v->x,
                                         .image = slot->image,
                                         .weights = s->weights,
                                         .init = s->init,
                                         .out = slot->sums };
        matmul_depthwise(&conv, s->pool);
    }
}

/* The pixel that tap (ty, tx) of output (oy, ox) reads; NULL: padding. */
static const int16_t *pixel(const struct stored *s, const int16_t *image,
                            const struct matmul_axis *y, size_t oy, size_t ox, size_t ty, size_t tx)
{
    const struct matmul_axis *x = &s->v.x;
    ptrdiff_t iy = (ptrdiff_t) (oy * y->stride + ty * y->dilation) - y->pad;
    ptrdiff_t ix = (ptrdiff_t) (ox * x->stride + tx * x->dilation) - x->pad;

    if (iy < 0 || iy >= (ptrdiff_t) y->in || ix < 0 || ix >= (ptrdiff_t) x->in)
        return NULL;
    return image + ((size_t) iy * x->in + (size_t) ix) * s->v.in_c;
}

static void sum_taps(const struct stored *s, const struct slot *slot, const struct matmul_axis *y)
{
    int32_t *sums = slot->sums;

    slot->tap[s->taps] = s->zeros; /* taps are processed in pairs */
    for (size_t oy = 0; oy < y->out; oy++)
        for (size_t ox = 0; ox < s->v.x.out; ox++, sums += s->v.out_c) {
            size_t n = 0;
            for (size_t ty = 0; ty < y->kernel; ty++)
                for (size_t tx = 0; tx < s->v.x.kernel; tx++) {
                    const int16_t *at = pixel(s, slot->image, y, oy, ox, ty, tx);
                    slot->tap[n++] = at ? at : s->zeros;
                }
            matmul_int_taps(s->v.out_c, s->taps, slot->tap, s->weights, sums);
        }
}

/* Copies the inputs of one output of group g to a row, with zeros for padding. */
static void fill_patch(const struct stored *s, const struct slot *slot, const struct matmul_axis *y,
                       size_t oy, size_t ox, size_t g, int16_t *to)
{
    for (size_t ty = 0; ty < y->kernel; ty++)
        for (size_t tx = 0; tx < s->v.x.kernel; tx++, to += s->depth) {
            const int16_t *at = pixel(s, slot->image, y, oy, ox, ty, tx);
            memcpy(to, at ? at + g * s->depth : s->zeros, s->depth * sizeof *to);
        }
    if (s->terms % 2)
        *to = 0;
}

static void sum_integers(const struct stored *s, const struct slot *slot,
                         const struct matmul_axis *y)
{
    const size_t n = s->v.out_c / s->v.groups, width = s->v.x.out, row = patch_row(s);
    struct matmul_int product = { .m = y->out * width,
                                  .n = n,
                                  .k = s->terms,
                                  .a = slot->image,
                                  .lda = row,
                                  .packed = s->weights,
                                  .c = slot->sums,
                                  .ldc = s->v.out_c };

    for (size_t g = 0; g < s->v.groups; g++) {
        for (size_t i = 0; i < product.m && !is_dense(s); i++)
            fill_patch(s, slot, y, i / width, i % width, g, slot->patches + i * row);
        product.a = is_dense(s) ? slot->image : slot->patches;
        matmul_int(&product);
        product.packed += matmul_int_bytes(n, s->terms) / sizeof *product.packed;
        product.c += n;
    }
}

/* ---- finishing */

static void finish_integers(const struct stored *s, const struct slot *slot, size_t pixels,
                            size_t at)
{
    int role = s->dot->activation;
    int32_t code = role == NO_ROLE ? ACTIVATION_NONE : call_int(s->call, role);
    struct activation_range range = activation_range(code);
    const struct matmul_finish f = { .channels = s->v.out_c,
                                     .init = s->init,
                                     .scale = s->scale,
                                     .least = range.lo,
                                     .most = range.hi,
                                     .step = tensor_step(s->y, 0),
                                     .zero = s->y->zero,
                                     .lowest = codec_of(s->y)->min,
                                     .highest = codec_of(s->y)->max };

    matmul_int_finish(&f, pixels, slot->sums, (uint8_t *) s->y->data + at * s->v.out_c);
}

/* Scales, activates and narrows the sums, a block of rows at a time. */
static void finish_doubles(const struct stored *s, const struct slot *slot, size_t pixels,
                           size_t at)
{
    const struct codec *codec = codec_of(s->y);
    size_t channels = s->v.out_c, step = larger(BLOCK / channels, 1);

    for (size_t i = 0; i < pixels; i += step) {
        size_t n = smaller(step, pixels - i) * channels;
        double *sums = (double *) slot->sums + i * channels;
        for (size_t k = 0; s->scale && k < n; k += channels)
            for (size_t ch = 0; ch < channels; ch++)
                sums[k + ch] *= s->scale[ch];
        activation_apply(s->call, s->dot->activation, sums, n);
        codec->narrow(sums, n, s->y->zero, tensor_step(s->y, 0),
                      (char *) s->y->data + (at + i) * channels * codec->size);
    }
}

static void run_chunk(const void *context, size_t slot_index, size_t i)
{
    const struct stored *s = context;
    const struct slot *slot = &s->slot[slot_index];
    const struct dot_window *v = &s->v;
    size_t image = i / s->chunks, o0 = i % s->chunks * s->lines, i0;
    struct matmul_axis y = part_of(&v->y, o0, smaller(o0 + s->lines, v->y.out), &i0);
    size_t line = v->x.in * v->in_c, from = (image * v->y.in + i0) * line;

    if (s->integer)
        units(s->x, from, y.in * line, slot->image);
    else
        codec_of(s->x)->widen((const char *) s->x->data + from * codec_of(s->x)->size, y.in * line,
                              s->x->zero, 1, slot->image);
    if (!s->integer)
        sum_doubles(s, slot, &y);
    else if (v->groups)
        sum_integers(s, slot, &y);
    else
        sum_taps(s, slot, &y);
    if (s->integer)
        finish_integers(s, slot, y.out * v->x.out, (image * v->y.out + o0) * v->x.out);
    else
        finish_doubles(s, slot, y.out * v->x.out, (image * v->y.out + o0) * v->x.out);
}

int dot_eval_stored(struct call *c, const struct dot *d, struct why *w)
{
    struct stored s = { .call = c, .dot = d };

    if (!tensor_count(c->out[0]) || !tensor_count(c->in[d->input]) ||
        !tensor_count(c->in[d->filter]))
        return 0;
    describe(&s);
    struct const_recipe r = recipe_of(&s);
    s.weights = const_cache_get(c->const_cache[call_arg(c, d->filter)], &r, c->scratch, w);
    if (!s.weights || make_channels(&s, w) < 0)
        return -1;
    bool large = tensor_count(s.y) * s.terms >= MIN_PARALLEL;
    struct matmul_pool *pool = large ? c->pool : NULL;
    cut(&s, r.bytes, matmul_slots(pool));
    bool one = s.chunks * s.v.batch == 1;
    s.pool = one ? pool : NULL;
    TRY(make_slots(&s, one ? 1 : matmul_slots(pool), w));
    matmul_each(run_chunk, &s, s.chunks * s.v.batch, one ? NULL : pool);
    return 1;
}
