/* Shrinking at the end of a campaign.
 *
 * The failures of a run are sorted into kinds: target, verdict, operation and type that are blamed.
 * The first case of each kind is shrunk; its bucket is that of all of its kind, and kinds with
 * equal buckets become one.  So a frequent fault costs one shrinking, whatever the number of
 * workers. */
#ifndef HARNESS_SHRINK_FAILURES_H
#define HARNESS_SHRINK_FAILURES_H

#include "harness/run/campaign.h"

/* Limits for one kind, the number of kinds, and the seconds in all. */
enum {
    SHRINK_RUN_EXECUTIONS = 1000,
    SHRINK_RUN_SECONDS = 10,
    SHRINK_RUN_KINDS = 60,
    SHRINK_RUN_TOTAL = 60
};

/* After campaign_run(): shrinks, writes buckets and shrunk cases to the database, and fills
 * c->bucket.  Does nothing with --no-shrink or --in-process, or when the campaign was interrupted;
 * what was shrunk before a signal stays recorded.  -1: an error of Halcyon's own. */
int shrink_failures(struct campaign *c, const volatile sig_atomic_t *stop, struct why *w);

#endif
