/* Judging results (docs/judging.md).  Two rules: `cts`, the fixed tolerances of the NNAPI test
 * suites; `bound`, the error bound of each element, computed together with the reference. */
#ifndef GOLDEN_JUDGE_H
#define GOLDEN_JUDGE_H

#include "golden/exec/exec.h"
#include "golden/judge/gain.h"

/* Comparison of one output.  worst: the element with the largest |actual - expected| / bound. */
struct judgement {
    bool ok;
    size_t checked; /* elements compared; the others are undecided */
    size_t wrong;   /* elements outside their bound */
    size_t worst;
    double expected, actual, bound, ratio; /* of the worst element */
    struct gain_sample gain;               /* of sums of products that are right */
    char why[200]; /* empty if ok; else which test failed (element, variance, bias, shape) */
};

/* Judges by the fixed tolerances.  half: fp16 tolerance for fp32 too (model_is_half()).  steps:
 * allowed difference of 8-bit quantised values, in steps (1; 3 for mobilenet_quantized).  A type or
 * shape other than expected is not ok. */
struct judgement judge_cts(const struct tensor *expected, const struct tensor *actual, bool half,
                           int steps);

/* Judges a random output by the frequency of each class in each row, and in all rows together.
 * tolerance: allowed difference of a frequency in a row from its probability, as in the suites;
 * rows are not pooled then.  0: statistical limits under which a correct sampler fails with
 * probability at most 10^-9 per output. */
struct judgement judge_distribution(const struct distribution *distribution, double tolerance,
                                    const struct tensor *actual);

/* Judges by error bounds.  real, bound and kind: as in struct result; reference: type, shape and
 * quantisation of the output (and, for 64-bit integers, the values). */
struct judgement judge_bound(const struct tensor *reference, const double *real,
                             const double *bound, enum error_kind kind,
                             const struct tensor *actual);

/* The same for output i of a run with bounds, whose choices it knows: a value that is none of them
 * is wrong, with an allowed error of 0. */
struct judgement judge_result(const struct result *r, uint32_t i, const struct tensor *actual);

/* One element as judge_bound() judges it, without the whole-tensor tests. */
enum element_verdict { ELEMENT_RIGHT, ELEMENT_WRONG, ELEMENT_UNDECIDED };
/* reference: type and quantisation; real, bound: of the element; actual: its real value. */
enum element_verdict judge_value(const struct tensor *reference, double real, double bound,
                                 double actual);
/* Element `at` of output i, as judge_result() judges it. */
enum element_verdict judge_result_value(const struct result *r, uint32_t i, size_t at,
                                        double actual);

/* Whether the suites apply fp16 tolerances to this model: it is relaxed or has a TENSOR_FLOAT16
 * operand. */
bool model_is_half(const struct model *m);

#endif
