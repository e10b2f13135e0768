/* The verdicts of a run as a file for other programs: JUnit XML for CI servers, JSON, TAP 14, CSV.
 */
#ifndef HARNESS_RUN_EXPORT_H
#define HARNESS_RUN_EXPORT_H

#include "harness/check/check.h"
#include "harness/cli/console.h"
#include "harness/store/recorded.h"

enum export_format { EXPORT_JUNIT, EXPORT_JSON, EXPORT_TAP, EXPORT_CSV, EXPORT_FORMATS };

/* Fails where the files that the options name could not be written; creates nothing. */
int export_check(const struct options *o, struct why *w);
/* Writes the files that the options name, with the verdicts of run `run`, 0: the newest of each
 * case.  host: name of the machine that ran them; NULL: not known. */
int export_write(struct results *r, const struct options *o, int64_t run, const char *host,
                 struct why *w);
/* Writes one of them. */
int export_write_one(struct results *r, enum export_format format, const char *path, int64_t run,
                     const char *host, struct why *w);

/* ---- the formats */

struct export_run {
    FILE *to;
    const struct described_run *run;
    const char *host;            /* NULL: not known */
    const struct totals *totals; /* per target */
    const double *seconds;       /* likewise: spent in the driver */
    uint64_t n_unloaded;         /* files that could not be loaded */
    uint32_t target;             /* the current one */
    uint64_t n;                  /* verdicts and unloaded files written so far */
};

/* Each writes its part; NULL: there is none. */
struct export_writer {
    void (*begin)(struct export_run *x);
    void (*begin_target)(struct export_run *x);
    void (*verdict)(struct export_run *x, const struct recorded_verdict *v);
    void (*end_target)(struct export_run *x);
    void (*unloaded)(struct export_run *x, const char *file, const char *why);
    void (*end)(struct export_run *x);
};
extern const struct export_writer export_junit, export_json, export_tap, export_csv;

#endif
