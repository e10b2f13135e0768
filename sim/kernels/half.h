/* fp16 conversions of the simulated devices, in integer arithmetic, rounding to nearest even. */
#ifndef SIM_HALF_H
#define SIM_HALF_H

#include <stdint.h>

float half_to_float(uint16_t h);
uint16_t half_from_float(float x);

/* The nearest value that fp16 can represent; infinite from 65520 on.  NaN stays as it is. */
float half_round(float x);

#endif
