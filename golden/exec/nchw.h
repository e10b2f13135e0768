/* NCHW images: records and kernels use NHWC only; the executor permutes images before and after. */
#ifndef GOLDEN_NCHW_H
#define GOLDEN_NCHW_H

#include "golden/exec/exec.h"

/* Replaces v's data, real and bound by permuted copies in `a`.  nhwc: the image's shape as NHWC.
 * v's own shape is not changed. */
int nchw_permute(struct value *v, const struct shape *nhwc, struct arena *a, bool to_nhwc,
                 struct why *w);

#endif
