/* What benchmarks share: time, medians, memory that must be there. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stddef.h>

/* Seconds of this thread: on a busy machine other programs do not count. */
double bench_now(void);
/* Sorts the numbers. */
double bench_median(double *x, size_t n);
/* Ends the program when there is no memory. */
void *bench_must(void *p);

#endif
