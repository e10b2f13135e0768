/* The verdicts of a run as JUnit XML, which CI servers read. */
#ifndef HARNESS_JUNIT_H
#define HARNESS_JUNIT_H

#include "harness/store/results.h"

/* Writes the current run of r, one testsuite per target. */
int junit_write(struct results *r, const char *path, struct why *w);

#endif
