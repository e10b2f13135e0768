/* harness: is this driver right?
 *
 * A plan is a list of cases: examples of spec files, or random graphs by seed and index.  Every
 * case is run on every target in a child process (harness/run/worker_pool.h), judged against what
 * its spec expects or against the reference (harness/check/check.h), and gets exactly one verdict
 * of a closed list (harness/check/verdict.h).  Verdicts, the worst element and the spec of whatever
 * is not conforming go to the results database (harness/store/results.h, harness/store/schema.sql),
 * from which a killed campaign goes on and reports are made.  A case's name is its parameters, and
 * each failure comes with the command that runs it alone.  `halcyon` (harness/commands/main.c) is
 * this folder's only program: one file per subcommand. Everything random comes from a seed; nothing
 * is skipped silently. */
#ifndef HARNESS_HARNESS_H
#define HARNESS_HARNESS_H

#include "harness/check/check.h"
#include "harness/check/verdict.h"
#include "harness/run/campaign.h"
#include "harness/run/worker_pool.h"
#include "harness/store/results.h"

#endif
