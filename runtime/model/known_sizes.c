#include "runtime/model/known_sizes.h"

#include "golden/model/op.h"
#include "runtime/model/runtime_model.h"

bool operand_size_known(const struct operand *o)
{
    return !operand_type_is_tensor(&o->tensor, o->foreign) || shape_known(&o->tensor.shape);
}

bool operation_has_subgraphs(const struct operation *o)
{
    const struct op *op = op_find(o->code);
    return op && op->control_kind != CONTROL_NONE;
}

static bool sizes_known(const struct graph *g, const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!operand_size_known(&g->operand[list[i]]))
            return false;
    return true;
}

bool operation_is_runtime_only(const struct model *m, const struct graph *g,
                               const struct operation *o)
{
    if (!operation_has_subgraphs(o))
        return false;
    if (!sizes_known(g, o->in, o->n_in) || !sizes_known(g, o->out, o->n_out))
        return true;
    for (uint32_t k = 0; k < o->n_in; k++) {
        const struct operand *in = &g->operand[o->in[k]];
        if (in->life != LIFE_SUBGRAPH)
            continue;
        const struct graph *sub = &m->graph[in->subgraph];
        if (!sizes_known(sub, sub->input, sub->n_inputs) ||
            !sizes_known(sub, sub->output, sub->n_outputs))
            return true;
    }
    return false;
}

bool model_is_runtime_only(const struct model *m)
{
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++)
            if (operation_is_runtime_only(m, &m->graph[g], &m->graph[g].operation[i]))
                return true;
    return false;
}
