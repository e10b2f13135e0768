/* Exemptions, derived from the records of the operations: forms, typing rows and the feature levels
 * that they need. */
#include "harness/corrupt/conform_exempt.h"

#include <string.h>

#include "golden/model/extension.h"
#include "golden/model/op.h"
#include "harness/conform/conform.h"
#include "harness/corrupt/conform_mutant.h"

static bool exists(const struct hal_subgraph *g, const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i] >= g->n_operands)
            return false;
    return true;
}

/* Whether the first n operands of both lists have the same types. */
static bool has_same_types(const struct hal_subgraph *a, const uint32_t *list_a,
                           const struct hal_subgraph *b, const uint32_t *list_b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (a->operands[list_a[i]].type != b->operands[list_b[i]].type)
            return false;
    return true;
}

/* An operation whose signature is not in its record: it must be that of the valid model, except
 * that a loop may have fewer outputs than its body. */
static bool keeps_signature(const struct conform_walk *w, uint32_t operation, bool is_loop)
{
    const struct hal_subgraph *from = &w->original->main, *to = &w->mutant.model.main;
    const struct hal_operation *a = &from->operations[operation], *b = &to->operations[operation];
    bool has_outputs =
        is_loop ? b->n_outputs > 0 && b->n_outputs <= a->n_outputs : b->n_outputs == a->n_outputs;

    return b->n_inputs == a->n_inputs && has_outputs &&
           has_same_types(from, a->inputs, to, b->inputs, b->n_inputs) &&
           has_same_types(from, a->outputs, to, b->outputs, b->n_outputs);
}

/* operand: the types of the mutant's operands. */
static bool is_accepted(const struct conform_walk *w, uint32_t operation, struct tensor *operand)
{
    const struct hal_operation *o = &w->mutant.model.main.operations[operation];
    const struct op *op = extension_prefix_of(o->type) ? NULL : op_find(o->type);

    if (!op || op->control_kind != CONTROL_NONE)
        return keeps_signature(w, operation, op && op->control_kind == CONTROL_LOOP);
    const struct tensor **in = arena_alloc(w->arena, o->n_inputs + 1, sizeof *in);
    struct tensor **out = arena_alloc(w->arena, o->n_outputs + 1, sizeof *out);
    conform_must(in && out, "out of memory");
    for (uint32_t k = 0; k < o->n_inputs; k++)
        in[k] = &operand[o->inputs[k]];
    for (uint32_t k = 0; k < o->n_outputs; k++)
        out[k] = &operand[o->outputs[k]];
    int level = op_level_of_types(op, in, o->n_inputs, out, o->n_outputs);
    return level > 0 && level <= hal_level(w->version);
}

bool conform_is_exempt(const struct conform_walk *w)
{
    const struct hal_subgraph *g = &w->mutant.model.main;
    struct tensor *operand = arena_alloc(w->arena, g->n_operands + 1, sizeof *operand);

    conform_must(operand, "out of memory");
    if (!exists(g, g->inputs, g->n_inputs) || !exists(g, g->outputs, g->n_outputs))
        return false;
    for (uint32_t i = 0; i < g->n_operands; i++)
        operand[i].dtype = (enum dtype)(mutant_type_of(g->operands[i].type) - dtype_info);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct hal_operation *o = &g->operations[i];
        if (!exists(g, o->inputs, o->n_inputs) || !exists(g, o->outputs, o->n_outputs) ||
            !is_accepted(w, i, operand))
            return false;
    }
    return true;
}
