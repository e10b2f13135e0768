/* Integer constants that belong to shapes: those of RESHAPE's target, of paddings, of groups. */
#include <stdlib.h>

#include "golden/edit/edit.h"

/* Only operands of so few elements are tried, and values up to this one. */
enum { MOST_ELEMENTS = 2 * MAX_RANK, MOST_VALUE = 256 };

/* Tries smaller values of one element; true: the operation then fits its record. */
static bool repair_element(struct edit *c, uint32_t operation, int32_t *value)
{
    const int32_t old = *value;
    const int32_t most = old > MOST_VALUE ? MOST_VALUE : old;
    struct call call;
    for (int32_t v = 1; v <= most; v++) {
        *value = v < most ? v : 0;
        if (*value != old && edit_bind(c, 0, operation, &call))
            return true;
    }
    *value = old;
    return false;
}

static bool repair_operation(struct edit *c, uint32_t operation)
{
    const struct graph *g = &c->e.model.graph[0];
    const struct operation *o = &g->operation[operation];
    for (uint32_t k = 0; k < o->n_in; k++) {
        struct operand *at = &g->operand[o->in[k]];
        const struct tensor *t = &at->tensor;
        if (!operand_constant(at) || !t->data || tensor_count(t) > MOST_ELEMENTS ||
            (t->dtype != DT_I32 && t->dtype != DT_INT32))
            continue;
        for (size_t i = 0; i < tensor_count(t); i++)
            if (repair_element(c, operation, &((int32_t *) t->data)[i]))
                return true;
    }
    return false;
}

void edit_repair(struct edit *c)
{
    struct call call;
    if (c->e.model.n_graphs > 1)
        return;
    for (uint32_t i = 0; i < c->e.model.graph[0].n_operations; i++)
        if (!edit_bind(c, 0, i, &call))
            repair_operation(c, i);
}
