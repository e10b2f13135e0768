/* Numbers as devices have them: rounded to single precision or to half. */
#ifndef TESTS_ROUNDED_H
#define TESTS_ROUNDED_H

#include "tests/support/build.h"

double rounded_single(double x);
double rounded_half(double x);
/* Uniform in [lo, hi), rounded by r; a seed gives the same at every run. */
void rounded_fill(uint32_t seed, double lo, double hi, double (*r)(double x), double *x, size_t n);

/* Narrowed to the type, in the builder's arena. */
struct tensor rounded_tensor(struct build *b, enum dtype type, struct shape shape, const double *x);
/* What a run with bounds says of y as its output i. */
struct judgement rounded_judge(struct build *b, const struct result *r, uint32_t i,
                               const double *y);

#endif
