/* harness: runs cases on drivers and gives each a verdict.
 *
 * A campaign is a list of cases: examples from spec files, or random graphs by seed and index.
 * Every case is run on every target in a child process (harness/run/worker_pool.h), judged against
 * what its spec expects or against the reference (harness/check/check.h), and gets exactly one
 * verdict of a closed list (harness/check/verdict.h).  Verdicts, the worst element and the spec of
 * each failure are stored in the results database (harness/store/results.h,
 * harness/store/schema.sql); a killed campaign resumes from it, and reports read it.  A case's name
 * is its parameters, and each failure is printed with the command that runs it alone.  `halcyon`
 * (harness/commands/main.c) is this folder's only program: one file per subcommand. */
#ifndef HARNESS_HARNESS_H
#define HARNESS_HARNESS_H

#include "harness/check/check.h"
#include "harness/check/verdict.h"
#include "harness/run/campaign.h"
#include "harness/run/worker_pool.h"
#include "harness/store/results.h"

#endif
