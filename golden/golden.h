/* golden: what NNAPI means.
 *
 * Every operation is one record (`struct op`, golden/model/op.h) in golden/ops/, listed in
 * golden/ops.def. A model (golden/model/model.h) is validated against the records, prepared as a
 * plan and run by the reference executor (golden/exec/exec.h): operands are widened to double,
 * computed in the order of the definition, and rounded once.  The same run can compute, per
 * element, how far a right implementation may be from it; golden/judge/judge.h decides with that
 * whether a driver's result is wrong.
 *
 * golden is the lowest folder: it knows no device, no file format and no database.  Nothing in here
 * prints; what fails says why (golden/base/why.h). */
#ifndef GOLDEN_GOLDEN_H
#define GOLDEN_GOLDEN_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "golden/exec/exec.h"
#include "golden/judge/judge.h"
#include "golden/model/compliance.h"
#include "golden/model/extension.h"
#include "golden/model/model.h"
#include "golden/model/op.h"
#include "golden/model/tensor.h"

#endif
