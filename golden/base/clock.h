/* Clocks, in whole nanoseconds. */
#ifndef GOLDEN_CLOCK_H
#define GOLDEN_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
}

/* CLOCK_MONOTONIC: the clock to use unless the HAL prescribes another. */
static inline uint64_t clock_steady_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

/* a + b, at most UINT64_MAX. */
static inline uint64_t clock_sum(uint64_t a, uint64_t b)
{
    return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

#endif
