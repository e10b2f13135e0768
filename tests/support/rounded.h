/* Values rounded to single or to half precision, as devices compute them, and their judgement. */
#ifndef TESTS_ROUNDED_H
#define TESTS_ROUNDED_H

#include "golden/model/build.h"

/* x rounded to the nearest float, or to the nearest IEEE half. */
double rounded_single(double x);
double rounded_half(double x);
/* Fills x with n values, uniform in [lo, hi), rounded by r.  They depend on the seed only. */
void rounded_fill(uint32_t seed, double lo, double hi, double (*r)(double x), double *x, size_t n);

/* A tensor of the values x narrowed to the type; its data belongs to the builder's arena. */
struct tensor rounded_tensor(struct build *b, enum dtype type, struct shape shape, const double *x);
/* Judges y as output i of a run with bounds (judge_result()); y has that output's shape. */
struct judgement rounded_judge(struct build *b, const struct result *r, uint32_t i,
                               const double *y);

#endif
