/* Images in NCHW: records and kernels see NHWC alone, so that the executor permutes values on the
 * way in and out. */
#ifndef GOLDEN_NCHW_H
#define GOLDEN_NCHW_H

#include "golden/exec/exec.h"

/* Puts the elements of v, with what is kept beside them, in the other order, in `a`; nhwc: the
 * shape as NHWC.  The value's own shape stays. */
int nchw_permute(struct value *v, const struct shape *nhwc, struct arena *a, bool to_nhwc,
                 struct why *w);

#endif
