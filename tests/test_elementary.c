/* Elementary functions: close to the C library's, and the same bits everywhere. */
#include <check.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "golden/elementary.h"

static double ulps_apart(double x, double y)
{
    double ulp = nextafter(fabs(y), INFINITY) - fabs(y);
    return x == y ? 0 : fabs(x - y) / ulp;
}

static void compare(double (*f)(double), double (*library)(double), double lo, double hi)
{
    double step = (hi - lo) / 100000;

    for (double x = lo; x < hi; x += step)
        ck_assert_msg(ulps_apart(f(x), library(x)) <= 4, "at %a: %a, not %a", x, f(x), library(x));
}

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

START_TEST(bits_are_pinned)
{
    ck_assert_uint_eq(bits_hash(elementary_exp, -20, 0x1p-8), 2836765131767966294u);
    ck_assert_uint_eq(bits_hash(elementary_tanh, -20, 0x1p-8), 4046951858636152365u);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("elementary");
    TCase *t = tcase_create("functions");

    tcase_add_test(t, agrees_with_the_library);
    tcase_add_test(t, special_values);
    tcase_add_test(t, bits_are_pinned);
    suite_add_tcase(s, t);
    SRunner *r = srunner_create(s);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
