/* An example of TENSOR_QUANT8_ASYMM as one of TENSOR_QUANT8_ASYMM_SIGNED: the same real values,
 * stored 128 apart. */
#ifndef TESTS_SIGNED_EXAMPLE_H
#define TESTS_SIGNED_EXAMPLE_H

#include "golden/model/model.h"

/* Of a model of one operation; in the arena. */
void signed_example(const struct example *e, struct arena *a, struct example *ret_example);

/* The byte that stores what `code` stores unsigned. */
uint8_t signed_code(uint8_t code);

#endif
