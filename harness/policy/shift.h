/* Whether a quantity that varies from run to run has changed: the median of the ratios of many
 * cases, with a 99 % confidence interval that assumes nothing about their distribution. */
#ifndef HARNESS_SHIFT_H
#define HARNESS_SHIFT_H

#include <stdbool.h>
#include <stdint.h>

/* Below so many ratios there is no interval and nothing counts as shifted. */
enum { SHIFT_LEAST = 10 };

struct shift {
    uint32_t n;
    double median, low, high; /* factors; all 1 for n = 0, low and high NaN for few */
    double spread;            /* median absolute deviation of the logarithms */
    bool shifted; /* the median differs by `threshold`, the whole interval by its square root */
};

/* log_ratio: n natural logarithms of after / before, which it sorts.  threshold: a factor > 1. */
struct shift shift_of(double *log_ratio, uint32_t n, double threshold);

#endif
