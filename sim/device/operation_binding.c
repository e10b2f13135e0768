/* Binding of one operation of a model to its record. */
#include <string.h>

#include "sim/device/device.h"

static bool is_constant(const struct operand *o)
{
    return o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE;
}

/* Whether an operand has no value: declared so, or a model input that the request omits. */
static bool is_omitted(const struct operand *o, const struct tensor *t, bool runtime)
{
    return operand_omitted(o) || (runtime && o->life == LIFE_INPUT && !t->data);
}

int operation_bind(const struct graph_values *v, uint32_t operation, bool runtime, struct arena *a,
                   struct bound_operation *ret_site, struct why *w)
{
    const struct graph *g = &v->model->graph[v->graph];
    const struct operation *o = &g->operation[operation];
    const struct op *op = op_find(o->code);
    struct bound_operation *s = ret_site;

    *s = (struct bound_operation){ .constant = arena_alloc(a, o->n_in, sizeof(bool)) };
    s->k.arg = arena_alloc(a, o->n_in, sizeof(*s->k.arg));
    s->k.out = arena_alloc(a, o->n_out, sizeof(*s->k.out));
    s->k.scratch = a;
    if (!s->constant || !s->k.arg || !s->k.out)
        return why_no_memory(w);
    if (!op)
        return why_fail(w, WHY_UNSUPPORTED, "unknown operation code %d", o->code);
    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct operand *in = &g->operand[o->in[i]];
        s->constant[i] = is_constant(in);
        s->k.arg[i] = is_omitted(in, &v->tensor[o->in[i]], runtime) ? NULL : &v->tensor[o->in[i]];
    }
    for (uint32_t i = 0; i < o->n_out; i++)
        s->k.out[i] = &v->tensor[o->out[i]];
    return op_bind(op, s->k.arg, o->n_in, s->k.out, o->n_out, runtime, &s->k.call, w);
}
