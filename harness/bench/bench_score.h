/* Scores: how right the outputs of each sequence are, each by itself. */
#ifndef HARNESS_BENCH_SCORE_H
#define HARNESS_BENCH_SCORE_H

#include "harness/bench/bench_driver.h"

/* Of elements as stored, a and e: sums of (a - e)^2 / elements of an output, over outputs and
 * inferences, and the largest |a - e|. */
struct bench_difference {
    double squares, most;
};

enum { BENCH_TOP = 5 };
struct bench_score {
    uint32_t n;                                /* inferences; 0: not scored */
    struct bench_difference golden, reference; /* to golden outputs, to the reference's */
    uint32_t rank; /* of the true class among the outputs, from 1 on; equal ones by their index */
    double mel_cep, log_f0, phone_errors;
    struct bench_boxes found; /* detections, and how sure the model is of each */
    double *sure;
};

struct bench_scores {
    const struct bench_data *data;
    struct bench_score *score; /* of each sequence that is used */
    uint8_t **output;          /* of each: the results of its inferences; NULL: not kept */
    struct arena *arena;
    uint64_t n_inferences;
};

/* Runs every sequence on the prepared driver, `jobs` at once.  reference: scores with outputs that
 * these are compared with; NULL: none.  keep: keeps the outputs.  *ret_end tells what is wrong with
 * the driver, if anything.  -1: the data cannot be read, or out of memory.  Otherwise *ret_scores
 * is to be freed. */
int bench_scores_make(struct bench_driver *d, const struct bench_data *data,
                      const struct bench_scores *reference, bool keep, unsigned jobs,
                      struct bench_scores *ret_scores, struct bench_end *ret_end, struct why *w);
void bench_scores_done(struct bench_scores *s);

/* The formulas, for tests.  a: n inferences of 196 values, as stored; mean_std: pairs. */
void bench_speech_score(const float *a, const float *golden, uint32_t n, const double *mean_std,
                        double *ret_mel_cep, double *ret_log_f0);
/* Least number of insertions, removals and replacements, in percent of n; -1: out of memory. */
double bench_phone_errors(const int32_t *a, const int32_t *golden, uint32_t n);
/* The share of the area of both boxes that both cover. */
double bench_overlap(const double a[4], const double b[4]);

#endif
