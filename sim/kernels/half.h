/* fp16 as a device holds it: conversions in integer arithmetic, to nearest even. */
#ifndef SIM_HALF_H
#define SIM_HALF_H

#include <stdint.h>

float half_to_float(uint16_t h);
uint16_t half_from_float(float x);

/* The nearest value that fp16 has; infinite above 65504. */
float half_round(float x);

#endif
