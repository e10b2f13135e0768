/* gain_measure() and struct gain_sum: a right device has no finding, whatever its rounding; one
 * whose results are too large or too small by a tenth of a per cent has. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "golden/judge/gain.h"
#include "tests/support/check_main.h"
#include "tests/support/rounded.h"

enum { CASES = 300, N = 48 };

static double nearest(double x)
{
    return floor(x + 0.5);
}

/* As fixed-point code rounds: to half steps first. */
static double twice(double x)
{
    return floor(floor(2 * x + 0.5) / 2 + 0.5);
}

static double twice_away(double x)
{
    return copysign(twice(fabs(x)), x);
}

static double truncated_half(double x)
{
    double ulp = exp2(floor(log2(fabs(x))) - 10);

    return trunc(x / ulp) * ulp;
}

static const struct device {
    enum dtype type;
    double factor;
    double (*round)(double x);
    int verdict;
} devices[] = {
    { DT_S8, 1, nearest, 0 },           { DT_S8, 1, twice, 0 },
    { DT_S8, 1, twice_away, 0 },        { DT_U8, 1, nearest, 0 },
    { DT_S8, 1.003, nearest, 1 },       { DT_S8, 0.997, twice, -1 },
    { DT_U8, 1.003, twice, 1 },         { DT_F16, 1, rounded_half, 0 },
    { DT_F16, 1, truncated_half, 0 },   { DT_F16, 0.99, rounded_half, 0 },
    { DT_F16, 1.001, rounded_half, 1 },
};

/* The sum over cases, in this order or backwards, of results in a normal distribution. */
static struct gain_sum sum_of(const struct device *d, bool backwards)
{
    static double x[CASES * N * 12];
    struct gain_sum sum = { 0 };
    bool half = d->type == DT_F16;
    int32_t zero = d->type == DT_U8 ? 110 : -18;

    rounded_fill(7, -0.5, 0.5, rounded_single, x, sizeof x / sizeof *x);
    for (int k = 0; k < CASES; k++) {
        const double *from = x + (size_t) (backwards ? CASES - 1 - k : k) * N * 12;
        double real[N], bound[N], y[N];
        struct tensor t = { .dtype = d->type, .shape = { 1, { N } } };
        t.scale = half ? 0 : 0.25F;
        t.zero = half ? 0 : zero;
        for (int i = 0; i < N; i++) {
            double normal = 0;
            for (int j = 0; j < 12; j++)
                normal += from[i * 12 + j];
            real[i] = (half ? 3 : 40 * 0.25) * normal;
            bound[i] = half ? 18 * 0x1p-11 * (fabs(real[i]) + 1) : 0.75 * 0.25;
            y[i] = half ? d->round(real[i] * d->factor) : d->round(real[i] * d->factor * 4) / 4;
        }
        struct build b;
        build_init(&b, 1);
        struct tensor stored = t;
        stored.data = arena_alloc(b.arena, tensor_bytes(&t), 1);
        tensor_narrow(y, &stored);
        struct gain_sample s = gain_measure(&t, real, bound, &stored);
        gain_add(&sum, &s);
        build_done(&b);
    }
    return sum;
}

START_TEST(devices_are_told_apart)
{
    const struct device *d = &devices[_i];
    struct gain_sum sum = sum_of(d, false), again = sum_of(d, true);
    bool half = d->type == DT_F16;

    ck_assert_int_eq((int) sum.n, CASES);
    ck_assert_msg(gain_verdict(&sum, half) == d->verdict, "gain %g, excess %g and %g",
                  gain_of(&sum), (double) sum.more.sum, (double) sum.less.sum);
    if (d->verdict)
        ck_assert_double_eq_tol(gain_of(&sum), d->factor - 1, 0.2 * fabs(d->factor - 1));
    ck_assert_mem_eq(&sum, &again, sizeof sum); /* in any order */
}
END_TEST

/* One sample, and samples that are all alike but few, prove nothing. */
START_TEST(few_samples_are_not_certain)
{
    struct gain_sum sum = { 0 };
    const struct gain_sample s = { .product = 50, .square = 1000 };

    for (int i = 0; i < GAIN_DEVIATIONS * GAIN_DEVIATIONS; i++) {
        gain_add(&sum, &s);
        ck_assert_int_eq(gain_verdict(&sum, false), 0);
    }
    gain_add(&sum, &s);
    ck_assert_int_eq(gain_verdict(&sum, false), 1);
    ck_assert_double_eq_tol(gain_of(&sum), 0.05, 1e-9);
}
END_TEST

/* Results of less than ten steps of deviation, and what a driver may have left in a result. */
START_TEST(some_samples_do_not_count)
{
    const struct gain_sample bad[] = {
        { NAN, 1 }, { 1, NAN }, { 1, 0 }, { 1, -1 }, { INFINITY, 1 }
    };
    struct gain_sum sum = { 0 };
    const double real[] = { 1.2, 2.4, 3.3, 4.1, 5.4 }, bound[] = { 1, 1, 1, 1, 1 };
    uint8_t stored[] = { 1, 2, 3, 4, 5 };
    struct tensor t = { .dtype = DT_U8, .shape = { 1, { 5 } }, .scale = 1, .data = stored };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        gain_add(&sum, &bad[i]);
    ck_assert_int_eq((int) sum.n, 0);
    struct gain_sample s = gain_measure(&t, real, bound, &t);
    ck_assert(!gain_is_measured(&s));
}
END_TEST

Suite *gain_suite(void)
{
    TCase *t = tcase_create("gain");

    tcase_add_loop_test(t, devices_are_told_apart, 0, sizeof devices / sizeof *devices);
    tcase_add_test(t, few_samples_are_not_certain);
    tcase_add_test(t, some_samples_do_not_count);
    return make_suite("gain", t, NULL);
}
