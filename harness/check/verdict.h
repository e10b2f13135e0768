/* The closed list of verdicts: one per case and target.  Only pass, unsupported and waived are
 * conforming, and a case that was not run has none. */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include <stdbool.h>

enum verdict {
    VERDICT_PASS,
    VERDICT_FAIL,        /* wrong numbers */
    VERDICT_VIOLATION,   /* breaks the HAL contract: wrong status, shape, timing, touched memory */
    VERDICT_REFUSED,     /* said that it supports the model, then would not run it */
    VERDICT_UNSUPPORTED, /* said no beforehand */
    VERDICT_CRASH,
    VERDICT_HANG,
    VERDICT_WAIVED, /* one of the above, listed in a file of waivers */
    VERDICT_ERROR,  /* ours: no judgement was possible */
    VERDICT_COUNT
};

/* "pass", ... : what databases, JSON and people see. */
extern const char *const verdict_name[VERDICT_COUNT];

bool verdict_conforming(enum verdict v);
/* -1 for a name that is not in the list. */
int verdict_by_name(const char *name);

#endif
