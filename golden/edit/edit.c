#include "golden/edit/edit.h"

#include <string.h>

#include "golden/base/arena.h"

static int copy_values(struct tensor **values, uint32_t n, struct arena *a)
{
    struct tensor *to = arena_copy(a, *values, n * sizeof *to);
    if (!to)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        if (to[i].data && !(to[i].data = arena_copy(a, to[i].data, tensor_bytes(&to[i]))))
            return -1;
        if (to[i].channel_scale &&
            !(to[i].channel_scale = arena_copy(a, to[i].channel_scale,
                                               to[i].n_channels * sizeof *to[i].channel_scale)))
            return -1;
    }
    *values = to;
    return 0;
}

int edit_copy(const struct example *from, struct arena *arena, struct edit *ret, struct why *w)
{
    struct edit c = { .e = *from, .arena = arena };
    uint32_t n_in = from->model.graph[0].n_inputs, n_out = from->model.graph[0].n_outputs;
    if (model_copy(&from->model, arena, &c.e.model) < 0 || copy_values(&c.e.in, n_in, arena) < 0)
        return why_no_memory(w);
    c.e.expected = arena_alloc(arena, n_out, sizeof *c.e.expected);
    c.e.ignored = arena_alloc(arena, n_out, sizeof *c.e.ignored);
    c.e.name = arena_strdup(arena, from->name);
    c.e.since = "UNKNOWN"; /* what is left may need less */
    if (!c.e.expected || !c.e.ignored || !c.e.name)
        return why_no_memory(w);
    for (uint32_t k = 0; k < n_out; k++)
        c.e.ignored[k] = from->ignored && from->ignored[k];
    *ret = c;
    return 0;
}

/* ---- lists */

static int append(struct arena *a, uint32_t **list, uint32_t *n, uint32_t value)
{
    uint32_t *larger = arena_alloc(a, *n + 1, sizeof *larger);
    if (!larger)
        return -1;
    if (*n)
        memcpy(larger, *list, *n * sizeof *larger);
    larger[(*n)++] = value;
    *list = larger;
    return 0;
}

int edit_add_input(struct edit *c, uint32_t operand, const struct tensor *value)
{
    struct graph *g = &c->e.model.graph[0];
    struct operand *o = &g->operand[operand];
    struct tensor *in = arena_alloc(c->arena, g->n_inputs + 1, sizeof *in);
    if (!in)
        return -1;
    if (g->n_inputs)
        memcpy(in, c->e.in, g->n_inputs * sizeof *in);
    in[g->n_inputs] = *value;
    c->e.in = in;
    o->life = LIFE_INPUT;
    o->length = 0;
    o->tensor = *value;
    o->tensor.data = NULL;
    return append(c->arena, &g->input, &g->n_inputs, operand);
}

bool edit_make_constant(struct edit *c, uint32_t k)
{
    struct graph *g = &c->e.model.graph[0];
    struct operand *o = &g->operand[g->input[k]];
    if (g->n_inputs <= 1 || !c->e.in[k].data)
        return false;
    o->tensor = c->e.in[k];
    o->life = LIFE_CONSTANT_COPY;
    o->length = tensor_bytes(&o->tensor);
    for (uint32_t i = k + 1; i < g->n_inputs; i++) {
        g->input[i - 1] = g->input[i];
        c->e.in[i - 1] = c->e.in[i];
    }
    g->n_inputs--;
    return true;
}

void edit_remove_output(struct edit *c, uint32_t k)
{
    struct graph *g = &c->e.model.graph[0];
    g->operand[g->output[k]].life = LIFE_TEMPORARY;
    for (uint32_t i = k + 1; i < g->n_outputs; i++) {
        g->output[i - 1] = g->output[i];
        c->e.ignored[i - 1] = c->e.ignored[i];
    }
    g->n_outputs--;
}

int edit_add_output(struct edit *c, uint32_t operand)
{
    struct graph *g = &c->e.model.graph[0];
    uint32_t n = g->n_outputs;
    bool *ignored = arena_alloc(c->arena, n + 1, sizeof *ignored);
    if (!ignored)
        return -1;
    if (n)
        memcpy(ignored, c->e.ignored, n * sizeof *ignored);
    c->e.ignored = ignored;
    g->operand[operand].life = LIFE_OUTPUT;
    return append(c->arena, &g->output, &g->n_outputs, operand);
}

/* ---- operands */

uint32_t edit_add_operand(struct edit *c, uint32_t graph, const struct operand *o)
{
    struct graph *g = &c->e.model.graph[graph];
    struct operand *all = arena_alloc(c->arena, g->n_operands + 1, sizeof *all);
    if (!all)
        return UINT32_MAX;
    memcpy(all, g->operand, g->n_operands * sizeof *all);
    g->operand = all;
    all[g->n_operands] = *o;
    return g->n_operands++;
}

uint32_t edit_add_scalar(struct edit *c, uint32_t graph, enum dtype dtype, double value)
{
    struct operand o = { .tensor = { .dtype = dtype, .data = arena_alloc(c->arena, 1, 8) },
                         .life = LIFE_CONSTANT_COPY };
    if (!o.tensor.data)
        return UINT32_MAX;
    tensor_narrow(&value, &o.tensor);
    o.length = tensor_bytes(&o.tensor);
    return edit_add_operand(c, graph, &o);
}

int edit_omit(struct edit *c, uint32_t graph, struct operation *o, uint32_t k)
{
    struct operand none = c->e.model.graph[graph].operand[o->in[k]];
    none.life = LIFE_NO_VALUE;
    none.tensor.data = NULL;
    none.length = 0;
    uint32_t at = edit_add_operand(c, graph, &none);
    if (at == UINT32_MAX)
        return -1;
    o->in[k] = at;
    return 0;
}

void edit_set_quant(struct edit *c, uint32_t operand, float scale, int32_t zero)
{
    struct graph *g = &c->e.model.graph[0];
    struct operand *o = &g->operand[operand];
    o->tensor.scale = scale;
    o->tensor.zero = zero;
    for (uint32_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] == operand) {
            c->e.in[k].scale = scale;
            c->e.in[k].zero = zero;
        }
}

/* ---- values */

uint32_t edit_values(const struct edit *c, struct value_ref **ret_refs)
{
    const struct model *m = &c->e.model;
    size_t most = 0;
    uint32_t n = 0;
    for (uint32_t g = 0; g < m->n_graphs; g++)
        most += m->graph[g].n_operands;
    struct value_ref *refs = arena_alloc(c->arena, most, sizeof *refs);
    *ret_refs = refs;
    if (!refs)
        return 0;
    for (uint32_t k = 0; k < m->graph[0].n_inputs; k++)
        if (c->e.in[k].data)
            refs[n++] = (struct value_ref){ 0, m->graph[0].input[k], k };
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++) {
            const struct operand *o = &m->graph[g].operand[i];
            if (operand_constant(o) && o->length && o->tensor.dtype != DT_FOREIGN)
                refs[n++] = (struct value_ref){ g, i, -1 };
        }
    return n;
}

struct tensor *edit_tensor(struct edit *c, const struct value_ref *ref)
{
    return ref->input >= 0 ? &c->e.in[ref->input]
                           : &c->e.model.graph[ref->graph].operand[ref->operand].tensor;
}

void edit_set_value(struct edit *c, const struct value_ref *ref, const struct tensor *tensor)
{
    struct operand *o = &c->e.model.graph[ref->graph].operand[ref->operand];
    struct shape declared = o->tensor.shape;
    if (ref->input < 0) {
        o->tensor = *tensor;
        o->life = LIFE_CONSTANT_COPY;
        o->length = tensor_bytes(tensor);
        return;
    }
    c->e.in[ref->input] = *tensor;
    o->tensor = *tensor;
    o->tensor.data = NULL;
    if (declared.rank == 0 && tensor->shape.rank)
        o->tensor.shape = declared;
    for (uint32_t d = 0; d < declared.rank && declared.rank == tensor->shape.rank; d++)
        if (!declared.dim[d])
            o->tensor.shape.dim[d] = 0;
}

uint32_t edit_operations(const struct example *e)
{
    uint32_t n = 0;
    for (uint32_t g = 0; g < e->model.n_graphs; g++)
        n += e->model.graph[g].n_operations;
    return n;
}

size_t edit_largest(const struct example *e)
{
    const struct graph *g = &e->model.graph[0];
    size_t most = 0;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        size_t n = g->operand[i].life == LIFE_NO_VALUE ? 0 : tensor_count(&g->operand[i].tensor);
        most = n > most ? n : most;
    }
    for (uint32_t k = 0; k < g->n_inputs; k++)
        most = tensor_count(&e->in[k]) > most ? tensor_count(&e->in[k]) : most;
    return most;
}

/* ---- binding */

bool bind_operation(const struct graph *g, const struct operation *o, struct arena *a,
                    struct call *ret_call)
{
    const struct op *op = op_find(o->code);
    const struct tensor **in = arena_alloc(a, o->n_in + 1, sizeof *in);
    struct tensor **out = arena_alloc(a, o->n_out + 1, sizeof *out);
    struct tensor *copy = arena_alloc(a, o->n_out + 1, sizeof *copy);
    struct why why = { 0 };

    if (!op || !in || !out || !copy)
        return false;
    for (uint32_t k = 0; k < o->n_in; k++)
        in[k] = operand_omitted(&g->operand[o->in[k]]) ? NULL : &g->operand[o->in[k]].tensor;
    for (uint32_t k = 0; k < o->n_out; k++) {
        copy[k] = g->operand[o->out[k]].tensor;
        copy[k].shape = (struct shape){ 0 };
        out[k] = &copy[k];
    }
    return op_bind(op, in, o->n_in, out, o->n_out, false, ret_call, &why) >= 0;
}

bool edit_bind(const struct edit *c, uint32_t graph, uint32_t operation, struct call *ret_call)
{
    const struct graph *g = &c->e.model.graph[graph];
    return bind_operation(g, &g->operation[operation], c->arena, ret_call);
}
