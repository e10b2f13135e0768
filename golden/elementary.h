/* Elementary functions in double precision, from basic arithmetic alone: the C library's may differ
 * in the last bit from machine to machine, and the reference must not.  Within 4 ulps of the true
 * value; tests compare them with the C library and pin their bits. */
#ifndef GOLDEN_ELEMENTARY_H
#define GOLDEN_ELEMENTARY_H

double elementary_exp(double x);
double elementary_tanh(double x);

#endif
