/* Converts examples from TENSOR_QUANT8_ASYMM to TENSOR_QUANT8_ASYMM_SIGNED.  The real values are
 * the same: stored values and zero points decrease by 128. */
#ifndef HARNESS_SIGNED_EXAMPLE_H
#define HARNESS_SIGNED_EXAMPLE_H

#include "golden/model/model.h"

/* Converts an example whose model has one operation.  The result belongs to the arena. */
void signed_example(const struct example *e, struct arena *a, struct example *ret_example);

/* The byte of the signed type for the stored value `code` of the unsigned type. */
uint8_t signed_code(uint8_t code);

#endif
