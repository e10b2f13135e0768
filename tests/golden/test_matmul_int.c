/* The integer kernel agrees with the double kernel, which is exact on integers this small: on each
 * instance, and with the longest sums of the largest products. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/matmul.h"
#include "tests/support/check_main.h"

static uint32_t state;

static uint32_t below(uint32_t n)
{
    state = state * 1664525 + 1013904223;
    return (state >> 8) % n;
}

static void *allocate(size_t n, size_t size)
{
    void *p = aligned_alloc(64, (n * size / 64 + 1) * 64);

    ck_assert_ptr_nonnull(p);
    return p;
}

/* n random units as int16_t and as double; largest: all of the largest magnitude. */
static void draw(size_t n, bool largest, int16_t **ret_int, double **ret_real)
{
    *ret_int = allocate(n, sizeof(int16_t));
    *ret_real = allocate(n, sizeof(double));
    for (size_t i = 0; i < n; i++) {
        int x = largest ? MATMUL_INT_UNIT : (int) below(2 * MATMUL_INT_UNIT + 1) - MATMUL_INT_UNIT;
        (*ret_int)[i] = (int16_t) x;
        (*ret_real)[i] = x;
    }
}

static void check_product(size_t m, size_t n, size_t k, bool largest)
{
    size_t lda = matmul_int_depth(k), ldc = n + below(3);
    int16_t *a, *b, *packed = allocate(matmul_int_bytes(n, k), 1);
    double *real_a, *real_b, *want = allocate(m * n, sizeof *want);
    int32_t *got = allocate(m * ldc, sizeof *got);

    draw(m * lda, largest, &a, &real_a);
    draw(n * k, largest, &b, &real_b);
    matmul(
        &(struct matmul){ .m = m, .n = n, .k = k, .a = real_a, .lda = lda, .b = real_b, .c = want },
        NULL);
    matmul_int_pack(n, k, b, packed);
    for (enum matmul_isa isa = MATMUL_BASE; isa <= MATMUL_AVX2 && matmul_use(isa); isa++) {
        memset(got, 0x55, m * ldc * sizeof *got);
        matmul_int(&(struct matmul_int){ m, n, k, a, lda, packed, got, ldc });
        for (size_t i = 0; i < m * ldc; i++)
            ck_assert_int_eq(got[i],
                             i % ldc < n ? (int32_t) want[i / ldc * n + i % ldc] : 0x55555555);
    }
    matmul_use(MATMUL_BEST);
    void *all[] = { a, b, packed, real_a, real_b, want, got };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

START_TEST(products)
{
    for (int i = 0; i < 200; i++)
        check_product(1 + below(20), 1 + below(50), below(40), false);
    check_product(3, 17, 1000, false);
}
END_TEST

START_TEST(longest_sums)
{
    check_product(2, 3, MATMUL_INT_DEPTH, true);
    check_product(1, 16, MATMUL_INT_DEPTH, true);
}
END_TEST

static void check_taps(size_t channels, size_t taps)
{
    int16_t *x, *w, *packed = allocate(matmul_int_taps_bytes(channels, taps), 1);
    const int16_t **tap = allocate(taps + 1, sizeof *tap);
    double *real_x, *real_w;
    int32_t *got = allocate(channels, sizeof *got);

    draw((taps + 1) * channels + 16, false, &x, &real_x);
    draw(taps * channels, false, &w, &real_w);
    for (size_t t = 0; t <= taps; t++)
        tap[t] = x + t * channels;
    matmul_int_pack_taps(channels, taps, w, packed);
    for (enum matmul_isa isa = MATMUL_BASE; isa <= MATMUL_AVX2 && matmul_use(isa); isa++) {
        matmul_int_taps(channels, taps, tap, packed, got);
        for (size_t c = 0; c < channels; c++) {
            double want = 0;
            for (size_t t = 0; t < taps; t++)
                want += real_x[t * channels + c] * real_w[t * channels + c];
            ck_assert_int_eq(got[c], (int32_t) want);
        }
    }
    matmul_use(MATMUL_BEST);
    void *all[] = { x, w, packed, tap, real_x, real_w, got };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
}

START_TEST(depthwise)
{
    for (size_t channels = 1; channels < 70; channels++)
        for (size_t taps = 1; taps < 12; taps++)
            check_taps(channels, taps);
}
END_TEST

Suite *matmul_int_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_test(t, products);
    tcase_add_test(t, longest_sums);
    tcase_add_test(t, depthwise);
    return make_suite("matmul_int", t, NULL);
}
