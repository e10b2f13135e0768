/* When a time that `halcyon bench` measured has changed: in the text of the command and in the
 * report. */
#ifndef REPORTS_BENCH_CHANGE_H
#define REPORTS_BENCH_CHANGE_H

#include <stdint.h>

/* Durations of a measurement in their order, in up to ten parts of equal size: the least and the
 * greatest of the medians of the parts are its noise, which has also what drifts while it lasts. */
enum { BENCH_PARTS = 10, BENCH_LEAST_PARTS = 5 };
struct bench_median {
    double median, low, high; /* of all; of the parts; ns */
    int64_t parts;            /* 0: the measurement has no noise: of an older version, or none */
};

enum bench_change {
    BENCH_UNKNOWN, /* one of them has fewer than BENCH_LEAST_PARTS */
    BENCH_SAME,
    BENCH_FASTER,
    BENCH_SLOWER
};
extern const char *const bench_change_name[]; /* "slower" */

/* Slower: the median is at least 1 % greater, and every part is slower than every part before.  Of
 * ten and ten parts that do not differ, this is so by chance once in 184,756 times. */
enum bench_change bench_change_of(const struct bench_median *before,
                                  const struct bench_median *now);

#endif
