/* Values for the inputs of a model that comes without any (.tflite). */
#ifndef HARNESS_INPUTS_H
#define HARNESS_INPUTS_H

#include "golden/golden.h"

/* Gives every input without data values from a generator seeded by name and position: floats in
 * [-1, 1), quantised types over their whole range, integers 0 to 9.  Unknown dimensions become 1.
 * The same name gives the same values for ever. */
int inputs_fill(const char *name, struct tensor *in, uint32_t n, struct arena *arena,
                struct why *w);

#endif
