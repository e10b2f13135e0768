/* Plainer types, quantisation and lifetimes. */
#include <math.h>
#include <string.h>

#include "harness/shrink/reductions.h"

/* ---- types */

/* Converts an operand, and its value if it has one, to a type without quantisation. */
static bool convert(struct edit *c, uint32_t operand, enum dtype to)
{
    struct operand *o = &c->e.model.graph[0].operand[operand];
    struct value_ref *refs;
    uint32_t n = edit_values(c, &refs);
    if (o->tensor.dtype == to)
        return true;
    if (dtype_info[to].tensor != dtype_info[o->tensor.dtype].tensor || o->tensor.extension)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        if (refs[i].graph || refs[i].operand != operand)
            continue;
        const struct tensor *from = edit_tensor(c, &refs[i]);
        struct tensor t = { .dtype = to, .shape = from->shape };
        double *v = arena_alloc(c->arena, tensor_count(from) + 1, sizeof *v);
        t.data = arena_alloc(c->arena, tensor_count(from) + 1, 8);
        if (!v || !t.data)
            return false;
        tensor_widen(from, v);
        tensor_narrow(v, &t);
        edit_set_value(c, &refs[i], &t);
        return true;
    }
    o->tensor = (struct tensor){ .dtype = to, .shape = o->tensor.shape };
    return true;
}

/* The typing row of a call in which its first slot is that type; NULL: it has none. */
static const struct typing *row_with(const struct op *op, int slot, enum dtype dtype)
{
    for (int i = 0; i < op->n_typings; i++)
        if (op->typings[i].slot[slot] == dtype)
            return &op->typings[i];
    return NULL;
}

/* Converts the operands of an operation whose main type is not float32 to the row that is. */
static bool convert_operation(struct edit *c, uint32_t operation, bool *ret_changed)
{
    const struct operation *o = &c->e.model.graph[0].operation[operation];
    struct call call;
    if (!edit_bind(c, 0, operation, &call))
        return false;
    const struct role *first = call_role(&call, 0);
    const struct typing *row = first->slot >= 0 ? row_with(call.op, first->slot, DT_F32) : NULL;
    if (!row || call.op->control_kind != CONTROL_NONE)
        return false;
    for (uint32_t k = 0; k < o->n_in; k++) {
        enum dtype to = role_type(call_role(&call, k), row);
        *ret_changed = *ret_changed || c->e.model.graph[0].operand[o->in[k]].tensor.dtype != to;
        if (!convert(c, o->in[k], to))
            return false;
    }
    for (uint32_t k = 0; k < o->n_out; k++) {
        int role = (int) k < call.op->n_out ? (int) k : call.op->n_out - 1;
        if (!convert(c, o->out[k], role_type(&call.op->out[role], row)))
            return false;
    }
    return true;
}

enum reduced shrink_types(struct edit *c, uint32_t site)
{
    bool changed = false;
    if (site)
        return REDUCE_END;
    for (uint32_t i = 0; i < c->e.model.graph[0].n_operations; i++)
        if (!convert_operation(c, i, &changed))
            return REDUCE_END;
    return changed ? REDUCE_DONE : REDUCE_END;
}

/* ---- quantisation */

static bool has_scale(const struct tensor *t)
{
    enum quant q = dtype_info[t->dtype].quant;
    return q == QUANT_AFFINE || q == QUANT_SYMM;
}

/* Plain scales, plainest first. */
static const float plain_scale[] = { 1, 0.5F, 2, 0.25F, 0.125F, 0.0625F };

static int rank_of_scale(float scale)
{
    int exponent;
    for (int i = 0; i < COUNT(plain_scale); i++)
        if (scale >= plain_scale[i] && scale <= plain_scale[i])
            return i;
    return frexpf(scale, &exponent) > 0.5F ? COUNT(plain_scale) + 1 : COUNT(plain_scale);
}

static float power_near(float scale)
{
    return exp2f(roundf(log2f(scale)));
}

/* Biases have the product of the scales of the two operands before them. */
static void set_bias_scales(struct edit *c)
{
    struct graph *g = &c->e.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        const struct op *op = op_find(o->code);
        for (uint32_t k = 2; op && k < o->n_in && k < (uint32_t) op->n_in; k++) {
            const struct tensor *a = &g->operand[o->in[0]].tensor,
                                *b = &g->operand[o->in[1]].tensor;
            const struct operand *bias = &g->operand[o->in[k]];
            if (op->in[k].q == Q_PRODUCT && dtype_info[bias->tensor.dtype].quant == QUANT_BIAS &&
                has_scale(a) && has_scale(b))
                edit_set_quant(c, o->in[k], a->scale * b->scale, 0);
        }
    }
}

enum { TO_SCALES = 7, QUANT_CHOICES = TO_SCALES + 1 };

/* What changes with the scale of an operand. */
enum also { EQUAL_SCALES, NOTHING_ELSE, RESULTS, ALSO_KINDS };

/* Changes the scales of the only operation's results as much. */
static void scale_results(struct edit *c, double factor)
{
    const struct graph *g = &c->e.model.graph[0];

    for (uint32_t i = 0; i < g->operation[0].n_out; i++) {
        const struct tensor *t = &g->operand[g->operation[0].out[i]].tensor;
        if (has_scale(t))
            edit_set_quant(c, g->operation[0].out[i], (float) (factor * (double) t->scale),
                           t->zero);
    }
}

/* Gives the operand at `at`, and all that have its scale and zero point, a plainer one. */
static enum reduced plain_quant(struct edit *c, uint32_t at, uint32_t choice, enum also also)
{
    struct graph *g = &c->e.model.graph[0];
    float scale = g->operand[at].tensor.scale, to = scale;
    int32_t zero = g->operand[at].tensor.zero, to_zero = zero;
    if (choice == 0)
        to_zero = 0;
    else
        to = choice <= (uint32_t) COUNT(plain_scale) ? plain_scale[choice - 1] : power_near(scale);
    if (choice ? rank_of_scale(to) >= rank_of_scale(scale) : !zero)
        return REDUCE_NOTHING;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct tensor *t = &g->operand[i].tensor;
        bool equal = t->scale >= scale && t->scale <= scale && t->zero == zero;
        if (has_scale(t) && (i == at || (also == EQUAL_SCALES && equal)))
            edit_set_quant(c, i, to, to_zero);
    }
    if (also == RESULTS)
        scale_results(c, (double) to / (double) scale);
    set_bias_scales(c);
    return REDUCE_DONE;
}

enum reduced shrink_scales(struct edit *c, uint32_t site)
{
    struct graph *g = &c->e.model.graph[0];
    const uint32_t per_operand = ALSO_KINDS * QUANT_CHOICES;
    uint32_t at = site / per_operand, choice = site % per_operand;
    enum also also = (enum also)(choice / QUANT_CHOICES);
    if (c->e.model.n_graphs > 1 || at >= g->n_operands)
        return REDUCE_END;
    if (!has_scale(&g->operand[at].tensor))
        return REDUCE_NOTHING;
    choice %= QUANT_CHOICES;
    if (also == RESULTS && (choice == 0 || g->n_operations > 1))
        return REDUCE_NOTHING;
    return plain_quant(c, at, choice, also);
}

/* ---- flags and lifetimes */

enum reduced shrink_flags(struct edit *c, uint32_t site)
{
    struct model *m = &c->e.model;
    bool changed = false;
    if (site == 0) {
        changed = m->relaxed;
        m->relaxed = false;
        return changed ? REDUCE_DONE : REDUCE_NOTHING;
    }
    if (site > 1)
        return REDUCE_END;
    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (m->graph[g].operand[i].life == LIFE_CONSTANT_REFERENCE) {
                m->graph[g].operand[i].life = LIFE_CONSTANT_COPY;
                changed = true;
            }
    m->n_pools = 0;
    return changed ? REDUCE_DONE : REDUCE_END;
}

/* Whether operation `i` of the main graph reads the operand as weights, or in a role of values. */
static bool is_weight(const struct edit *c, uint32_t operand, bool *ret_found)
{
    const struct graph *g = &c->e.model.graph[0];
    struct call call;
    *ret_found = false;
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] == operand && edit_bind(c, 0, i, &call)) {
                *ret_found = true;
                return call_role(&call, k)->needs & NEEDS_CONST;
            }
    return false;
}

enum reduced shrink_lifetimes(struct edit *c, uint32_t site)
{
    struct graph *g = &c->e.model.graph[0];
    bool found;
    if (site >= g->n_operands)
        return REDUCE_END;
    const struct operand *o = &g->operand[site];
    bool weight = is_weight(c, site, &found);
    if (!found)
        return REDUCE_NOTHING;
    if (o->life == LIFE_INPUT && (weight || !dtype_info[o->tensor.dtype].tensor))
        for (uint32_t k = 0; k < g->n_inputs; k++)
            if (g->input[k] == site)
                return edit_make_constant(c, k) ? REDUCE_DONE : REDUCE_NOTHING;
    if (!operand_constant(o) || !o->length || weight || !dtype_info[o->tensor.dtype].tensor)
        return REDUCE_NOTHING;
    struct tensor value = o->tensor;
    return edit_add_input(c, site, &value) < 0 ? REDUCE_NOTHING : REDUCE_DONE;
}
