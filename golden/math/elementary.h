/* Elementary functions in double precision, from basic arithmetic alone: the C library's may differ
 * in the last bit from machine to machine, and the reference must not.  Within an ulp of the true
 * value (expm1: 2, tanh: 4); tests compare them with the C library and pin their bits. */
#ifndef GOLDEN_ELEMENTARY_H
#define GOLDEN_ELEMENTARY_H

#include <float.h>

double elementary_exp(double x);
double elementary_expm1(double x);
double elementary_tanh(double x);
double elementary_log(double x);
/* As IEEE 754 has it: pow(x, 0) = pow(1, y) = 1 even of NaN; NaN for x < 0 and a fractional y. */
double elementary_pow(double x, double y);
double elementary_sin(double x);

/* A sum of exponentials, sum * exp(top), of which each alone may be out of range; log of it:
 * elementary_log(sum) + top.  It begins as ELEMENTARY_NO_EXPS; the exponents are finite. */
struct elementary_exps {
    double top, sum;
};
#define ELEMENTARY_NO_EXPS ((struct elementary_exps){ -DBL_MAX, 0 })
void elementary_add_exp(struct elementary_exps *s, double x);

#endif
