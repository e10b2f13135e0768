/* Functions that the benchmarks share: time, medians, checked allocation. */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stddef.h>

/* CPU time of this thread in seconds, which other programs do not affect. */
double bench_now(void);
/* The median of n > 0 numbers, which it sorts. */
double bench_median(double *x, size_t n);
/* Returns p; exits the program with a message if p is NULL. */
void *bench_must(void *p);
/* Proportional set size (PSS) of a process in bytes; 0: it has ended. */
double bench_process_memory(long pid);

#endif
