/* Element types: widening is exact, narrowing rounds once.  Half precision is compared with its
 * definition, the nearest of all values made with ldexp().  And tensors' sizes, and arenas. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/golden.h"
#include "tests/support/check_main.h"

static double half_by_definition(unsigned h)
{
    double sign = h & 0x8000 ? -1 : 1;
    int exponent = (int) (h >> 10 & 31), fraction = (int) (h & 1023);

    if (exponent == 31)
        return fraction ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

START_TEST(halves_widen_as_defined)
{
    for (unsigned h = 0; h < 0x10000; h++) {
        double x = f16_to_double((uint16_t) h), want = half_by_definition(h);
        bool right = isnan(want)
                         ? isnan(x)
                         : x == want && signbit(x) == signbit(want) && f16_from_double(x) == h;
        if (!right)
            ck_abort_msg("%04x: %g", h, x);
    }
}
END_TEST

START_TEST(halves_round_to_nearest_even)
{
    for (unsigned h = 0; h < 0x7bff; h++) {
        double lo = half_by_definition(h), hi = half_by_definition(h + 1), mid = (lo + hi) / 2;
        unsigned even = h & 1 ? h + 1 : h;
        bool right = f16_from_double(mid) == even && f16_from_double(-mid) == (even | 0x8000) &&
                     f16_from_double(nextafter(mid, 0)) == h &&
                     f16_from_double(nextafter(mid, 1e9)) == h + 1;
        if (!right)
            ck_abort_msg("about %04x", h);
    }
    ck_assert_uint_eq(f16_from_double(65519.99), 0x7bff);
    ck_assert_uint_eq(f16_from_double(65520), 0x7c00);
    ck_assert_uint_eq(f16_from_double(-1e300), 0xfc00);
    ck_assert(isnan(f16_to_double(f16_from_double(NAN))));
}
END_TEST

static int narrow_one(enum dtype dtype, float scale, int zero, double x)
{
    unsigned char bytes[4] = { 0 };
    struct tensor t = { dtype, { 1, { 1 } }, scale, zero, .data = bytes };
    int32_t i32;

    tensor_narrow(&x, &t);
    switch (dtype) {
    case DT_U8: return bytes[0];
    case DT_S8: return (int8_t) bytes[0];
    default: memcpy(&i32, bytes, 4); return i32;
    }
}

/* The value is rounded before the zero point is added; the other order would change negative ties.
 */
START_TEST(quantised_ties_go_away_from_zero)
{
    ck_assert_int_eq(narrow_one(DT_U8, 0.5f, 128, 0.25), 129);
    ck_assert_int_eq(narrow_one(DT_U8, 0.5f, 128, -0.25), 127);
    ck_assert_int_eq(narrow_one(DT_U8, 0.5f, 128, -0.75), 126);
    ck_assert_int_eq(narrow_one(DT_U8, 1, 0, nextafter(0.5, 0)), 0);
    ck_assert_int_eq(narrow_one(DT_U8, 1, 0, 0.5), 1);
    ck_assert_int_eq(narrow_one(DT_S8, 1, -3, -0.5), -4);
}
END_TEST

START_TEST(integers_saturate)
{
    ck_assert_int_eq(narrow_one(DT_U8, 1, 10, 1e30), 255);
    ck_assert_int_eq(narrow_one(DT_U8, 1, 10, -1e30), 0);
    ck_assert_int_eq(narrow_one(DT_S8, 1, 0, 127.4), 127);
    ck_assert_int_eq(narrow_one(DT_S8, 1, 0, 128), 127);
    ck_assert_int_eq(narrow_one(DT_I32, 0, 0, 2147483648.0), INT32_MAX);
    ck_assert_int_eq(narrow_one(DT_I32, 0, 0, -INFINITY), INT32_MIN);
}
END_TEST

/* Narrowing many values in one call, which uses vector loops: values around every tie of 8 bits and
 * beyond the range. */
START_TEST(arrays_narrow_like_single_values)
{
    enum { N = 2 * 700 * 4 + 3 };
    static const enum dtype types[] = { DT_U8, DT_S8, DT_Q16A, DT_Q16S, DT_I32 };
    double x[N] = { NAN, INFINITY, -INFINITY };
    size_t n = 3;

    for (int k = -700; k < 700; k++) {
        double tie = k + 0.5, near[] = { tie, nextafter(tie, 1e9), nextafter(tie, -1e9), k };
        for (size_t i = 0; i < COUNT(near); i++)
            x[n++] = near[i];
    }
    for (int i = 0; i < COUNT(types); i++) {
        const struct codec *c = dtype_info[types[i]].codec;
        for (int zero = c->min < 0 ? -5 : 0; zero < 6; zero += 5) {
            int32_t q[N] = { 0 };
            c->narrow(x, n, zero, 1, q);
            for (size_t k = 0; k < n; k++) {
                double want = fmin(fmax(round(isnan(x[k]) ? 0 : x[k]) + zero, c->min), c->max), got;
                c->widen((char *) q + k * c->size, 1, 0, 1, &got);
                ck_assert_double_eq(got, want);
            }
        }
    }
}
END_TEST

START_TEST(channels_have_their_own_scales)
{
    const float scales[] = { 0.5f, 2 };
    int8_t q[] = { 1, 2, -3, 4, 5, -6 };
    struct tensor t = { DT_PC8,          { 3, { 1, 2, 3 } },      .channel_dim = 1,
                        .n_channels = 2, .channel_scale = scales, .data = q };
    double x[6], want[] = { 0.5, 1, -1.5, 8, 10, -12 };
    int8_t back[6];

    tensor_widen(&t, x);
    for (int i = 0; i < 6; i++) {
        ck_assert_double_eq(x[i], want[i]);
        ck_assert_double_eq(tensor_at(&t, (size_t) i), want[i]);
    }
    t.data = back;
    tensor_narrow(x, &t);
    ck_assert_mem_eq(back, q, sizeof q);
}
END_TEST

START_TEST(sizes_are_bounded)
{
    ck_assert_int_eq(shape_check_size(&(struct shape){ 2, { 65536, 65535 } }, 1), 0);
    ck_assert_int_lt(shape_check_size(&(struct shape){ 2, { 65536, 65536 } }, 1), 0);
    ck_assert_int_lt(shape_check_size(&(struct shape){ 3, { UINT32_MAX, UINT32_MAX, 9 } }, 4), 0);
    ck_assert_int_eq(shape_check_size(&(struct shape){ 2, { 0, 7 } }, 4), 0);
}
END_TEST

START_TEST(arena_gives_aligned_zeroed_objects)
{
    struct arena *a = arena_new(0);

    for (size_t n = 1; n < 5000; n += 37) {
        unsigned char *p = arena_alloc(a, n, 3);
        ck_assert_ptr_nonnull(p);
        ck_assert_uint_eq((uintptr_t) p % (3 * n < 64 ? 16 : 64), 0);
        size_t zeros = 0;
        for (size_t i = 0; i < 3 * n; i++)
            zeros += p[i] == 0;
        ck_assert_uint_eq(zeros, 3 * n);
        memset(p, 0xff, 3 * n);
    }
    ck_assert_ptr_nonnull(arena_alloc(a, 0, 8));
    ck_assert_ptr_null(arena_alloc(a, SIZE_MAX / 2, 4));
    arena_free(a);
}
END_TEST

struct test_budget {
    struct arena_budget budget;
    size_t left;
};

static bool take(struct arena_budget *self, size_t bytes)
{
    struct test_budget *p = (struct test_budget *) self;
    bool ok = bytes <= p->left;

    p->left -= ok ? bytes : 0;
    return ok;
}

static void give(struct arena_budget *self, size_t bytes)
{
    ((struct test_budget *) self)->left += bytes;
}

START_TEST(arenas_keep_to_their_budget)
{
    const size_t all = (size_t) 8 << 20;
    struct test_budget test_budget = { { take, give }, all };
    struct arena *a = arena_new_within(&test_budget.budget),
                 *b = arena_new_within(&test_budget.budget);

    for (int turn = 0; turn < 3; turn++) {
        memset(arena_alloc(a, 100, 1), 1, 100);
        memset(arena_alloc(a, 5 << 20, 1), 1, 5 << 20);
        ck_assert_ptr_null(arena_alloc(b, 4 << 20, 1));
        ck_assert_ptr_nonnull(arena_alloc(b, 2 << 20, 1));
        arena_empty(a, 1 << 20);
        ck_assert_uint_gt(arena_bytes(a), 0);
        ck_assert_uint_le(arena_bytes(a), 1 << 20);
        ck_assert_ptr_nonnull(arena_alloc(b, 4 << 20, 1));
        arena_empty(b, 0);
        ck_assert_uint_eq(arena_bytes(b), 0);
    }
    arena_free(a);
    arena_free(b);
    ck_assert_uint_eq(test_budget.left, all);
}
END_TEST

START_TEST(arena_obeys_its_limit_and_rewinds)
{
    struct arena *a = arena_new(1 << 20);
    struct arena_mark mark = arena_mark(a);

    ck_assert_ptr_null(arena_alloc(a, 2 << 20, 1));
    for (int turn = 0; turn < 100; turn++) {
        ck_assert_ptr_nonnull(arena_alloc(a, 900 << 10, 1));
        arena_rewind(a, mark);
    }
    ck_assert_uint_le(arena_bytes(a), 1 << 20);
    ck_assert_str_eq(arena_printf(a, "%d %s", 7, "x"), "7 x");
    arena_free(a);
}
END_TEST

Suite *tensor_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_test(t, halves_widen_as_defined);
    tcase_add_test(t, halves_round_to_nearest_even);
    tcase_add_test(t, quantised_ties_go_away_from_zero);
    tcase_add_test(t, integers_saturate);
    tcase_add_test(t, arrays_narrow_like_single_values);
    tcase_add_test(t, channels_have_their_own_scales);
    tcase_add_test(t, sizes_are_bounded);
    tcase_add_test(t, arena_gives_aligned_zeroed_objects);
    tcase_add_test(t, arenas_keep_to_their_budget);
    tcase_add_test(t, arena_obeys_its_limit_and_rewinds);
    return make_suite("tensor", t, NULL);
}
