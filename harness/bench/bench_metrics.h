/* Metrics: the scores of all sequences together, and whether they are worse than they may be. */
#ifndef HARNESS_BENCH_METRICS_H
#define HARNESS_BENCH_METRICS_H

#include "harness/bench/bench_score.h"

/* Fills the metrics of *ret_result from the scores.  reference: those of the reference on the same
 * data; NULL: not compared.  -1: out of memory. */
int bench_metrics_make(const struct bench_scores *s, const struct bench_scores *reference,
                       struct bench_result *ret_result, struct why *w);

/* Probability that `worse` or more of worse + better changes are for the worse if each is so with
 * probability 1/2. */
double bench_sign_test(uint32_t worse, uint32_t better);
/* Mean over the classes that have a true box of the area under the envelope of precision over
 * recall: a detection is right if it overlaps a true box of its class, which no surer one has
 * taken, by at least `iou`. */
int bench_mean_precision(const struct bench_boxes *truth, const struct bench_score *score,
                         uint32_t n, double iou, double *ret, struct why *w);

#endif
