/* Sums of products from stored to stored elements, a few lines of the image at a time, so that
 * widened inputs and sums stay in the cache; weights are packed once per plan.
 *
 * Float operands use the double kernel, as in dot_eval().  Units of 8-bit quantised operands are at
 * most 255 in absolute value: up to MATMUL_INT_DEPTH products sum exactly in 32-bit integers, and
 * the double kernel's sums are exact as well, so both are the same number.  Bias, scale, activation
 * and narrowing are applied in the order of dot_eval(): the same bits.
 *
 * With bounds, the real results are kept too, and each chunk is summed a second time: the
 * magnitudes and errors of the input times the magnitudes of the weights, as in dot_bound().  The
 * errors of 8-bit inputs are whole steps, at most 255, so that their sums are exact in integers,
 * too. */
#include <math.h>
#include <string.h>

#include "golden/exec/const_cache.h"
#include "golden/math/vector_loop.h"
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
    size_t taps, depth, terms;   /* products of a sum: taps * depth */
    bool absolute;               /* pack the weights' magnitudes */
    const void *weights;         /* packed */
    const void *magnitudes;      /* the same, absolute; NULL: no sums of errors */
    double rounding;             /* the error of a sum is this times that of magnitudes */
    const double *ex;            /* errors of the input; NULL: exact */
    double *real, *error;        /* the results and their bounds; NULL: without bounds */
    const double *channel_error; /* per output channel; NULL: none */
    const double *init, *scale;  /* per output channel; scale NULL: 1 */
    const int16_t *zeros;        /* a pixel of padding */
    size_t lines, chunks;        /* lines of a chunk, chunks of an image */
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

/* The weights' units, or their magnitudes. */
static void widen_weights(const struct stored *s, double *to)
{
    size_t n = tensor_count(s->f);

    tensor_widen_units(s->f, to);
    for (size_t i = 0; s->absolute && i < n; i++)
        to[i] = fabs(to[i]);
}

static int make_panels(const void *context, void *to, struct why *w)
{
    const struct stored *s = context;
    double *f = take(s, tensor_count(s->f), sizeof *f, w);

    if (!f)
        return -1;
    widen_weights(s, f);
    matmul_pack_into(s->v.out_c, s->terms, s->v.groups, f, to);
    return 0;
}

static int make_values(const void *context, void *to, struct why *w)
{
    const struct stored *s = context;

    (void) w;
    widen_weights(s, to);
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
    for (size_t i = 0; s->absolute && i < tensor_count(s->f); i++)
        f[i] = (int16_t) (f[i] < 0 ? -f[i] : f[i]);
    if (!s->v.groups)
        matmul_int_pack_taps(s->v.out_c, s->taps, f, to);
    for (size_t g = 0; g < s->v.groups; g++)
        matmul_int_pack(n, s->terms, f + g * n * s->terms, (int16_t *) ((char *) to + g * bytes));
    return 0;
}

static struct const_recipe recipe_of(const struct stored *s)
{
    size_t n = s->v.out_c, k = s->terms, groups = s->v.groups;
    struct const_recipe r = { .n = n, .k = k, .groups = groups, .context = s };

    if (s->integer && groups) {
        r.form = s->absolute ? CONST_ABS_INT_PANELS : CONST_INT_PANELS;
        r.bytes = groups * matmul_int_bytes(n / groups, k);
        r.make = make_integers;
    } else if (s->integer) {
        r.form = s->absolute ? CONST_ABS_INT_TAPS : CONST_INT_TAPS;
        r.bytes = matmul_int_taps_bytes(n, k);
        r.make = make_integers;
    } else if (groups) {
        r.form = s->absolute ? CONST_ABS_PANELS : CONST_PANELS;
        r.bytes = matmul_packed_bytes(n, k, groups);
        r.make = make_panels;
    } else { /* CONST_UNITS are the same for each shape */
        r = (struct const_recipe){ .form = s->absolute ? CONST_ABS_UNITS : CONST_UNITS,
                                   .bytes = (n * k + 1) * sizeof(double),
                                   .make = make_values,
                                   .context = s };
    }
    return r;
}

static const void *packed(const struct stored *s, bool absolute, struct why *w)
{
    struct stored of = *s;
    const struct call *c = s->call;

    of.absolute = absolute;
    struct const_recipe r = recipe_of(&of);
    return const_cache_get(c->const_cache[call_arg(c, s->dot->filter)], &r, c->scratch, w);
}

/* What bounds need; NULL members without them. */
static int make_bounds(struct stored *s, struct why *w)
{
    struct call *c = s->call;
    double *error = NULL;

    if (!c->ey[0])
        return 0;
    s->real = c->y[0];
    s->error = c->ey[0];
    s->ex = c->ex[call_arg(c, s->dot->input)];
    s->rounding = dot_rounding(c, s->dot);
    TRY(dot_channel_error(c, s->dot, &error, w));
    s->channel_error = error;
    if (!s->ex && s->rounding == 0)
        return 0;
    s->magnitudes = packed(s, true, w);
    return s->magnitudes ? 0 : -1;
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

/* The sums of a chunk: of what products, where from and to. */
struct sums {
    const void *weights;
    const double *init; /* doubles only */
    void *to;           /* double or int32_t */
};

static void sum_doubles(const struct stored *s, const struct slot *slot,
                        const struct matmul_axis *y, const struct sums *of)
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
                                    .packed = of->weights,
                                    .init = of->init,
                                    .out = of->to };
        matmul_conv(&conv, s->pool);
    } else {
        struct matmul_depthwise conv = { .batch = 1,
                                         .in_c = v->in_c,
                                         .multiplier = v->multiplier,
                                         .y = *y,
                                         .x = v->x,
                                         .image = slot->image,
                                         .weights = of->weights,
                                         .init = of->init,
                                         .out = of->to };
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

static void sum_taps(const struct stored *s, const struct slot *slot, const struct matmul_axis *y,
                     const struct sums *of)
{
    int32_t *sums = of->to;

    slot->tap[s->taps] = s->zeros; /* taps are processed in pairs */
    for (size_t oy = 0; oy < y->out; oy++)
        for (size_t ox = 0; ox < s->v.x.out; ox++, sums += s->v.out_c) {
            size_t n = 0;
            for (size_t ty = 0; ty < y->kernel; ty++)
                for (size_t tx = 0; tx < s->v.x.kernel; tx++) {
                    const int16_t *at = pixel(s, slot->image, y, oy, ox, ty, tx);
                    slot->tap[n++] = at ? at : s->zeros;
                }
            matmul_int_taps(s->v.out_c, s->taps, slot->tap, of->weights, sums);
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
                         const struct matmul_axis *y, const struct sums *of)
{
    const size_t n = s->v.out_c / s->v.groups, width = s->v.x.out, row = patch_row(s);
    struct matmul_int product = { .m = y->out * width,
                                  .n = n,
                                  .k = s->terms,
                                  .a = slot->image,
                                  .lda = row,
                                  .packed = of->weights,
                                  .c = of->to,
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

/* Scales double sums, activates and narrows all, a block of rows at a time. */
static void finish_doubles(const struct stored *s, double *all, size_t pixels, size_t at)
{
    const struct codec *codec = codec_of(s->y);
    size_t channels = s->v.out_c, step = larger(BLOCK / channels, 1);

    for (size_t i = 0; i < pixels; i += step) {
        size_t n = smaller(step, pixels - i) * channels;
        double *sums = all + i * channels;
        for (size_t k = 0; s->scale && !s->integer && k < n; k += channels)
            for (size_t ch = 0; ch < channels; ch++)
                sums[k + ch] *= s->scale[ch];
        activation_apply(s->call, s->dot->activation, sums, n);
        codec->narrow(sums, n, s->y->zero, tensor_step(s->y, 0),
                      (char *) s->y->data + (at + i) * channels * codec->size);
    }
}

/* The real results of integer sums. */
VECTOR_LOOP static void finish_reals(const struct stored *s, const int32_t *restrict sums,
                                     size_t pixels, double *restrict to)
{
    const double *restrict init = s->init, *restrict scale = s->scale;
    size_t channels = s->v.out_c;

    for (size_t i = 0; i < pixels; i++, sums += channels, to += channels)
        for (size_t ch = 0; ch < channels; ch++)
            to[ch] = ((double) sums[ch] + init[ch]) * scale[ch];
}

/* The error bounds from the sums of errors, which are integers or, in place, doubles. */
VECTOR_LOOP static void finish_errors(const struct stored *s, const struct slot *slot,
                                      size_t pixels, size_t at)
{
    size_t channels = s->v.out_c, n = pixels * channels;
    double *restrict error = s->error + at * channels, input = tensor_step(s->x, 0);
    const double *restrict scale = s->scale, *restrict channel = s->channel_error;
    const int32_t *restrict sums = slot->sums;

    if (!s->magnitudes)
        memset(error, 0, n * sizeof *error);
    else if (s->integer)
        for (size_t i = 0; i < n; i += channels)
            for (size_t ch = 0; ch < channels; ch++)
                error[i + ch] = (double) sums[i + ch] * scale[ch];
    else if (scale)
        for (size_t i = 0; i < n; i += channels)
            for (size_t ch = 0; ch < channels; ch++)
                error[i + ch] *= scale[ch] / input;
    for (size_t i = 0; channel && i < n; i += channels)
        for (size_t ch = 0; ch < channels; ch++)
            error[i + ch] += channel[ch];
    dot_bound_finish(s->call, s->dot, n, s->real + at * channels, error);
}

/* Replaces the units of n elements from `at` on by their errors, in steps or, for doubles, real. */
VECTOR_LOOP static void error_image(const struct stored *s, const struct slot *slot, size_t at,
                                    size_t n)
{
    const double *restrict ex = s->ex ? s->ex + at : NULL;
    const double rounding = s->rounding, steps = 1 / tensor_step(s->x, 0);
    double *restrict image = slot->image;
    int16_t *restrict whole = slot->image;

    if (s->integer)
        for (size_t i = 0; i < n; i++) /* nearly an integer */
            whole[i] = (int16_t) (int32_t) (ex[i] * steps + 0.5);
    else if (ex)
        for (size_t i = 0; i < n; i++)
            image[i] = (rounding > 0 ? fabs(image[i]) * rounding : 0) + ex[i];
    else
        for (size_t i = 0; i < n; i++)
            image[i] = fabs(image[i]) * rounding;
}

static void sum_chunk(const struct stored *s, const struct slot *slot, const struct matmul_axis *y,
                      const struct sums *of)
{
    if (!s->integer)
        sum_doubles(s, slot, y, of);
    else if (s->v.groups)
        sum_integers(s, slot, y, of);
    else
        sum_taps(s, slot, y, of);
}

static void run_chunk(const void *context, size_t slot_index, size_t i)
{
    const struct stored *s = context;
    const struct slot *slot = &s->slot[slot_index];
    const struct dot_window *v = &s->v;
    size_t image = i / s->chunks, o0 = i % s->chunks * s->lines, i0;
    struct matmul_axis y = part_of(&v->y, o0, smaller(o0 + s->lines, v->y.out), &i0);
    size_t line = v->x.in * v->in_c, from = (image * v->y.in + i0) * line;
    size_t pixels = y.out * v->x.out, at = (image * v->y.out + o0) * v->x.out;
    double *real = s->real ? s->real + at * v->out_c : NULL;
    const struct sums values = { s->weights, s->init, real && !s->integer ? real : slot->sums };

    if (s->integer)
        units(s->x, from, y.in * line, slot->image);
    else
        codec_of(s->x)->widen((const char *) s->x->data + from * codec_of(s->x)->size, y.in * line,
                              s->x->zero, 1, slot->image);
    sum_chunk(s, slot, &y, &values);
    if (real && s->integer)
        finish_reals(s, slot->sums, pixels, real);
    if (s->integer && !real)
        finish_integers(s, slot, pixels, at);
    else
        finish_doubles(s, real ? real : slot->sums, pixels, at);
    if (s->magnitudes) {
        double *to = s->error + at * v->out_c;
        const struct sums errors = { s->magnitudes, NULL, s->integer ? slot->sums : to };
        error_image(s, slot, from, y.in * line);
        sum_chunk(s, slot, &y, &errors);
    }
    if (s->error)
        finish_errors(s, slot, pixels, at);
}

int dot_eval_stored(struct call *c, const struct dot *d, struct why *w)
{
    struct stored s = { .call = c, .dot = d };

    if (!tensor_count(c->out[0]) || !tensor_count(c->in[d->input]) ||
        !tensor_count(c->in[d->filter]) || (c->ey[0] && c->ex[call_arg(c, d->filter)]))
        return 0;
    describe(&s);
    s.weights = packed(&s, false, w);
    if (!s.weights || make_channels(&s, w) < 0 || make_bounds(&s, w) < 0)
        return -1;
    bool large = tensor_count(s.y) * s.terms >= MIN_PARALLEL;
    struct matmul_pool *pool = large ? c->pool : NULL;
    cut(&s, recipe_of(&s).bytes, matmul_slots(pool));
    bool one = s.chunks * s.v.batch == 1;
    s.pool = one ? pool : NULL;
    TRY(make_slots(&s, one ? 1 : matmul_slots(pool), w));
    matmul_each(run_chunk, &s, s.chunks * s.v.batch, one ? NULL : pool);
    return 1;
}
