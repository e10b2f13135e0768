/* Judging operation by operation.
 *
 * Through a deep network the error bound can grow until nearly any output lies within it, and
 * comparing the outputs proves little.  So each operation of the main graph is also run alone, as a
 * model of its own, on the input values that the reference computed for it: the bound is then that
 * of one operation.  IF and WHILE are left out, and where the outputs are compared, operations that
 * read no results and whose results are all outputs: the outputs have judged those in the same way.
 */
#ifndef HARNESS_PER_OP_CHECK_H
#define HARNESS_PER_OP_CHECK_H

#include "harness/check/check.h"
#include "harness/check/part.h"

/* The values of the reference, computed when first needed and kept for the next targets. */
int check_parts(struct check *c, struct why *w);

/* Runs an example on the target and judges it by bound. */
struct check_result check_part(const struct example *part, struct target *t,
                               const struct variation *v);

/* Whether a random graph is judged so although its outputs are compared: a quarter of them, the
 * same ones in every run, because it costs as much as the rest of the case. */
bool per_op_check_is_drawn(const char *name);

/* After PASS or UNDECIDED in check_judge() by bound: where c->by_layers is set, or no element could
 * be compared, runs the operations one by one.  The first that does not conform becomes the verdict
 * of the case, and is blamed; operations that the driver does not support alone are skipped.
 * UNDECIDED becomes PASS once an element is compared.  Adds the numbers of elements compared to *r,
 * and a line to detail, which may be NULL. */
void per_op_check_run(struct check *c, struct target *t, struct check_result *r,
                      struct buffer *detail);

#endif
