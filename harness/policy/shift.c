#include "harness/policy/shift.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *x, const void *y)
{
    double a = *(const double *) x, b = *(const double *) y;
    return (a > b) - (a < b);
}

static double middle(const double *sorted, uint32_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/* The median of the distances from the median.  They ascend to both sides of it, so that two
 * indexes that move outwards meet them in order. */
static double deviation(const double *sorted, uint32_t n, double median)
{
    uint32_t above = 0, left;
    double last = 0, before = 0;
    while (above < n && sorted[above] < median)
        above++;
    left = above;
    for (uint32_t i = 0; i <= n / 2; i++) {
        double low = left ? median - sorted[left - 1] : INFINITY;
        double high = above < n ? sorted[above] - median : INFINITY;
        before = last;
        last = low < high ? low : high;
        if (low < high)
            left--;
        else
            above++;
    }
    return n % 2 ? last : (before + last) / 2;
}

struct shift shift_of(double *log_ratio, uint32_t n, double threshold)
{
    static const double z = 2.5758293035489; /* 0.995 quantile of the normal distribution */
    struct shift s = { .n = n, .median = 1, .low = 1, .high = 1 };
    if (!n)
        return s;
    qsort(log_ratio, n, sizeof *log_ratio, by_value);
    double median = middle(log_ratio, n);
    s.median = exp(median);
    s.spread = deviation(log_ratio, n, median);
    s.low = s.high = NAN;
    if (n < SHIFT_LEAST)
        return s;
    /* The number of ratios below the true median is binomial with n and 1/2: the order statistics
     * that are z standard deviations from the middle enclose it. */
    double rank = floor(n / 2.0 - z * sqrt(n) / 2);
    uint32_t k = rank < 0 ? 0 : (uint32_t) rank;
    s.low = exp(log_ratio[k]);
    s.high = exp(log_ratio[n - 1 - k]);
    double least = sqrt(threshold);
    s.shifted = fabs(median) >= log(threshold) && (s.low > least || s.high < 1 / least);
    return s;
}
