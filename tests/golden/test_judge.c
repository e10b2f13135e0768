/* judge_cts(), judge_bound() and judge_distribution(): verdicts computed by hand from their
 * formulas. */
#include <check.h>
#include <math.h>

#include "golden/golden.h"
#include "tests/support/check_main.h"

static struct tensor tensor_of(enum dtype dtype, uint32_t n, float scale, int32_t zero, void *data)
{
    return (struct tensor){ dtype, { 1, { n } }, scale, zero, .data = data };
}

static struct judgement cts_f32(float expected, float actual, bool half)
{
    struct tensor e = tensor_of(DT_F32, 1, 0, 0, &expected);
    struct tensor a = tensor_of(DT_F32, 1, 0, 0, &actual);

    return judge_cts(&e, &a, half, 1);
}

/* atol 1e-5 + rtol 5 * 2^-23 * |e|: for 100 that is 6.96e-5 */
START_TEST(cts_floats)
{
    ck_assert(cts_f32(0, 0.9e-5f, false).ok);
    ck_assert(!cts_f32(0, 1.1e-5f, false).ok);
    ck_assert(cts_f32(100, 100.00006f, false).ok);
    ck_assert(!cts_f32(100, 100.0001f, false).ok);
    ck_assert(cts_f32(100, 100.49f, true).ok);
    ck_assert(!cts_f32(100, 100.5f, true).ok);
    ck_assert(!cts_f32(NAN, NAN, false).ok);
    ck_assert(!cts_f32(NAN, 1, false).ok);
    ck_assert(!cts_f32(1, NAN, false).ok);
    ck_assert(cts_f32(INFINITY, INFINITY, false).ok);
}
END_TEST

START_TEST(cts_quantised_off_by_one)
{
    uint8_t e[] = { 10, 20, 30 }, a[] = { 11, 19, 30 }, b[] = { 12, 20, 30 };
    struct tensor et = tensor_of(DT_U8, 3, 0.1f, 5, e), at = tensor_of(DT_U8, 3, 0.1f, 5, a),
                  bt = tensor_of(DT_U8, 3, 0.1f, 5, b);

    ck_assert(judge_cts(&et, &at, false, 1).ok);
    struct judgement j = judge_cts(&et, &bt, false, 1);
    ck_assert(!j.ok);
    ck_assert_uint_eq(j.wrong, 1);
    ck_assert_uint_eq(j.worst, 0);
    ck_assert_double_eq(j.ratio, 2);
    ck_assert(judge_cts(&et, &bt, false, 3).ok);
}
END_TEST

START_TEST(quantised_errors_are_told_in_steps)
{
    uint8_t e[] = { 134, 128 }, a[] = { 130, 128 };
    struct tensor et = tensor_of(DT_U8, 2, 0.5f, 128, e), at = tensor_of(DT_U8, 2, 0.5f, 128, a);
    const double real[] = { 3, 0 }, bound[] = { .25, .25 };

    ck_assert_str_eq(judge_cts(&et, &at, false, 1).why,
                     "1 of 2 elements wrong; worst [0]: expected 134 (3), actual 130 (1), off by 4 "
                     "steps, bound 1 (0.5)");
    a[0] = 133;
    ck_assert_str_eq(judge_bound(&et, real, bound, ERROR_ELEMENT, &at).why,
                     "1 of 2 elements wrong; worst [0]: expected 134 (3), actual 133 (2.5), off by "
                     "1 step, bound 0.5 (0.25)");
}
END_TEST

/* Neighbouring integers that are the same as double. */
START_TEST(integers_of_64_bits_are_exact)
{
    int64_t e[] = { INT64_MAX, INT64_MIN, 9007199254740993 }, a[] = { INT64_MAX, INT64_MIN, 0 };
    struct tensor et = tensor_of(DT_FIBONACCI_QUANT64, 3, 0, 0, e);
    struct tensor at = tensor_of(DT_FIBONACCI_QUANT64, 3, 0, 0, a);
    const double real[3] = { 0 }, exact[3] = { 0 }, open[] = { 0, 0, INFINITY };

    for (int64_t by = -1; by <= 1; by++) {
        a[2] = e[2] + by;
        ck_assert(judge_cts(&et, &at, false, 1).ok == !by);
        ck_assert(judge_bound(&et, real, exact, ERROR_EXACT, &at).ok == !by);
        ck_assert(judge_bound(&et, real, open, ERROR_EXACT, &at).ok);
    }
    struct judgement j = judge_cts(&et, &at, false, 1);
    ck_assert_uint_eq(j.worst, 2);
    ck_assert_str_eq(j.why, "1 of 3 elements wrong; worst [2]: expected 9007199254740993, actual "
                            "9007199254740994");
    a[0] = INT64_MIN; /* the largest possible difference */
    j = judge_bound(&et, real, exact, ERROR_EXACT, &at);
    ck_assert_uint_eq(j.wrong, 2);
}
END_TEST

START_TEST(shape_and_type_must_agree)
{
    float x[4] = { 0 };
    struct tensor e = tensor_of(DT_F32, 4, 0, 0, x), a = tensor_of(DT_F32, 3, 0, 0, x);

    ck_assert(!judge_cts(&e, &a, false, 1).ok);
    a = tensor_of(DT_I32, 4, 0, 0, x);
    ck_assert(!judge_cts(&e, &a, false, 1).ok);
}
END_TEST

/* |q - q_ref| <= 0.5 + bound/scale: a real result of 2.5 steps may be 2 or 3, one of 2.4 only 2. */
START_TEST(bound_quantised_tie)
{
    uint8_t q[] = { 3, 2 };
    const double real[] = { 0.3125, 0.3 }, bound[] = { 0.0625, 0.0625 };
    struct tensor t = tensor_of(DT_U8, 2, 0.125f, 0, q);

    ck_assert(judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
    q[0] = 2;
    ck_assert(judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
    q[1] = 3;
    ck_assert(!judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
}
END_TEST

/* A real result 30 steps above the range must saturate. */
START_TEST(bound_requires_saturation)
{
    uint8_t q[] = { 255 };
    const double real[] = { 285 }, bound[] = { 0.5 };
    struct tensor t = tensor_of(DT_U8, 1, 1, 0, q);

    ck_assert(judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
    q[0] = 254;
    ck_assert(!judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
}
END_TEST

/* The bound applies before saturation: a real result of 256.2 with an error of 1 may be as low as
 * 255.2, so only 255 is right; one of 254.8 may be as low as 253.8, so 254 is right. */
START_TEST(bound_applies_before_saturation)
{
    uint8_t q[] = { 254 };
    const double over[] = { 256.2 }, under[] = { 254.8 }, bound[] = { 1 };
    struct tensor t = tensor_of(DT_U8, 1, 1, 0, q);

    ck_assert(!judge_bound(&t, over, bound, ERROR_ELEMENT, &t).ok);
    ck_assert(judge_bound(&t, under, bound, ERROR_ELEMENT, &t).ok);
    q[0] = 253;
    ck_assert(!judge_bound(&t, under, bound, ERROR_ELEMENT, &t).ok);
    q[0] = 255;
    ck_assert(judge_bound(&t, over, bound, ERROR_ELEMENT, &t).ok);
    ck_assert(judge_bound(&t, under, bound, ERROR_ELEMENT, &t).ok);
}
END_TEST

/* NNAPI does not define the quantised value of NaN: such elements are not checked. */
START_TEST(quantised_nan_is_not_checked)
{
    uint8_t q[] = { 7 };
    const double real[] = { NAN }, bound[] = { 0.5 };
    struct tensor t = tensor_of(DT_U8, 1, 1, 0, q);
    struct judgement j = judge_bound(&t, real, bound, ERROR_ELEMENT, &t);

    ck_assert(j.ok);
    ck_assert_uint_eq(j.checked, 0);
}
END_TEST

START_TEST(bound_accepts_overflow_of_halves)
{
    uint16_t h[] = { 0x7c00 }; /* infinity */
    const double real[] = { 65600 }, bound[] = { 64 };
    struct tensor t = tensor_of(DT_F16, 1, 0, 0, h);

    ck_assert(judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
    h[0] = 0xfc00;
    ck_assert(!judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
}
END_TEST

/* A bound that reaches beyond both ends of the range accepts either infinity; one that does not
 * accepts none. */
START_TEST(bound_beyond_the_range_accepts_infinities)
{
    static const uint16_t infinity[] = { 0x7c00, 0xfc00 };
    const double real[] = { 100 }, beyond[] = { 70000 }, within[] = { 65000 };

    for (int i = 0; i < COUNT(infinity); i++) {
        uint16_t h[] = { infinity[i] };
        struct tensor t = tensor_of(DT_F16, 1, 0, 0, h);
        ck_assert(judge_bound(&t, real, beyond, ERROR_ELEMENT, &t).ok);
        ck_assert(!judge_bound(&t, real, within, ERROR_ELEMENT, &t).ok);
    }
}
END_TEST

START_TEST(infinite_bounds_are_not_checked)
{
    float x[] = { 1, 2 };
    const double real[] = { 5, 2 }, bound[] = { INFINITY, 0 };
    struct tensor t = tensor_of(DT_F32, 2, 0, 0, x);
    struct judgement j = judge_bound(&t, real, bound, ERROR_DISCRETE, &t);

    ck_assert(j.ok);
    ck_assert_uint_eq(j.checked, 1);
}
END_TEST

/* All errors are a third of the bound: each element is accepted, but the tensor has a bias. */
START_TEST(dot_product_bias_is_detected)
{
    static float x[2000];
    static double real[2000], bound[2000];
    struct tensor t = tensor_of(DT_F32, 2000, 0, 0, x);

    for (int i = 0; i < 2000; i++) {
        x[i] = 1;
        bound[i] = 3e-6;
        real[i] = 1 + (i % 2 ? 1e-7 : -1e-7);
    }
    ck_assert(judge_bound(&t, real, bound, ERROR_DOT, &t).ok);
    for (int i = 0; i < 2000; i++)
        real[i] = 1 + 1e-6;
    struct judgement j = judge_bound(&t, real, bound, ERROR_DOT, &t);
    ck_assert(!j.ok);
    ck_assert_uint_eq(j.wrong, 0);
    ck_assert(judge_bound(&t, real, bound, ERROR_ELEMENT, &t).ok);
}
END_TEST

enum { CLASSES = 4, DRAWS = 2000 };
static double even[2 * CLASSES] = { 0.25, 0.25, 0.25, 0.25, 0.7, 0.1, 0.1, 0.1 };
static double no_error[2];

/* Makes n draws in which class c has the frequency p[c], up to rounding. */
static void draw_evenly(const double *p, int32_t *to, int n)
{
    for (int i = 0; i < n; i++) {
        double x = (i + 0.5) / n;
        for (to[i] = 0; to[i] < CLASSES - 1 && x >= p[to[i]]; to[i]++)
            x -= p[to[i]];
    }
}

static struct judgement judge_draws(size_t rows, double tolerance, int32_t *draws)
{
    struct distribution o = { rows, CLASSES, even, no_error, 0 };
    struct tensor t = { DT_I32, { 2, { (uint32_t) rows, DRAWS } }, .data = draws };

    return judge_distribution(&o, tolerance, &t);
}

START_TEST(samples_are_judged_by_their_distribution)
{
    int32_t draws[2 * DRAWS];

    draw_evenly(even, draws, DRAWS);
    draw_evenly(even + CLASSES, draws + DRAWS, DRAWS);
    ck_assert(judge_draws(2, 0, draws).ok);
    ck_assert(judge_draws(2, 0.01, draws).ok);
    ck_assert_uint_eq(judge_draws(2, 0.01, draws).checked, 2 * CLASSES);
    /* The second row has the distribution of the first. */
    draw_evenly(even, draws + DRAWS, DRAWS);
    struct judgement j = judge_draws(2, 0, draws);
    ck_assert(!j.ok);
    ck_assert_uint_eq(j.worst, DRAWS);
    ck_assert_double_eq(j.expected, 0.7);
    ck_assert_double_eq(j.actual, 0.25);
    ck_assert(!judge_draws(2, 0.01, draws).ok);
}
END_TEST

/* In 2000 fair draws a class occurs 500 times, with a standard deviation of 19.4; with one false
 * alarm in 10^9 up to 635 are accepted. */
START_TEST(biased_samples_are_detected)
{
    int32_t draws[DRAWS];

    draw_evenly(even, draws, DRAWS);
    for (int i = 1500; i < 1600; i++)
        draws[i] = 0;
    ck_assert(judge_draws(1, 0, draws).ok);
    ck_assert(!judge_draws(1, 0.04, draws).ok);
    for (int i = 1600; i < 1640; i++)
        draws[i] = 0;
    ck_assert(!judge_draws(1, 0, draws).ok);
    draws[3] = CLASSES;
    ck_assert(!judge_draws(1, 1, draws).ok);
}
END_TEST

Suite *judge_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_test(t, cts_floats);
    tcase_add_test(t, cts_quantised_off_by_one);
    tcase_add_test(t, quantised_errors_are_told_in_steps);
    tcase_add_test(t, integers_of_64_bits_are_exact);
    tcase_add_test(t, shape_and_type_must_agree);
    tcase_add_test(t, bound_quantised_tie);
    tcase_add_test(t, bound_requires_saturation);
    tcase_add_test(t, bound_applies_before_saturation);
    tcase_add_test(t, quantised_nan_is_not_checked);
    tcase_add_test(t, bound_accepts_overflow_of_halves);
    tcase_add_test(t, bound_beyond_the_range_accepts_infinities);
    tcase_add_test(t, infinite_bounds_are_not_checked);
    tcase_add_test(t, dot_product_bias_is_detected);
    tcase_add_test(t, samples_are_judged_by_their_distribution);
    tcase_add_test(t, biased_samples_are_detected);
    return make_suite("judge", t, NULL);
}
