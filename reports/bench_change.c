#include "reports/bench_change.h"

#define LEAST_CHANGE 1.01

const char *const bench_change_name[] = {
    [BENCH_UNKNOWN] = "not known",
    [BENCH_SAME] = "same",
    [BENCH_FASTER] = "faster",
    [BENCH_SLOWER] = "slower",
};

enum bench_change bench_change_of(const struct bench_median *before, const struct bench_median *now)
{
    if (before->parts < BENCH_LEAST_PARTS || now->parts < BENCH_LEAST_PARTS)
        return BENCH_UNKNOWN;
    if (now->low > before->high && now->median >= before->median * LEAST_CHANGE)
        return BENCH_SLOWER;
    if (now->high < before->low && before->median >= now->median * LEAST_CHANGE)
        return BENCH_FASTER;
    return BENCH_SAME;
}
