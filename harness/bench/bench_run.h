/* One model on one target: everything that is measured of it. */
#ifndef HARNESS_BENCH_RUN_H
#define HARNESS_BENCH_RUN_H

#include "harness/bench/bench_metrics.h"

/* Runs all data on the reference (golden), whose outputs are kept.  -1: the data cannot be read, or
 * the reference cannot run the model. */
int bench_run_reference(const struct bench_model *m, const struct bench_data *data,
                        const struct bench_options *o, struct bench_scores *ret_scores,
                        struct why *w);

/* reference: NULL: not compared with.  Whatever the driver does wrong is in *ret_result.  -1: data
 * that cannot be read, a target that cannot be opened, or out of memory. */
int bench_run(const char *uri, const struct bench_model *m, const struct bench_data *data,
              const struct bench_scores *reference, const struct bench_options *o,
              struct bench_result *ret_result, struct why *w);

#endif
