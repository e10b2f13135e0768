/* Leaving off trailing arguments that hold their default values. */
#include "golden/model/op.h"
#include "runtime/base/failure.h"
#include "runtime/model/model_builder.h"

#define LOG_TAG "ModelBuilder"

/* The number of inputs that the operation needs; -1: out of memory. */
static int64_t needed_inputs(const struct graph *g, const struct operation *o,
                             struct arena *scratch)
{
    const struct op *op = op_find(o->code);
    struct tensor *value = arena_alloc(scratch, (size_t) o->n_in + o->n_out, sizeof *value);
    const struct tensor **in = arena_alloc(scratch, o->n_in, sizeof *in);
    struct tensor **out = arena_alloc(scratch, o->n_out, sizeof *out);

    if (!value || !in || !out)
        return -1;
    for (uint32_t k = 0; k < o->n_in; k++) {
        const struct operand *from = &g->operand[o->in[k]];
        value[k] = from->tensor;
        if (from->life != LIFE_CONSTANT_COPY)
            value[k].data = NULL;
        in[k] = &value[k];
    }
    for (uint32_t k = 0; k < o->n_out; k++) {
        value[o->n_in + k] = g->operand[o->out[k]].tensor;
        out[k] = &value[o->n_in + k];
    }
    return op_needed_inputs(op, in, o->n_in, out, o->n_out);
}

/* Whether the last input is a constant scalar, as every argument that can be left off. */
static bool ends_with_scalar(const struct graph *g, const struct operation *o)
{
    const struct operand *last = o->n_in ? &g->operand[o->in[o->n_in - 1]] : NULL;
    return last && last->life == LIFE_CONSTANT_COPY && !dtype_info[last->tensor.dtype].tensor;
}

int graph_remove_defaults(struct graph *g, struct arena *scratch, bool *ret_removed)
{
    *ret_removed = false;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct operation *o = &g->operation[i];
        const struct op *op = op_find(o->code);
        if (!op || op->control_kind != CONTROL_NONE || !op_has_defaults(op) ||
            !ends_with_scalar(g, o))
            continue;
        struct arena_mark mark = arena_mark(scratch);
        int64_t needed = needed_inputs(g, o, scratch);
        arena_rewind(scratch, mark);
        if (needed < 0)
            return FAIL(OUT_OF_MEMORY, "out of memory for operation %u", i);
        if (needed == o->n_in)
            continue;
        VLOG(MODEL, "operation %u, %s: the last %lld of %u inputs are left off", i, op->name,
             (long long) (o->n_in - needed), o->n_in);
        o->n_in = (uint32_t) needed;
        *ret_removed = true;
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int model_remove_defaults(ANeuralNetworksModel *m, bool *ret_removed)
{
    return graph_remove_defaults(&m->model.graph[0], m->builder->arena, ret_removed);
}
