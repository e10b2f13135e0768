/* What an operation is like, as a driver's support depends on it:
 *
 *     CONV_2D (explicit padding): TENSOR_FLOAT32[4], constant TENSOR_FLOAT32[4], constant
 *     TENSOR_FLOAT32[1], activation 1, dilation_w 2 -> TENSOR_FLOAT32[4]
 *
 * The form, where the operation has several; types and ranks of all tensors, and which are
 * constant; scalars that have another value than the plainest one, or none at all; what holds of
 * the whole call: relaxed computation, unknown dimensions.  Sizes and free numbers are left out, so
 * that calls that a driver refuses for one reason mostly have the same text. */
#ifndef HARNESS_SIGNATURE_H
#define HARNESS_SIGNATURE_H

#include "golden/golden.h"

/* Writes the signature; "..." at its end: it does not fit. */
void operation_signature(const struct model *m, const struct graph *g, const struct operation *o,
                         char *ret_text, size_t size);

#endif
