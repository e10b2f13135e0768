/* Mutations of operations: attributes, omitted operands; other, more or fewer operations. */
#include <math.h>
#include <string.h>

#include "randgraph/mutate_internal.h"

/* ---- operands of an operation */

bool mutate_attributes(struct mutation *m, struct edit *e)
{
    const uint32_t i = rng_below(m->b.rng, e->e.model.graph[0].n_operations);
    const bool all = rng_percent(m->b.rng, 30);
    struct call_form s;
    uint32_t changed = 0;
    if (!call_form_of(m->from, i, &s))
        return false;
    for (uint32_t n = 0, start = rng_below(m->b.rng, s.n_in); n < s.n_in; n++)
        if (all || !changed)
            changed += redraw_attribute(m, e, i, &s, (start + n) % s.n_in);
    return changed && follow_shapes(m, e) && follow_quantisation(m, e, NULL);
}

bool mutate_optional(struct mutation *m, struct edit *e)
{
    const uint32_t i = rng_below(m->b.rng, e->e.model.graph[0].n_operations);
    struct operation *o = &e->e.model.graph[0].operation[i];
    struct call_form s;
    if (!call_form_of(m->from, i, &s))
        return false;
    const uint32_t at = rng_below(m->b.rng, s.n_in);
    const struct role *r = &s.op->in[s.role[at]];
    if (!r->optional || operand_omitted(&e->e.model.graph[0].operand[o->in[at]]))
        return false;
    bool last = !r->placed;
    for (uint32_t k = at + 1; k < s.n_in; k++)
        last = last && s.op->in[s.role[k]].optional && !s.op->in[s.role[k]].placed;
    if (last && (!r->dims || rng_below(m->b.rng, 2)))
        o->n_in = at;
    else if (!r->dims || edit_omit(e, 0, o, at) < 0)
        return false;
    return true;
}

/* ---- another operation */

bool mutate_replaced(struct mutation *m, struct edit *e)
{
    const uint32_t i = rng_below(m->b.rng, e->e.model.graph[0].n_operations);
    const uint32_t start = rng_below(m->b.rng, (uint32_t) op_table_n);
    struct operation *o = &e->e.model.graph[0].operation[i];
    const int32_t old = o->code;
    struct call call;
    for (uint32_t n = 0; n < (uint32_t) op_table_n; n++) {
        const struct op *op = op_table[(start + n) % (uint32_t) op_table_n];
        if (op->code == old || op->control_kind != CONTROL_NONE)
            continue;
        o->code = op->code;
        if (edit_bind(e, 0, i, &call) && op->n_out == call.op->n_out)
            return true;
    }
    return false;
}

/* ---- more operations */

/* Fills the builder with the operands of the example, so that operations can be drawn that read
 * them.  only: the one that they may read; NO_INDEX: any. */
static bool begin_growth(struct mutation *m, const struct edit *e, int32_t only)
{
    const struct graph *g = &e->e.model.graph[0];
    struct builder *b = &m->b;
    bool *open = arena_alloc(e->arena, g->n_operands + 1, sizeof *open);
    b->known = b->live = NULL;
    b->n_graph_values = b->max_graph_values = b->n_live = b->max_live = 0;
    b->types = 0;
    b->control = false;
    b->limit = e->e.model.relaxed ? fp16_limit : 1e6;
    if (!open)
        return false;
    /* results that differ between implementations in number or value are not read */
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct op *op = op_find(g->operation[i].code);
        bool is_open = !op || op->measure || op->error.kind == ERROR_RANDOM;
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            is_open |= open[g->operation[i].in[k]];
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            open[g->operation[i].out[k]] = is_open || result_role(op, k)->unspecified;
    }
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        const int64_t input = input_of(e, i);
        struct graph_value *k = graph_value_new(b, o->tensor.dtype, o->life);
        if (!k)
            return false;
        k->t = input >= 0 ? e->e.in[input] : operand_constant(o) ? o->tensor : m->value[i];
        bool is_known = k->t.data && k->t.dtype < DT_COUNT && dtype_info[k->t.dtype].tensor &&
                        tensor_count(&k->t);
        if (!k->t.data)
            k->t = o->tensor;
        k->result = o->life == LIFE_TEMPORARY || o->life == LIFE_OUTPUT;
        k->uses = o->consumers;
        k->random = !is_known || open[i] || (only != NO_INDEX && (uint32_t) only != i);
        if (is_known)
            graph_value_measure(k);
        k->nonfinite = is_known && !(k->hi - k->lo < (double) INFINITY);
        if (builder_add(b, k) < 0)
            return false;
    }
    for (uint32_t i = 0; i < b->n_live; i++)
        b->types |= 1u << b->live[i]->t.dtype;
    b->operation = arena_copy(b->arena, g->operation, g->n_operations * sizeof *b->operation);
    b->n_operations = b->max_operations = g->n_operations;
    return b->operation && b->n_live;
}

/* Takes over what was drawn.  Results that nothing reads become outputs. */
static bool end_growth(struct mutation *m, struct edit *e)
{
    const struct builder *b = &m->b;
    struct graph *g = &e->e.model.graph[0];
    const uint32_t before = g->n_operands;
    if (b->n_operations == g->n_operations)
        return false;
    for (uint32_t i = before; i < b->n_graph_values; i++) {
        const struct graph_value *k = b->known[i];
        const bool constant = k->life == LIFE_CONSTANT_COPY;
        struct operand o = { .tensor = k->t,
                             .life = k->life,
                             .length = constant ? tensor_bytes(&k->t) : 0 };
        if (!constant)
            o.tensor.data = NULL;
        if (edit_add_operand(e, 0, &o) != i)
            return false;
    }
    g->operation = b->operation;
    g->n_operations = b->n_operations;
    for (uint32_t i = before; i < b->n_graph_values; i++) {
        const struct graph_value *k = b->known[i];
        if (k->life == LIFE_INPUT && edit_add_input(e, i, &k->t) < 0)
            return false;
        if (k->result && !k->uses && edit_add_output(e, i) < 0)
            return false;
    }
    return true;
}

bool mutate_appended(struct mutation *m, struct edit *e)
{
    const uint32_t n = e->e.model.graph[0].n_operations;
    return begin_growth(m, e, NO_INDEX) && grow_graph(&m->b, n + 1 + rng_below(m->b.rng, 2)) == 0 &&
           end_growth(m, e);
}

/* Moves the last operation behind the one that writes the operand, or to the beginning. */
static void move_last(struct graph *g, uint32_t operand)
{
    const uint32_t last = g->n_operations - 1;
    const struct operation moved = g->operation[last];
    uint32_t to = 0;
    for (uint32_t i = 0; i < last; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            if (g->operation[i].out[k] == operand)
                to = i + 1;
    memmove(&g->operation[to + 1], &g->operation[to], (last - to) * sizeof moved);
    g->operation[to] = moved;
}

bool mutate_inserted(struct mutation *m, struct edit *e)
{
    struct graph *g = &e->e.model.graph[0];
    const uint32_t at = rng_below(m->b.rng, g->n_operands), n = g->n_operations;
    struct graph_value *result;
    uint32_t readers = 0;
    if (!begin_growth(m, e, (int32_t) at) ||
        grow_matching(&m->b, m->b.known[at], &m->b.known[at]->t, &result) < 0)
        return false;
    result->uses = 1; /* it takes the place of the value */
    if (m->b.n_operations != n + 1 || !end_growth(m, e))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] == at) {
                g->operation[i].in[k] = (uint32_t) result->at;
                readers++;
            }
    for (uint32_t k = 0; k < g->n_outputs; k++)
        if (g->output[k] == at) {
            g->output[k] = (uint32_t) result->at;
            g->operand[at].life = LIFE_TEMPORARY;
            g->operand[result->at].life = LIFE_OUTPUT;
            readers++;
        }
    move_last(g, at);
    return readers != 0;
}

/* ---- fewer operations */

static void remove_output_of(struct edit *e, uint32_t operand)
{
    const struct graph *g = &e->e.model.graph[0];
    for (uint32_t k = g->n_outputs; k-- > 0;)
        if (g->output[k] == operand)
            edit_remove_output(e, k);
}

/* The results of the removed operation become inputs; results that only it read become outputs. */
bool mutate_removed(struct mutation *m, struct edit *e)
{
    struct graph *g = &e->e.model.graph[0];
    const uint32_t at = rng_below(m->b.rng, g->n_operations);
    const struct operation gone = g->operation[at];
    if (g->n_operations == 1)
        return false;
    for (uint32_t k = 0; k < gone.n_out; k++) {
        struct operand *o = &g->operand[gone.out[k]];
        if (o->life == LIFE_OUTPUT)
            remove_output_of(e, gone.out[k]);
        if (!o->consumers)
            continue;
        if (!m->value[gone.out[k]].data ||
            edit_add_input(e, gone.out[k], &m->value[gone.out[k]]) < 0)
            return false;
    }
    for (uint32_t k = 0; k < gone.n_in; k++) {
        const struct operand *o = &g->operand[gone.in[k]];
        if (o->life == LIFE_TEMPORARY && o->consumers == 1 && edit_add_output(e, gone.in[k]) < 0)
            return false;
    }
    memmove(&g->operation[at], &g->operation[at + 1],
            (g->n_operations - at - 1) * sizeof *g->operation);
    g->n_operations--;
    return true;
}
