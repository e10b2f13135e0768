/* Convolutions: what the records of CONV_2D, DEPTHWISE_CONV_2D, GROUPED_CONV_2D and
 * TRANSPOSE_CONV_2D share.
 *
 * Their tables of roles begin with fragments that are included in the initialiser, and which name
 * the roles by the constants of the operation: golden/ops/shared/image/conv_roles.def (INPUT, BIAS,
 * ACTIVATION), and golden/ops/shared/image/conv_window_roles.def for a filter that slides over the
 * image (SCHEME, PAD_LEFT, PAD_RIGHT, PAD_TOP, PAD_BOTTOM, STRIDE_W, STRIDE_H). */
#ifndef GOLDEN_CONV_H
#define GOLDEN_CONV_H

#include "golden/ops/shared/dot.h"
#include "golden/ops/shared/image/window.h"

/* "output", a feature map of as many channels as the letter O of the filter. */
extern const struct role conv_out[1];

/* Slots: input, filter, bias, output.  Those since feature level 1, and since feature level 3. */
extern const struct typing conv_typings[6], conv_typings_l3[6];

/* For infer(): rejects a per-channel filter whose scales are not along dimension `dim`. */
int conv_check_channels(const struct tensor *filter, uint32_t dim, struct why *w);

#endif
