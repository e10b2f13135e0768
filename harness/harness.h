/* harness: is this driver right?
 *
 * A plan is a list of cases: examples of spec files, or random graphs by seed and index.  Every
 * case is run on every target in a child process (harness/crew.h), judged against what its spec
 * expects or against the reference (harness/check.h), and gets exactly one verdict of a closed list
 * (harness/verdict.h).  Verdicts, the worst element and the spec of whatever is not conforming go
 * to the results database (harness/results.h, harness/schema.sql), from which a killed campaign
 * goes on and reports are made.  A case's name is its parameters, and each failure comes with the
 * command that runs it alone.  `halcyon` (harness/main.c) is this folder's only program: one file
 * per subcommand. Everything random comes from a seed; nothing is skipped silently. */
#ifndef HARNESS_HARNESS_H
#define HARNESS_HARNESS_H

#include "harness/campaign.h"
#include "harness/check.h"
#include "harness/crew.h"
#include "harness/results.h"
#include "harness/verdict.h"

#endif
