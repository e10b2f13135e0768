/* Evaluation of one bound call (struct call), for the executor and for randgraph, which computes
 * the values of a graph while it grows. */
#ifndef GOLDEN_CALL_H
#define GOLDEN_CALL_H

#include "golden/base/arena.h"
#include "golden/exec/exec.h"

struct evaluation {
    const struct exec_options *options;
    bool relaxed;          /* fp32 may be computed in fp16 */
    struct arena *keep;    /* for results */
    struct arena *scratch; /* for temporary memory; the caller rewinds it */
    bool stored;           /* without bounds, call.y may stay unset: eval_stored() may be used */
};

/* Computes a bound call.  in[i]: values in calling order, NULL: omitted.  out[i]: tensors with
 * complete shapes (dimensions that op->measure() determines may be 0), which receive their data
 * and, if bounds are computed, real and bound. */
int call_evaluate(struct call *c, struct value *const *in, struct value *const *out,
                  const struct evaluation *e, struct why *w);

/* Sets the bound of a TENSOR_FLOAT32 value that has none to the error of storing it as fp16.  -1:
 * out of memory. */
int value_stored_in_half(struct value *v, struct arena *keep);

/* Sets all bounds of the value to INFINITY: any value is correct.  -1: out of memory. */
int value_undecided(struct value *v, struct arena *keep);

#endif
