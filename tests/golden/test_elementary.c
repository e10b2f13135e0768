/* Elementary functions: their distance from the C library's, and their exact bits, which must not
 * depend on machine or compiler.  Accuracy of fixed-point functions. */
#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "golden/math/elementary.h"
#include "golden/math/fixed_point.h"
#include "tests/support/check_main.h"

static double ulps_apart(double x, double y)
{
    double ulp = nextafter(fabs(y), INFINITY) - fabs(y);
    return x == y ? 0 : fabs(x - y) / ulp;
}

static void compare(double (*f)(double), double (*library)(double), double lo, double hi)
{
    double step = (hi - lo) / 100000;

    for (double x = lo; x < hi; x += step)
        ck_assert_msg(ulps_apart(f(x), library(x)) <= 4, "at %a: %a, expected %a", x, f(x),
                      library(x));
}

/* Takes the library's long double functions as true values. */
static void compare_long(double (*f)(double), long double (*library)(long double), double lo,
                         double hi, double ulps)
{
    double step = (hi - lo) / 50000;

    for (double x = lo; x < hi; x += step) {
        long double y = library(x);
        double ulp = nextafter(fabs((double) y), INFINITY) - fabs((double) y);
        ck_assert_msg(fabsl(f(x) - y) <= ulps * ulp, "at %a: %a, expected %La", x, f(x), y);
    }
}

/* Number i of a fixed sequence of numbers of all magnitudes. */
static double scattered(uint64_t i)
{
    uint64_t bits = (i + 1) * 0x9e3779b97f4a7c15u >> 1;
    double x;

    bits = (bits ^ bits >> 29) * 0xbf58476d1ce4e5b9u >> 1;
    memcpy(&x, &bits, sizeof x);
    return isfinite(x) ? x : 1;
}

START_TEST(within_an_ulp_or_two)
{
    compare_long(elementary_exp, expl, -700, 709.75, 1);
    compare_long(elementary_expm1, expm1l, -45, 709.75, 2);
    compare_long(elementary_expm1, expm1l, -1, 1, 2);
    compare_long(elementary_log, logl, 1e-300, 1e-299, 1);
    compare_long(elementary_log, logl, 0.001, 3, 1);
    compare_long(elementary_log, logl, 1 - 1e-9, 1 + 1e-9, 1);
    compare_long(elementary_log, logl, 4e-320, 1e-318, 1);
    compare_long(elementary_sin, sinl, -40, 40, 1);
    compare_long(elementary_sin, sinl, 3.1415926, 3.1415927, 1);
    compare_long(elementary_sin, sinl, 1e15, 1.1e15, 1);
    for (uint64_t i = 0; i < 100000; i++) {
        double x = scattered(i), s = elementary_sin(x), l = elementary_log(x);
        ck_assert_msg(fabsl(s - sinl(x)) <= 0x1p-52L * fabsl(sinl(x)), "sin(%a) = %a", x, s);
        ck_assert_msg(fabsl(l - logl(x)) <= 0x1p-52L * fabsl(logl(x)), "log(%a) = %a", x, l);
    }
    /* The double that is closest to a multiple of pi/2. */
    ck_assert_double_eq(elementary_sin(0x1.6ac5b262ca1ffp+849), 1);
    ck_assert_double_eq(elementary_sin(0x1.6ac5b262ca1ffp+850), -0x1.14ae72e6ba22fp-60);
}
END_TEST

START_TEST(powers)
{
    for (uint64_t i = 0; i < 100000; i++) {
        double x = fabs(scattered(i)), y = (double) (i % 2001) / 1000 - 1 + 0x1p-40;
        long double p = powl(x, y);
        ck_assert_msg(fabsl(elementary_pow(x, y) - p) <= 0x1p-53L * 1.01L * p, "%a ^ %a = %a", x, y,
                      elementary_pow(x, y));
    }
    for (double x = 1; x < 5000; x += 7)
        for (double y = 0; y <= 4; y++) /* a power of integers that is exact */
            ck_assert_double_eq(elementary_pow(-x, y), (double) powl(-x, y));
    ck_assert_double_eq(elementary_pow(2, 1023.5), 0x1.6a09e667f3bcdp1023);
    ck_assert_double_eq(elementary_pow(2, -1074), 0x1p-1074);
}
END_TEST

START_TEST(special_powers)
{
    const double value[] = { 0,          -0.0,
                             1,          -1,
                             2,          -2,
                             0.5,        -0.5,
                             3,          -3,
                             INFINITY,   -INFINITY,
                             NAN,        1e300,
                             -1e300,     1e-300,
                             1e18,       2.5,
                             -2.5,       0x1p53,
                             0x1p53 + 2, 0x1.fffffffffffffp-1 };
    const int n = sizeof value / sizeof value[0];

    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double x = value[i], y = value[k], got = elementary_pow(x, y), want = pow(x, y);
            bool same = isnan(want) ? isnan(got)
                                    : ulps_apart(got, want) <= 1 && signbit(got) == signbit(want);
            ck_assert_msg(same, "%g ^ %g = %g, expected %g", x, y, got, want);
        }
}
END_TEST

START_TEST(agrees_with_the_library)
{
    compare(elementary_exp, exp, -745.5, 709.75);
    compare(elementary_exp, exp, -1, 1);
    compare(elementary_exp, exp, -1e-9, 1e-9);
    compare(elementary_tanh, tanh, -22, 22);
    compare(elementary_tanh, tanh, -0.5, 0.5);
    compare(elementary_tanh, tanh, 1e-300, 1e-290);
}
END_TEST

START_TEST(special_values)
{
    ck_assert(elementary_exp(0) == 1 && elementary_exp(-INFINITY) == 0);
    ck_assert(elementary_exp(INFINITY) == INFINITY && elementary_exp(709.8) == INFINITY);
    ck_assert(isnan(elementary_exp(NAN)) && isnan(elementary_tanh(NAN)));
    ck_assert(elementary_tanh(INFINITY) == 1 && elementary_tanh(-INFINITY) == -1);
    ck_assert(elementary_tanh(0) == 0 && signbit(elementary_tanh(-0.0)));
    ck_assert(isnan(elementary_log(-1)) && isnan(elementary_log(NAN)));
    ck_assert(elementary_log(0) == -INFINITY && elementary_log(INFINITY) == INFINITY);
    ck_assert(elementary_log(1) == 0 && elementary_expm1(-INFINITY) == -1);
    ck_assert(isnan(elementary_sin(INFINITY)) && signbit(elementary_sin(-0.0)));
    ck_assert(isnan(elementary_expm1(NAN)) && signbit(elementary_expm1(-0.0)));
}
END_TEST

static uint64_t bits_hash(double (*f)(double), double lo, double step)
{
    uint64_t hash = 14695981039346656037u, bits;

    for (int i = 0; i < 10000; i++) {
        double y = f(lo + i * step);
        memcpy(&bits, &y, sizeof bits);
        hash = (hash ^ bits) * 1099511628211u;
    }
    return hash;
}

static double cube(double x)
{
    return elementary_pow(fabs(x), x / 8 + 3);
}

START_TEST(bits_are_pinned)
{
    ck_assert_uint_eq(bits_hash(elementary_exp, -20, 0x1p-8), 2836765131767966294u);
    ck_assert_uint_eq(bits_hash(elementary_tanh, -20, 0x1p-8), 4046951858636152365u);
    ck_assert_uint_eq(bits_hash(elementary_expm1, -20, 0x1p-8), 5318046508512236263u);
    ck_assert_uint_eq(bits_hash(elementary_log, 0x1p-9, 0x1p-8), 424206433177806025u);
    ck_assert_uint_eq(bits_hash(elementary_sin, -20, 0x1p-8), 10087486073064402426u);
    ck_assert_uint_eq(bits_hash(cube, -20, 0x1p-8), 8260211925527800509u);
}
END_TEST

static int16_t logistic(int16_t x, int bits)
{
    (void) bits;
    return fixed_logistic(x);
}

static void check_drop(int16_t (*f)(int16_t, int), int bits)
{
    int largest = INT16_MIN;

    for (int x = INT16_MIN; x <= INT16_MAX; x++) {
        int y = f((int16_t) x, bits);
        largest = y > largest ? y : largest;
        ck_assert_msg(largest - y <= FIXED_ACTIVATION_DROP, "%d bits, at %d: %d after %d", bits, x,
                      y, largest);
    }
}

/* --- of many numbers at once: the bits of each alone */

enum { MANY = 1003 };

static void expect_bits(const double *x, const double *y, double (*f)(double x, double power),
                        double power)
{
    for (int i = 0; i < MANY; i++) {
        double expected = f(x[i], power);
        ck_assert_msg(!memcmp(&y[i], &expected, sizeof expected), "%a (%a): %a, expected %a", x[i],
                      power, y[i], expected);
    }
}

static double one_exp(double x, double unused)
{
    (void) unused;
    return elementary_exp(x);
}

static double one_logistic(double x, double unused)
{
    (void) unused;
    return 1 / (1 + elementary_exp(-x));
}

static double one_log(double x, double unused)
{
    (void) unused;
    return elementary_log(x);
}

START_TEST(many_have_the_bits_of_one)
{
    static const double special[] = { 0.0,
                                      -0.0,
                                      INFINITY,
                                      -INFINITY,
                                      NAN,
                                      -NAN,
                                      710,
                                      709.9,
                                      -746,
                                      -745.5,
                                      -744.4,
                                      -708.5,
                                      0x1p-60,
                                      0x1p-1022,
                                      0x1p-1074,
                                      1,
                                      0x1.6a09e667f3bcdp-1,
                                      711,
                                      -747,
                                      1e300,
                                      -1e300,
                                      2,
                                      -2 };
    static const double exponents[] = { -0.75, 0.5, 3, -1, 0, 1e5, -0x1p70, NAN, INFINITY };
    double x[MANY], y[MANY];

    for (int round = 0; round < 4; round++) { /* of all magnitudes, +-32, +-700, near 1 */
        for (int i = 0; i < MANY; i++) {
            double unit = remainder(scattered((uint64_t) i), 1);
            x[i] = round == 0   ? scattered((uint64_t) i) * (i % 3 ? 1 : -1)
                   : round == 1 ? 64 * (i / (double) MANY - 0.5)
                   : round == 2 ? 1500 * (i / (double) MANY - 0.5)
                                : 1 + unit * 0x1p-10;
        }
        for (int i = 0; round == 0 && i < (int) (sizeof special / sizeof *special); i++)
            x[i] = special[i];
        elementary_exp_all(x, MANY, y);
        expect_bits(x, y, one_exp, 0);
        elementary_logistic_all(x, MANY, y);
        expect_bits(x, y, one_logistic, 0);
        elementary_log_all(x, MANY, y);
        expect_bits(x, y, one_log, 0);
        for (int i = 0; i < (int) (sizeof exponents / sizeof *exponents); i++) {
            elementary_pow_all(x, exponents[i], MANY, y);
            expect_bits(x, y, elementary_pow, exponents[i]);
        }
    }
}
END_TEST

START_TEST(fixed_activations_are_nearly_monotone)
{
    check_drop(logistic, 0);
    for (int bits = 0; bits <= 6; bits++)
        check_drop(fixed_tanh, bits);
}
END_TEST

START_TEST(fixed_inverse_root_is_accurate)
{
    for (int64_t x = 1; x <= INT32_MAX; x += x / 30000 + 1) {
        struct fixed_factor f = fixed_inverse_root((int32_t) x);
        double root = ldexp(f.mantissa, f.shift - 31) * sqrt((double) x);
        ck_assert_msg(fabs(root - 1) < 0x1p-16, "at %d: %a", (int) x, root);
    }
}
END_TEST

Suite *elementary_suite(void)
{
    TCase *t = tcase_create("functions");

    tcase_add_test(t, agrees_with_the_library);
    tcase_add_test(t, within_an_ulp_or_two);
    tcase_add_test(t, powers);
    tcase_add_test(t, special_powers);
    tcase_add_test(t, special_values);
    tcase_add_test(t, bits_are_pinned);
    tcase_add_test(t, many_have_the_bits_of_one);
    tcase_add_test(t, fixed_activations_are_nearly_monotone);
    tcase_add_test(t, fixed_inverse_root_is_accurate);
    return make_suite("elementary", t, NULL);
}
