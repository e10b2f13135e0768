/* Small systematic errors of sums of products: results that are too large or too small by a common
 * factor, each well inside its bound (docs/judging.md).
 *
 * Of one output, x is the magnitude of a result and e its error, positive away from zero, and their
 * regression e = intercept + gain * x is kept as two sums.  Samples of many outputs are added up by
 * struct gain_sum, which decides.  Its sums are integers: their order does not matter. */
#ifndef GOLDEN_GAIN_H
#define GOLDEN_GAIN_H

#include "golden/model/tensor.h"

/* One output: gain = product / square, with weights w of its elements: sums of w * e and of w * x.
 * square 0: nothing could be measured. */
struct gain_sample {
    double product, square;
};

/* reference: type and quantisation; real, bound: as in struct result; actual: its real values.
 *
 * Floats: x and e are multiples of the element's bound; w = x, since a right device has no
 * intercept. Quantised: x and e are in steps; w is x less its mean among the elements of the same
 * sign, since rounding twice or half up shifts all of them.  Elements that are saturated, or the
 * smallest or largest (they may be clamped), do not count, and less than ten steps of deviation
 * measure nothing: the rounding error of such results depends on them. */
struct gain_sample gain_measure(const struct tensor *reference, const double *real,
                                const double *bound, const struct tensor *actual);

/* Whether it has a value; one that a driver in the worker's process has written to may have any. */
bool gain_is_measured(const struct gain_sample *s);

/* What exceeds the allowed gain, in fractions of 2^-20. */
struct gain_excess {
    int64_t sum, squares;
};

/* Samples of independent cases. */
struct gain_sum {
    uint64_t n;
    int64_t product, square; /* of the gain, in fractions of 2^-4 */
    struct gain_excess more, less;
};

/* The allowed gain: multipliers of 16 bits have finer errors. */
#define GAIN_ALLOWED 0x1p-12

void gain_add(struct gain_sum *sum, const struct gain_sample *sample);
double gain_of(const struct gain_sum *sum);
enum { GAIN_DEVIATIONS = 8 };
/* 1: the results are too large, -1: too small, 0: neither is certain.  may_truncate: results may be
 * too small, as those of floats, whose sums may be truncated.
 *
 * The samples of a right device are independent and, less the allowed gain, as often below zero as
 * above, or more often.  Then their sum exceeds z = GAIN_DEVIATIONS times the root of the sum of
 * their squares with probability at most exp(-z^2 / 2), 1.3e-14, and never with fewer than z^2
 * samples. */
int gain_verdict(const struct gain_sum *sum, bool may_truncate);

#endif
