/* Judging random outputs by their distribution.
 *
 * Of n draws with probability p each, the frequency f of hits is at least (at most) a with
 * probability at most exp(-n d(a, p)), where d is the divergence a ln(a / p) + (1 - a)
 * ln((1 - a) / (1 - p)) (Chernoff).  The same holds for the mean of unequal probabilities
 * (Hoeffding), which applies to all rows together.  A result is wrong if this probability, times
 * the number of frequencies tested and times two for both sides, is less than false_alarm. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "golden/judge/judge.h"
#include "golden/math/elementary.h"

static const double false_alarm = 1e-9;

/* The parameters of one judgement. */
struct test {
    const struct distribution *distribution;
    double tolerance, limit; /* tolerance: of |f - p|, if > 0; else limit: of n d(f, p) */
    struct judgement *j;
};

static double divergence(double a, double p)
{
    double d = 0;

    if (a > 0)
        d += p > 0 ? a * elementary_log(a / p) : INFINITY;
    if (a < 1)
        d += p < 1 ? (1 - a) * elementary_log((1 - a) / (1 - p)) : INFINITY;
    return d;
}

/* Judges one frequency, `hits` of n.  at: index of its first draw. */
static void judge_frequency(struct test *t, double hits, double n, double p, double relative,
                            size_t at)
{
    double slack = p > 0 ? p * relative + t->distribution->absolute : 0;
    double lo = fmax(p - slack, 0), hi = fmin(p + slack, 1), f = hits / n;
    double closest = f < lo ? lo : f > hi ? hi : f; /* to f, among those within the errors of p */
    double ratio =
        t->tolerance > 0 ? fabs(f - p) / t->tolerance : n * divergence(f, closest) / t->limit;
    struct judgement *j = t->j;

    if (ratio > 1)
        j->wrong++;
    if (!(ratio <= j->ratio) || j->checked == 0) {
        j->worst = at;
        j->expected = p;
        j->actual = f;
        j->bound = t->tolerance > 0 ? t->tolerance : fabs(f - p) / fmax(ratio, 1e-300);
        j->ratio = ratio;
    }
    j->checked++;
}

static void judge_all_rows(struct test *t, size_t n, const size_t *hits)
{
    const struct distribution *o = t->distribution;
    double rows = (double) o->rows, relative = 0;

    for (size_t row = 0; row < o->rows; row++)
        relative = fmax(relative, o->relative[row]);
    for (size_t k = 0; k < o->classes; k++) {
        double p = 0;
        for (size_t row = 0; row < o->rows; row++)
            p += o->p[row * o->classes + k] / rows;
        judge_frequency(t, (double) hits[k], rows * (double) n, p, relative, 0);
    }
}

static void judge_rows(struct test *t, const int32_t *draw, size_t n, size_t *hits)
{
    const struct distribution *o = t->distribution;
    size_t *all = hits + o->classes;

    for (size_t row = 0; row < o->rows; row++, draw += n) {
        for (size_t k = 0; k < o->classes; k++)
            hits[k] = 0;
        for (size_t i = 0; i < n; i++) {
            if (draw[i] < 0 || (size_t) draw[i] >= o->classes) {
                snprintf(t->j->why, sizeof t->j->why, "row %zu has a class outside 0..%zu", row,
                         o->classes - 1);
                return;
            }
            hits[draw[i]]++;
        }
        for (size_t k = 0; k < o->classes; k++) {
            judge_frequency(t, (double) hits[k], (double) n, o->p[row * o->classes + k],
                            o->relative[row], row * n);
            all[k] += hits[k];
        }
    }
    if (o->rows > 1 && t->tolerance == 0)
        judge_all_rows(t, n, all);
}

struct judgement judge_distribution(const struct distribution *distribution, double tolerance,
                                    const struct tensor *actual)
{
    struct judgement j = { 0 };
    double frequencies = ((double) distribution->rows + 1) * (double) distribution->classes;
    struct test t = { distribution, tolerance, elementary_log(2 * frequencies / false_alarm), &j };
    bool fits = actual->dtype == DT_I32 && actual->shape.rank == 2 &&
                actual->shape.dim[0] == distribution->rows;
    size_t n = fits ? actual->shape.dim[1] : 0;
    size_t *hits = calloc(2 * distribution->classes + 1, sizeof *hits);

    if (!fits)
        snprintf(j.why, sizeof j.why, "expected a TENSOR_INT32 of %zu rows of draws",
                 distribution->rows);
    else if (!hits)
        snprintf(j.why, sizeof j.why, "out of memory");
    else if (n > 0)
        judge_rows(&t, actual->data, n, hits);
    free(hits);
    j.ok = j.wrong == 0 && !j.why[0];
    if (j.wrong)
        snprintf(j.why, sizeof j.why,
                 "%zu of %zu frequencies wrong; worst: %.6g where the probability is %.6g, "
                 "%.3g times the limit",
                 j.wrong, j.checked, j.actual, j.expected, j.ratio);
    return j;
}
