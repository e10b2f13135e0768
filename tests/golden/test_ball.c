/* Errors of normalised values: whatever the values are within theirs, what is made of them lies
 * within the bound; and where the errors are small, the worst of them comes near it. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "golden/judge/ball.h"
#include "tests/support/check_main.h"

enum { MOST = 9, EXAMPLES = 400, TURNS = 40 };

static const double unit = 0x1p-24, factor = 6, added = 1e-8;
static uint32_t seed;

/* [-1, 1) */
static double draw(void)
{
    seed = seed * 1664525 + 1013904223;
    return (double) (seed >> 8) / 0x1p23 - 1;
}

/* epsilon: what is added to the variance, or 0 */
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
    double x[MOST], e[MOST]; /* operands */
    double y[MOST], bound[MOST];
};

/* share: the largest error, of a reach of the values of 1 */
static void make(struct example *t, size_t n, double reach, double share)
{
    double scratch[MOST];
    struct ball_array a = { t->y, t->bound };

    t->n = n;
    for (size_t i = 0; i < n; i++) {
        t->y[i] = t->x[i] = reach * (2 * draw() + 1);
        t->bound[i] = t->e[i] = reach * share * fabs(draw());
    }
    ball_normalise(&a, n, unit, factor, scratch);
}

/* Which way value i moves with value j (numerically). */
static double sign_of(const struct example *t, size_t i, size_t j, double reach)
{
    double moved[MOST], y[MOST];

    memcpy(moved, t->x, sizeof moved);
    moved[j] += 1e-6 * reach;
    normalise(moved, t->n, added, y);
    return y[i] > t->y[i] ? 1 : -1;
}

/* The largest share of its bound by which result i is off, in the two corners that move it most to
 * first order, and in some others. */
static double worst(const struct example *t, size_t i, double reach, double epsilon)
{
    double moved[MOST], y[MOST], sign[MOST], share = 0;

    for (size_t j = 0; j < t->n; j++)
        sign[j] = sign_of(t, i, j, reach);
    for (int turn = 0; turn < TURNS; turn++) {
        for (size_t j = 0; j < t->n; j++) {
            double s = turn < 2 ? (turn ? -sign[j] : sign[j]) : draw() > 0 ? 1 : -1;
            moved[j] = t->x[j] + s * t->e[j];
        }
        normalise(moved, t->n, epsilon, y);
        share = fmax(share, fabs(y[i] - t->y[i]) / t->bound[i]);
    }
    return share;
}

/* least: what the worst error must be of its bound */
static void try_share(double reach, double share, double epsilon, double least)
{
    struct example t;

    seed = 7;
    for (int k = 0; k < EXAMPLES; k++) {
        double most = 0;
        make(&t, (size_t) (2 + k % (MOST - 1)), reach, share);
        for (size_t i = 0; i < t.n; i++)
            most = fmax(most, worst(&t, i, reach, epsilon));
        ck_assert_msg(most <= 1, "example %d: %g times the bound", k, most);
        ck_assert_msg(most >= least || t.n == 2, "example %d: at most %g of the bound", k, most);
    }
}

START_TEST(normalised_errors_lie_within)
{
    try_share(1, 2, added, 0);
    try_share(1, 0.5, added, 0);
    try_share(1, 0.05, added, 0);
}
END_TEST

/* Two values that differ are always 1 and -1: for them there is no error of first order. */
START_TEST(small_errors_come_near_the_bound)
{
    try_share(1, 0.002, added, 0.7);
}
END_TEST

/* Where the variance is far below what the reference adds to it, others make numbers of the usual
 * size of it. */
START_TEST(others_add_nothing)
{
    try_share(1, 0.05, 0, 0);
    try_share(1e-7, 0.05, 0, 0);
    try_share(1e-7, 0.05, added, 0);
}
END_TEST

Suite *ball_suite(void)
{
    TCase *t = tcase_create("normalise");

    tcase_add_test(t, normalised_errors_lie_within);
    tcase_add_test(t, small_errors_come_near_the_bound);
    tcase_add_test(t, others_add_nothing);
    return make_suite("ball", t, NULL);
}
