/* ball_normalise(): with operands moved anywhere within their errors, the normalised values stay
 * within the bound, and for small errors the worst one comes close to the bound, so that the bound
 * is not needlessly large. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/judge/ball.h"
#include "tests/support/check_main.h"

enum { MAX_VALUES = 9, EXAMPLES = 400, TURNS = 40 };

static const double unit = 0x1p-24, factor = 6, added = 1e-8;
static uint32_t seed;

/* Uniform in [-1, 1). */
static double draw(void)
{
    seed = seed * 1664525 + 1013904223;
    return (double) (seed >> 8) / 0x1p23 - 1;
}

/* epsilon: added to the variance; may be 0 */
static void normalise(const double *x, size_t n, double epsilon, double *ret_y)
{
    double mean = 0, variance = 0;

    for (size_t i = 0; i < n; i++)
        mean += x[i] / (double) n;
    for (size_t i = 0; i < n; i++)
        variance += (x[i] - mean) * (x[i] - mean) / (double) n;
    for (size_t i = 0; i < n; i++)
        ret_y[i] = (x[i] - mean) / sqrt(variance + epsilon);
}

struct example {
    size_t n;
    double x[MAX_VALUES], e[MAX_VALUES]; /* operands */
    double y[MAX_VALUES], bound[MAX_VALUES];
};

/* Values of magnitude `reach` with errors of up to reach * relative, and the bounds of the result.
 */
static void make(struct example *t, size_t n, double reach, double relative)
{
    double scratch[MAX_VALUES];
    struct ball_array a = { t->y, t->bound };

    t->n = n;
    for (size_t i = 0; i < n; i++) {
        t->y[i] = t->x[i] = reach * (2 * draw() + 1);
        t->bound[i] = t->e[i] = reach * relative * fabs(draw());
    }
    ball_normalise(&a, n, unit, factor, scratch);
}

/* Sign of the derivative of result i by value j, by a finite difference. */
static double sign_of(const struct example *t, size_t i, size_t j, double reach)
{
    double moved[MAX_VALUES], y[MAX_VALUES];

    memcpy(moved, t->x, sizeof moved);
    moved[j] += 1e-6 * reach;
    normalise(moved, t->n, added, y);
    return y[i] > t->y[i] ? 1 : -1;
}

/* The largest error of result i, divided by its bound, over the two corners of the error box that
 * move it most to first order and TURNS - 2 random corners. */
static double worst_ratio(const struct example *t, size_t i, double reach, double epsilon)
{
    double moved[MAX_VALUES], y[MAX_VALUES], sign[MAX_VALUES], ratio = 0;

    for (size_t j = 0; j < t->n; j++)
        sign[j] = sign_of(t, i, j, reach);
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t j = 0; j < t->n; j++) {
            double s = turn < 2 ? (turn ? -sign[j] : sign[j]) : draw() > 0 ? 1 : -1;
            moved[j] = t->x[j] + s * t->e[j];
        }
        normalise(moved, t->n, epsilon, y);
        ratio = fmax(ratio, fabs(y[i] - t->y[i]) / t->bound[i]);
    }
    return ratio;
}

/* Checks EXAMPLES examples with errors of up to reach * relative: the worst error, divided by its
 * bound, must be at most 1 and at least `least`. */
static void check_errors(double reach, double relative, double epsilon, double least)
{
    struct example t;

    seed = 7;
    for (int k = 0; k < EXAMPLES; k++) {
        double most = 0;
        make(&t, (size_t) (2 + k % (MAX_VALUES - 1)), reach, relative);
        for (size_t i = 0; i < t.n; i++)
            most = fmax(most, worst_ratio(&t, i, reach, epsilon));
        ck_assert_msg(most <= 1, "example %d: %g times the bound", k, most);
        ck_assert_msg(most >= least || t.n == 2, "example %d: worst error only %g of the bound", k,
                      most);
    }
}

START_TEST(normalised_errors_stay_within_the_bound)
{
    check_errors(1, 2, added, 0);
    check_errors(1, 0.5, added, 0);
    check_errors(1, 0.05, added, 0);
}
END_TEST

/* Two values are not checked for closeness: they normalise to 1 and -1, without an error of first
 * order. */
START_TEST(small_errors_come_near_the_bound)
{
    check_errors(1, 0.002, added, 0.7);
}
END_TEST

/* Implementations that add no epsilon to the variance stay within the bound too, even if the
 * variance is far below the epsilon of the reference. */
START_TEST(omitted_epsilon_is_within_the_bound)
{
    check_errors(1, 0.05, 0, 0);
    check_errors(1e-7, 0.05, 0, 0);
    check_errors(1e-7, 0.05, added, 0);
}
END_TEST

Suite *ball_suite(void)
{
    TCase *t = tcase_create("normalise");

    tcase_add_test(t, normalised_errors_stay_within_the_bound);
    tcase_add_test(t, small_errors_come_near_the_bound);
    tcase_add_test(t, omitted_epsilon_is_within_the_bound);
    return make_suite("ball", t, NULL);
}
