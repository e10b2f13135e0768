/* The closed list of verdicts: one per case and target; a case that was not run has none.  The
 * database's table verdict_names is filled from this list. */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include <stdbool.h>

enum verdict {
    VERDICT_PASS,
    VERDICT_UNDECIDED,   /* the case ran, but no element could be compared, by no path */
    VERDICT_FAIL,        /* wrong numbers */
    VERDICT_VIOLATION,   /* breaks the HAL contract: wrong status, shape, timing, touched memory */
    VERDICT_REFUSED,     /* reported the model as supported, then failed to prepare or execute it */
    VERDICT_UNSUPPORTED, /* reported the model as not supported, before preparing it */
    VERDICT_CRASH,       /* the driver's process died */
    VERDICT_HANG,        /* the driver exceeded the time-out */
    VERDICT_FLAKY,       /* failed, and conformed when it was run again (--rerun) */
    VERDICT_WAIVED,      /* a failure that a baseline expects, or a case that it skips */
    VERDICT_ERROR,       /* Halcyon's own: the case could not be judged */
    VERDICT_COUNT
};

/* "pass", ...: the names in the database, JSON and output. */
extern const char *const verdict_name[VERDICT_COUNT];

/* Whether a run with this verdict may end with exit status 0. */
bool verdict_conforming(enum verdict v);
/* -1 for a name that is not in the list. */
int verdict_by_name(const char *name);

#endif
