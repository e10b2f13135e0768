/* The verdicts of a run as JUnit XML, which CI servers read. */
#ifndef HARNESS_JUNIT_H
#define HARNESS_JUNIT_H

#include "harness/store/results.h"

/* Whether the file can be written, before anything runs; makes nothing. */
int junit_check(const char *path, struct why *w);
/* One testsuite per target, of the current run. */
int junit_write(struct results *r, const char *path, struct why *w);

#endif
