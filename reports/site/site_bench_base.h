/* What a benchmark is compared with: temporary tables with the results before. */
#ifndef REPORTS_SITE_BENCH_BASE_H
#define REPORTS_SITE_BENCH_BASE_H

#include "reports/reports.h"

struct sqlite3;

/* Creates, in the database of the report:
 *     bench_noises                all of bench_noise
 *     base_results                model, uri, run, started
 *     base_times                  model, uri, what, clock, median_ns, parts, low_ns, high_ns
 *     base_metrics                model, uri, key, value
 * of the run that o->against names, else, for each model and target, of the newest run before that
 * which the report shows.  prepare: gives another database what older versions lack. */
int site_create_bench_base(struct sqlite3 *db, const char *path, const struct report_options *o,
                           int (*prepare)(struct sqlite3 *db, const char *path, struct why *w),
                           struct why *w);

#endif
