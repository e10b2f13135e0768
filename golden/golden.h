/* golden: the semantics of NNAPI.
 *
 * Every operation is one record (`struct op`, golden/model/op.h) in golden/ops/, listed in
 * golden/ops.def.  A model (golden/model/model.h) is validated against the records, turned into a
 * plan and run by the reference executor (golden/exec/exec.h): operands are widened to double,
 * computed in the order of the operation's definition, and rounded once.  The same run can compute
 * the allowed error of each element; golden/judge/judge.h uses it to decide whether a driver's
 * result is wrong.
 *
 * golden is the lowest folder: it depends on no device, file format or database.  Nothing here
 * prints; functions that fail return the reason (golden/base/why.h). */
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
