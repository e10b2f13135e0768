/* The models that steps give their devices, and what crosses from step to step (runtime.md 4.5). */
#ifndef RUNTIME_STEP_MODEL_H
#define RUNTIME_STEP_MODEL_H

#include "runtime/compile/partition.h"
#include "runtime/model/model_sort.h"

/* A source model whose operations have been put into steps. */
struct placed_source {
    uint32_t graph, parent;
    struct readiness readiness;  /* of its graph: the readers of each operand */
    uint32_t *step_of_operation; /* the step that does it, also an IF or WHILE */
    uint32_t *seen;              /* by operand: 1 + the step whose model has it; begin with 0 */
};

/* Operands that are added to a list, in `a`. */
struct operand_list {
    struct source_operand *operand;
    uint32_t n, room;
};

/* Fills the model, inputs and outputs of an execution step, number `at`, whose device and
 * operations are set.  Adds temporaries of unknown size that it writes to *dynamic, outputs of its
 * source that others read to *downstream.  -1: WHY_EXECUTION where runtime.md 4.8 has OP_FAILED; or
 * out of memory. */
int step_model_make(const ANeuralNetworksModel *m, const struct placed_source *source, uint32_t at,
                    struct plan_step *step, struct arena *a, struct operand_list *dynamic,
                    struct operand_list *downstream, struct why *w);

#endif
