/* Judges results of executions against the reference: every element within the error that it is
 * allowed (harness/check/check.h). */
#ifndef HARNESS_CONFORM_JUDGE_H
#define HARNESS_CONFORM_JUDGE_H

#include "harness/check/check.h"
#include "harness/conform/conform_requests.h"

struct conform_judge {
    const struct conform_model *model;
    struct check check;
};
/* Runs the reference on the model, which must outlive the judge. */
void conform_judge_init(struct conform_judge *j, const struct conform_model *m);
void conform_judge_done(struct conform_judge *j);

/* Judges the outputs of a request that has succeeded: one check, unless no element can be compared.
 * kind: of execution, for the finding.  Returns whether nothing is wrong. */
bool conform_judge(struct conform *c, struct conform_judge *j, const struct conform_request *r,
                   const char *kind);
/* The same without a check. */
bool conform_judge_agrees(struct conform_judge *j, const struct conform_request *r);
/* Whether the outputs of a request that has succeeded beside other executions are those that it has
 * alone.  Where the target falls back (struct conform_state), a device that is short of resources
 * leaves steps to the reference, so that all results within the judge's bounds are right.  From any
 * thread. */
bool conform_judge_beside(struct conform *c, const struct conform_model *m,
                          const struct conform_request *r, const struct tensor *alone);
/* As conform_judge() for output values at these addresses, of the shapes that the reference has. */
bool conform_judge_values(struct conform *c, struct conform_judge *j, void *const *value,
                          const char *kind);

#endif
