/* Evaluating one bound call: for the executor, and for randgraph, which knows the values of a graph
 * while it grows. */
#ifndef GOLDEN_CALL_H
#define GOLDEN_CALL_H

#include "golden/base/arena.h"
#include "golden/exec/exec.h"

struct evaluation {
    const struct exec_options *options;
    bool relaxed;          /* fp32 may be computed in fp16 */
    struct arena *keep;    /* results */
    struct arena *scratch; /* rewound by the caller */
    bool stored;           /* without bounds call.y is not wanted: eval_stored() may do */
};

/* Computes a bound call.  in[i]: values in calling order, NULL: omitted; out[i]: tensors with
 * complete shapes, which receive data (and real, bound when bounds are asked for). */
int call_evaluate(struct call *c, struct value *const *in, struct value *const *out,
                  const struct evaluation *e, struct why *w);

/* The error of holding fp32 as fp16, for a value that no operation has given a bound yet. */
int value_stored_in_half(struct value *v, struct arena *keep);

/* Everything may come out: nothing of this value can be judged. */
int value_undecided(struct value *v, struct arena *keep);

#endif
