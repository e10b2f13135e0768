/* When is a result wrong?  Both judges of the design: `cts`, the fixed tolerances of the NNAPI
 * suites; `bound`, the bound tensor computed with the reference. */
#ifndef GOLDEN_JUDGE_H
#define GOLDEN_JUDGE_H

#include "golden/exec/exec.h"

/* How one output compares.  worst: the element with the largest |actual - expected| / bound. */
struct judgement {
    bool ok;
    size_t checked; /* elements compared; the others were undecidable */
    size_t wrong;   /* elements outside their bound */
    size_t worst;
    double expected, actual, bound, ratio; /* of the worst element */
    char why[160]; /* empty when ok; else which test failed: element, variance, bias, shape */
};

/* Fixed tolerances.  half: the model is relaxed or has an fp16 operand; steps: off by how many
 * quantisation steps (1; 3 for mobilenet_quantized).  `actual` must have the expected dtype and
 * shape, else not ok. */
struct judgement judge_cts(const struct tensor *expected, const struct tensor *actual, bool half,
                           int steps);

/* A random result, by how often each class comes up in each row, and in all rows together.
 * tolerance: how far a frequency may be from its probability, as the suites have it; 0: as far as
 * chance takes it.  By chance a right sampler fails once in a thousand million results. */
struct judgement judge_odds(const struct odds *odds, double tolerance, const struct tensor *actual);

/* real and bound as struct result has them; reference gives type, shape and quantisation. */
struct judgement judge_bound(const struct tensor *reference, const double *real,
                             const double *bound, enum error_kind kind,
                             const struct tensor *actual);

/* Whether the suites would judge this model's floats with fp16 tolerance. */
bool model_is_half(const struct model *m);

#endif
