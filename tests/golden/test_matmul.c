/* The matrix kernel has the bits of its definition, plain loops with fma(), on each instance of the
 * kernel, with and without threads. */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/matmul.h"
#include "tests/support/check_main.h"

static uint64_t state;

static uint32_t draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33);
}

static size_t below(size_t n)
{
    return draw() % n;
}

/* Values of very different magnitude, so that another order of summation changes the sum. */
static double *values(size_t n)
{
    double *p = malloc((n + 1) * sizeof *p);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < n; i++)
        p[i] = ldexp((double) draw() - 0x1p30, (int) below(40) - 50);
    return p;
}

/* The same with zeros of both signs, infinities, NaNs and tiny numbers among them. */
static double *special_values(size_t n)
{
    static const double wild[] = { 0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-1074, -0x1p-1000 };
    double *p = values(n);
    for (size_t i = 0; i < n; i++)
        if (!below(4))
            p[i] = wild[below(sizeof wild / sizeof *wild)];
    return p;
}

static uint64_t bits(double x)
{
    uint64_t u;
    if (isnan(x)) /* the bits of a NaN are unspecified */
        return UINT64_MAX;
    memcpy(&u, &x, sizeof u);
    return u;
}

static void same(const double *want, const double *got, size_t n, uint64_t seed, const char *what)
{
    for (size_t i = 0; i < n; i++)
        if (bits(want[i]) != bits(got[i]))
            ck_abort_msg("%s, seed %" PRIu64 ": [%zu] is %a, expected %a", what, seed, i, got[i],
                         want[i]);
}

static struct matmul_pool *pools[2]; /* none, and two threads */

/* Calls run(problem, out, pool) with every instance of the kernel, with and without threads, on a
 * copy of `start`, and compares the n outputs with `want`. */
static void run_everywhere(void (*run)(const void *problem, double *out, struct matmul_pool *pool),
                           const void *problem, const double *start, const double *want, size_t n,
                           uint64_t seed)
{
    static const char *const names[] = { "best", "base", "avx2" };
    double *out = malloc((n + 1) * sizeof *out);
    for (int isa = MATMUL_BEST; isa <= MATMUL_AVX2; isa++) {
        if (!matmul_use((enum matmul_isa) isa))
            continue;
        for (int threads = 0; threads < 2; threads++) {
            memcpy(out, start, n * sizeof *out);
            run(problem, out, pools[threads]);
            same(want, out, n, seed, names[isa]);
        }
    }
    matmul_use(MATMUL_BEST);
    free(out);
}

/* Matrix product */

static void naive_matmul(const struct matmul *p, double *c)
{
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double *acc = &c[i * p->ldc + j];
            if (!p->add)
                *acc = p->init ? p->init[j] : 0;
            for (size_t k = 0; k < p->k; k++)
                *acc = fma(p->a[i * p->lda + k], p->b[j * p->k + k], *acc);
        }
}

static void run_matmul(const void *problem, double *out, struct matmul_pool *pool)
{
    struct matmul p = *(const struct matmul *) problem;
    p.c = out;
    matmul(&p, pool);
}

static void check_matmul(size_t m, size_t n, size_t k, uint64_t seed)
{
    state = seed;
    struct matmul p = { .m = m, .n = n, .k = k, .lda = k + below(3), .ldc = n + below(3) };
    double *a = values(m * p.lda), *b = below(2) ? values(n * k) : special_values(n * k);
    double *init = values(n), *start = values(m * p.ldc), *want = malloc((m * p.ldc + 1) * 8);
    p.a = a;
    p.b = b;
    p.init = below(2) ? init : NULL;
    p.add = below(3) == 0;
    struct matmul_packed *packed = below(2) ? matmul_pack(n, k, 1, b) : NULL;
    p.packed = packed;
    memcpy(want, start, m * p.ldc * sizeof *want);
    naive_matmul(&p, want);
    run_everywhere(run_matmul, &p, start, want, m * p.ldc, seed);
    matmul_packed_free(packed);
    free(a);
    free(b);
    free(init);
    free(start);
    free(want);
}

START_TEST(matmul_small)
{
    for (uint64_t seed = 1; seed <= 600; seed++) {
        state = seed * 977;
        size_t m = below(20), n = below(40), k = below(60);
        check_matmul(m, n, k, seed);
    }
}
END_TEST

START_TEST(matmul_blocks)
{
    static const size_t size[][3] = { { 1, 1000, 300 }, { 50, 70, 257 }, { 7, 33, 1030 },
                                      { 200, 9, 513 },  { 13, 64, 256 }, { 97, 31, 255 } };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        check_matmul(size[i][0], size[i][1], size[i][2], i);
}
END_TEST

START_TEST(matmul_dense_defaults)
{
    const double a[] = { 1, 2, 3, 4 }, b[] = { 5, 6, 7, 8, 9, 10 };
    const double want[] = { 17, 23, 29, 39, 53, 67 };
    double c[6];
    matmul(&(struct matmul){ .m = 2, .n = 3, .k = 2, .a = a, .b = b, .c = c }, NULL);
    same(want, c, 6, 0, "dense");
}
END_TEST

/* Convolutions */

static bool tap(const struct matmul_axis *a, size_t o, size_t t, size_t *ret_i)
{
    ptrdiff_t i = (ptrdiff_t) (o * a->stride + t * a->dilation) - a->pad;
    *ret_i = (size_t) i;
    return i >= 0 && (size_t) i < a->in;
}

static double conv_at(const struct matmul_conv *p, size_t b, size_t oy, size_t ox, size_t o)
{
    size_t depth = p->in_c / p->groups, iy, ix;
    const double *w = p->weights + o * p->y.kernel * p->x.kernel * depth;
    double acc = p->init ? p->init[o] : 0;
    for (size_t ty = 0; ty < p->y.kernel; ty++)
        for (size_t tx = 0; tx < p->x.kernel; tx++, w += depth) {
            if (!tap(&p->y, oy, ty, &iy) || !tap(&p->x, ox, tx, &ix))
                continue;
            const double *x = p->image + ((b * p->y.in + iy) * p->x.in + ix) * p->in_c +
                              o / (p->out_c / p->groups) * depth;
            for (size_t c = 0; c < depth; c++)
                acc = fma(x[c], w[c], acc);
        }
    return acc;
}

static void naive_conv(const struct matmul_conv *p, double *out)
{
    for (size_t b = 0; b < p->batch; b++)
        for (size_t oy = 0; oy < p->y.out; oy++)
            for (size_t ox = 0; ox < p->x.out; ox++)
                for (size_t o = 0; o < p->out_c; o++)
                    *out++ = conv_at(p, b, oy, ox, o);
}

static double depthwise_at(const struct matmul_depthwise *p, size_t b, size_t oy, size_t ox,
                           size_t o)
{
    size_t n = p->in_c * p->multiplier, iy, ix;
    double acc = p->init ? p->init[o] : 0;
    for (size_t ty = 0; ty < p->y.kernel; ty++)
        for (size_t tx = 0; tx < p->x.kernel; tx++) {
            if (!tap(&p->y, oy, ty, &iy) || !tap(&p->x, ox, tx, &ix))
                continue;
            size_t pixel = (b * p->y.in + iy) * p->x.in + ix;
            acc = fma(p->image[pixel * p->in_c + o / p->multiplier],
                      p->weights[(ty * p->x.kernel + tx) * n + o], acc);
        }
    return acc;
}

static void naive_depthwise(const struct matmul_depthwise *p, double *out)
{
    for (size_t b = 0; b < p->batch; b++)
        for (size_t oy = 0; oy < p->y.out; oy++)
            for (size_t ox = 0; ox < p->x.out; ox++)
                for (size_t o = 0; o < p->in_c * p->multiplier; o++)
                    *out++ = depthwise_at(p, b, oy, ox, o);
}

static void run_conv(const void *problem, double *out, struct matmul_pool *pool)
{
    struct matmul_conv p = *(const struct matmul_conv *) problem;
    p.out = out;
    matmul_conv(&p, pool);
}

static void run_depthwise(const void *problem, double *out, struct matmul_pool *pool)
{
    struct matmul_depthwise p = *(const struct matmul_depthwise *) problem;
    p.out = out;
    matmul_depthwise(&p, pool);
}

/* Any geometry, also one whose windows lie in the padding only. */
static struct matmul_axis draw_axis(size_t most)
{
    struct matmul_axis a = { .in = below(most), .out = below(most), .kernel = below(6) };
    a.stride = 1 + below(3);
    a.dilation = 1 + below(below(2) ? 3 : 1);
    a.pad = (ptrdiff_t) below(8) - 2;
    return a;
}

static void check_conv(const struct matmul_conv *geometry, uint64_t seed)
{
    struct matmul_conv p = *geometry;
    size_t k = p.y.kernel * p.x.kernel * p.in_c / p.groups;
    size_t n = p.batch * p.y.out * p.x.out * p.out_c;
    double *image = values(p.batch * p.y.in * p.x.in * p.in_c), *init = values(p.out_c);
    double *weights = below(2) ? values(p.out_c * k) : special_values(p.out_c * k);
    double *want = malloc((n + 1) * sizeof *want), *start = values(n);
    struct matmul_packed *packed = below(2) ? matmul_pack(p.out_c, k, p.groups, weights) : NULL;
    p.image = image;
    p.weights = weights;
    p.packed = packed;
    p.init = below(2) ? init : NULL;
    naive_conv(&p, want);
    run_everywhere(run_conv, &p, start, want, n, seed);
    matmul_packed_free(packed);
    free(image);
    free(init);
    free(weights);
    free(want);
    free(start);
}

START_TEST(conv_any_geometry)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        state = seed;
        struct matmul_conv p = { .batch = below(3), .groups = 1 + below(below(2) ? 4 : 1) };
        p.y = draw_axis(9);
        p.x = draw_axis(9);
        p.in_c = p.groups * below(7);
        p.out_c = p.groups * below(12);
        check_conv(&p, seed);
    }
}
END_TEST

/* More products and outputs than one block holds, and enough work for two threads. */
START_TEST(conv_blocks)
{
    struct matmul_axis same3 = {
        .in = 9, .out = 9, .kernel = 3, .stride = 1, .dilation = 1, .pad = 1
    };
    struct matmul_axis half3 = { .in = 11, .out = 5, .kernel = 3, .stride = 2, .dilation = 1 };
    struct matmul_axis wide3 = {
        .in = 9, .out = 9, .kernel = 3, .stride = 1, .dilation = 2, .pad = 2
    };
    struct matmul_conv p[] = {
        { .batch = 1, .in_c = 60, .out_c = 70, .groups = 1, .y = same3, .x = same3 },
        { .batch = 2, .in_c = 60, .out_c = 33, .groups = 1, .y = half3, .x = half3 },
        { .batch = 1, .in_c = 300, .out_c = 17, .groups = 1, .y = wide3, .x = half3 },
        { .batch = 1, .in_c = 120, .out_c = 90, .groups = 2, .y = same3, .x = wide3 },
    };
    for (size_t i = 0; i < sizeof p / sizeof *p; i++) {
        state = i;
        check_conv(&p[i], i);
        check_conv(&p[i], i);
    }
}
END_TEST

static void check_depthwise(const struct matmul_depthwise *geometry, uint64_t seed)
{
    struct matmul_depthwise p = *geometry;
    size_t channels = p.in_c * p.multiplier, taps = p.y.kernel * p.x.kernel;
    size_t n = p.batch * p.y.out * p.x.out * channels;
    double *image = values(p.batch * p.y.in * p.x.in * p.in_c), *init = values(channels);
    double *weights = below(2) ? values(taps * channels) : special_values(taps * channels);
    double *want = malloc((n + 1) * sizeof *want), *start = values(n);
    p.image = image;
    p.weights = weights;
    p.init = below(2) ? init : NULL;
    naive_depthwise(&p, want);
    run_everywhere(run_depthwise, &p, start, want, n, seed);
    free(image);
    free(init);
    free(weights);
    free(want);
    free(start);
}

START_TEST(depthwise_any_geometry)
{
    for (uint64_t seed = 1; seed <= 1500; seed++) {
        state = seed;
        struct matmul_depthwise p = { .batch = below(3), .in_c = below(30) };
        p.multiplier = below(2) ? 1 : below(5);
        p.y = draw_axis(9);
        p.x = draw_axis(9);
        check_depthwise(&p, seed);
    }
}
END_TEST

START_TEST(depthwise_many_taps)
{
    struct matmul_axis wide = { .in = 30, .out = 12, .kernel = 19, .stride = 1, .dilation = 1 };
    for (uint64_t seed = 0; seed < 4; seed++) {
        state = seed;
        wide.pad = (ptrdiff_t) seed * 3;
        struct matmul_depthwise p = {
            .batch = 1, .in_c = 11, .multiplier = 1 + seed / 2, .y = wide, .x = wide
        };
        check_depthwise(&p, seed);
    }
}
END_TEST

/* Padding is skipped, not multiplied: a product with zero would turn -0 into 0, and infinite or NaN
 * weights into NaN. */
START_TEST(padding_is_skipped)
{
    const double image[] = { 2 }, init[] = { -0.0, 1 };
    const double weights[] = { NAN, -0.0, INFINITY, 5, 3, -INFINITY };
    const double want[] = { -0.0, 7 };
    struct matmul_axis one = { .in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1 };
    struct matmul_axis three = {
        .in = 1, .out = 1, .kernel = 3, .stride = 1, .dilation = 1, .pad = 1
    };
    double out[2];
    struct matmul_conv p = { .batch = 1,
                             .in_c = 1,
                             .out_c = 2,
                             .y = one,
                             .x = three,
                             .image = image,
                             .weights = weights,
                             .init = init,
                             .out = out };
    matmul_conv(&p, NULL);
    same(want, out, 2, 0, "padding");
}
END_TEST

static void make_pools(void)
{
    pools[1] = matmul_pool_new(2);
}

static void free_pools(void)
{
    matmul_pool_free(pools[1]);
}

Suite *matmul_suite(void)
{
    TCase *t = tcase_create("matmul");
    tcase_add_checked_fixture(t, make_pools, free_pools);
    tcase_add_test(t, matmul_small);
    tcase_add_test(t, matmul_blocks);
    tcase_add_test(t, matmul_dense_defaults);
    tcase_add_test(t, conv_any_geometry);
    tcase_add_test(t, conv_blocks);
    tcase_add_test(t, depthwise_any_geometry);
    tcase_add_test(t, depthwise_many_taps);
    tcase_add_test(t, padding_is_skipped);
    return make_suite("matmul", t, NULL);
}
