/* golden: what NNAPI means.
 *
 * Every operation is one record (`struct op`, golden/op.h) in golden/ops/, listed in
 * golden/ops.def. A model (golden/model.h) is validated against the records, prepared as a plan and
 * run by the reference executor (golden/exec.h): operands are widened to double, computed in the
 * order of the definition, and rounded once.  The same run can compute, per element, how far a
 * right implementation may be from it; golden/judge.h decides with that whether a driver's result
 * is wrong.
 *
 * golden is the lowest folder: it knows no device, no file format and no database.  Nothing in here
 * prints; what fails says why (golden/why.h). */
#ifndef GOLDEN_GOLDEN_H
#define GOLDEN_GOLDEN_H

#include "golden/arena.h"
#include "golden/compliance.h"
#include "golden/exec.h"
#include "golden/extension.h"
#include "golden/judge.h"
#include "golden/model.h"
#include "golden/op.h"
#include "golden/tensor.h"
#include "golden/why.h"

#endif
