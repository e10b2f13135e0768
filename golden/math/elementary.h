/* Elementary functions in double precision, built from basic arithmetic alone: the C library's may
 * differ in the last bit between machines, and the reference must not.  Results are within one ulp
 * of the true value (expm1: 2, tanh: 4); tests compare them with the C library and pin the bits. */
#ifndef GOLDEN_ELEMENTARY_H
#define GOLDEN_ELEMENTARY_H

#include <float.h>
#include <stddef.h>

double elementary_exp(double x);
double elementary_expm1(double x);
double elementary_tanh(double x);
double elementary_log(double x);
/* As in IEEE 754: pow(x, 0) = pow(1, y) = 1 even for NaN; NaN for x < 0 and a fractional y. */
double elementary_pow(double x, double y);
double elementary_sin(double x);

/* The same bits for each of n numbers, several of them at a time where the processor can; x and
 * ret_y do not overlap. */
void elementary_exp_all(const double *x, size_t n, double *ret_y);
void elementary_logistic_all(const double *x, size_t n, double *ret_y); /* 1 / (1 + exp(-x)) */
void elementary_log_all(const double *x, size_t n, double *ret_y);
void elementary_pow_all(const double *x, double y, size_t n, double *ret_y); /* of x[i]^y */

/* A sum of exponentials, represented as sum * exp(top) because single terms may overflow or
 * underflow; its logarithm is elementary_log(sum) + top.  Starts as ELEMENTARY_EXP_SUM_EMPTY;
 * elementary_add_exp() adds exp(x), x finite. */
struct elementary_exp_sum {
    double top, sum;
};
#define ELEMENTARY_EXP_SUM_EMPTY ((struct elementary_exp_sum){ -DBL_MAX, 0 })
void elementary_add_exp(struct elementary_exp_sum *s, double x);

#endif
