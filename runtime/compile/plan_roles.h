/* Which steps use an operand, and as what: for the alignment and padding of its memory, and for
 * memory of drivers (runtime.md 4.5). */
#ifndef RUNTIME_PLAN_ROLES_H
#define RUNTIME_PLAN_ROLES_H

#include "runtime/compile/partition.h"

/* An argument of the model of an execution step. */
struct plan_role {
    uint32_t step;
    bool is_output;
    uint32_t index;
};

struct plan_roles;

/* Prepares the queries of a partition; in `a`. */
int plan_roles_make(const ANeuralNetworksModel *m, const struct partition *p, struct arena *a,
                    struct plan_roles **ret_roles, struct why *w);

/* The roles of an operand, those of the operands that share its memory included: each once,
 * ascending by step, inputs before outputs.  Uses by IF and WHILE themselves are none.  Valid until
 * the next call; not thread-safe. */
uint32_t plan_roles_of(struct plan_roles *r, struct source_operand operand,
                       const struct plan_role **ret_role);

#endif
