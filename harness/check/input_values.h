/* Input values for models that come without any (.tflite). */
#ifndef HARNESS_INPUT_VALUES_H
#define HARNESS_INPUT_VALUES_H

#include "golden/golden.h"

/* Fills every input that has no data with random values, allocated in arena: floats in [-1, 1),
 * quantised types over their whole range, other integers 0 to 9, BOOL 0 or 1.  The generator is
 * seeded by name and position, so that a name always gives the same values.  Dimensions of 0
 * (unspecified) are set to 1. */
int inputs_generate(const char *name, struct tensor *in, uint32_t n, struct arena *arena,
                    struct why *w);

#endif
