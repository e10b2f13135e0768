/* Mutations of operands: values, sizes, element types, quantisation, lifetimes, outputs. */
#include <math.h>
#include <string.h>

#include "golden/edit/ties.h"
#include "randgraph/mutate_internal.h"

/* ---- values */

/* What all operations that read the value need, as one role; *ret_op: the last of them, or NULL.
 * False: the record of one draws it. */
static bool needs_of(const struct edit *e, const struct value_ref *ref, struct role *ret,
                     const struct op **ret_op)
{
    const struct graph *g = &e->e.model.graph[ref->graph];
    *ret = (struct role){ .dims = "?" };
    *ret_op = NULL;
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++) {
            struct call call;
            if (g->operation[i].in[k] != ref->operand || !edit_bind(e, ref->graph, i, &call))
                continue;
            const struct role *r = call_role(&call, k);
            unsigned needs = ret->needs | r->needs, likes = ret->likes | r->likes;
            if (r->draw == DRAW_OP || !r->dims)
                return false;
            if (!*ret_op || r->q != Q_FREE)
                *ret = *r;
            ret->needs = needs;
            ret->likes = likes;
            *ret_op = call.op;
        }
    return true;
}

bool refill(struct mutation *m, struct edit *e, const struct value_ref *ref, struct tensor *t)
{
    struct role role;
    const struct op *op;
    if (!dtype_info[t->dtype].tensor || t->dtype >= DT_COUNT || !needs_of(e, ref, &role, &op))
        return false;
    t->data = arena_alloc(e->arena, tensor_bytes(t) + 1, 1);
    return t->data && fill_values(&m->b, op, &role, t) == 0;
}

bool mutate_values(struct mutation *m, struct edit *e)
{
    struct value_ref *refs;
    uint32_t n = edit_values(e, &refs), filled = 0;
    bool all = rng_percent(m->b.rng, 50);
    uint32_t only = n ? rng_below(m->b.rng, n) : 0;
    for (uint32_t i = 0; i < n; i++) {
        struct tensor t = *edit_tensor(e, &refs[i]);
        if ((!all && i != only) || !refill(m, e, &refs[i], &t))
            continue;
        edit_set_value(e, &refs[i], &t);
        filled++;
    }
    return filled != 0;
}

/* ---- sizes */

/* A new size, mostly a small one or a neighbour of the present one. */
static uint32_t draw_size(struct mutation *m, uint32_t old)
{
    struct rng *r = m->b.rng;
    const uint32_t most = m->b.options->max_dim, usual = most < 10 ? most : 10;
    uint32_t size;
    switch (rng_below(r, 8)) {
    case 0: return 1;
    case 1: size = old + 1; break;
    case 2: size = old > 1 ? old - 1 : 2; break;
    case 3: size = 1 + rng_below(r, most); break;
    default: size = 1 + rng_below(r, usual); break;
    }
    return size > most && size > old ? old : size;
}

/* Scales for another number of channels: those that there are, again and again. */
static bool resize_scales(struct edit *e, struct tensor *t, uint32_t size)
{
    float *scale = arena_alloc(e->arena, size + 1, sizeof *scale);
    for (uint32_t i = 0; scale && i < size; i++)
        scale[i] = t->n_channels ? t->channel_scale[i % t->n_channels] : 1;
    t->channel_scale = scale;
    t->n_channels = size;
    return scale != NULL;
}

static bool resize(struct mutation *m, struct edit *e, const struct value_ref *ref, uint32_t dims,
                   uint32_t size)
{
    struct tensor t = *edit_tensor(e, ref);
    for (uint32_t d = 0; d < t.shape.rank; d++)
        if (dims >> d & 1)
            t.shape.dim[d] = size;
    if (tensor_count(&t) > m->b.max_elements)
        return false;
    if (t.channel_scale && (dims >> t.channel_dim & 1) && !resize_scales(e, &t, size))
        return false;
    if (!refill(m, e, ref, &t))
        return false;
    edit_set_value(e, ref, &t);
    return true;
}

/* Resizes a dimension of value `at` and those that go with it. */
static bool resize_together(struct mutation *m, struct edit *e, const struct value_ref *refs,
                            uint32_t n, uint32_t at, uint32_t dim)
{
    static const enum together kinds[] = { TIED, TIED, TIED, TIED, EQUAL, EQUAL, ALONE };
    enum together kind = kinds[rng_below(m->b.rng, COUNT(kinds))];
    const uint32_t old = edit_tensor(e, &refs[at])->shape.dim[dim], size = draw_size(m, old);
    struct ties ties;
    if (size == old || !ties_find(m->from, &ties))
        return false;
    for (uint32_t i = 0; i < n; i++) {
        const struct shape s = edit_tensor(e, &refs[i])->shape;
        uint32_t dims = 0;
        for (uint32_t d = 0; d < s.rank; d++)
            if (goes_together(&ties, kind, &refs[at], dim, &refs[i], d, s.dim[d] == old))
                dims |= 1u << d;
        /* tensors that records draw follow the others (follow_shapes()) */
        if (dims && !resize(m, e, &refs[i], dims, size) && i == at)
            return false;
    }
    return follow_shapes(m, e);
}

bool mutate_sizes(struct mutation *m, struct edit *e)
{
    struct value_ref *refs;
    uint32_t n = edit_values(e, &refs), tensors = 0;
    for (uint32_t i = 0; i < n; i++)
        tensors += edit_tensor(e, &refs[i])->shape.rank != 0;
    uint32_t skip = tensors ? rng_below(m->b.rng, tensors) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = edit_tensor(e, &refs[i])->shape.rank;
        if (rank && skip-- == 0)
            return resize_together(m, e, refs, n, i, rng_below(m->b.rng, rank));
    }
    return false;
}

/* ---- element types */

/* Real range of a tensor that has data. */
static void range_of(const struct tensor *t, double *ret_lo, double *ret_hi)
{
    size_t n = t->data ? tensor_count(t) : 0;
    *ret_lo = n ? INFINITY : -1;
    *ret_hi = n ? -INFINITY : 1;
    for (size_t i = 0; i < n; i++) {
        double x = tensor_at(t, i);
        *ret_lo = x < *ret_lo ? x : *ret_lo;
        *ret_hi = x > *ret_hi ? x : *ret_hi;
    }
    if (!(*ret_hi - *ret_lo < 0x1p60)) /* infinite, or NaN */
        *ret_lo = -1, *ret_hi = 1;
}

/* Converts a value of the example to the type, scale and zero point of *t. */
static bool convert_value(struct edit *e, uint32_t operand, struct tensor *t)
{
    const struct operand *o = &e->e.model.graph[0].operand[operand];
    const struct value_ref ref = { 0, operand, input_of(e, operand) };
    const struct tensor *from = ref.input >= 0 ? &e->e.in[ref.input] : &o->tensor;
    double *v = arena_alloc(e->arena, tensor_count(from) + 1, sizeof *v);
    t->shape = from->shape;
    if (!from->data) { /* a result, or an omitted input */
        struct operand *to = &e->e.model.graph[0].operand[operand];
        if (ref.input >= 0)
            e->e.in[ref.input] = *t;
        t->shape = to->tensor.shape;
        to->tensor = *t;
        return true;
    }
    t->data = arena_alloc(e->arena, tensor_count(from) + 1, 8);
    if (!v || !t->data)
        return false;
    tensor_widen(from, v);
    tensor_narrow(v, t);
    edit_set_value(e, &ref, t);
    return true;
}

/* Converts operand `at` of a call to its type in the draft's row. */
static bool convert_input(struct mutation *m, struct edit *e, struct draft *d, uint32_t operation,
                          uint32_t at)
{
    const uint32_t index = e->e.model.graph[0].operation[operation].in[at];
    const struct operand *o = &e->e.model.graph[0].operand[index];
    const struct role *r = &d->op->in[d->role[at]];
    const enum dtype to = role_type(r, d->typing);
    if (o->tensor.dtype == to)
        return true;
    if (dtype_info[to].tensor != dtype_info[o->tensor.dtype].tensor || o->tensor.extension ||
        o->life == LIFE_SUBGRAPH || (dtype_info[to].quant == QUANT_CHANNEL && !o->tensor.data))
        return false;
    struct tensor t = { .dtype = to, .shape = o->tensor.shape };
    const int64_t input = input_of(e, index);
    const struct tensor *known = input >= 0       ? &e->e.in[input]
                                 : o->tensor.data ? &o->tensor
                                                  : &m->value[index];
    double lo, hi;
    if (scale_for_operand(d, at, &t) < 0)
        return false;
    range_of(known, &lo, &hi);
    if (scale_is_free(r, to) || (at == 0 && r->q == Q_SAME))
        if (dtype_info[to].quant != QUANT_NONE)
            scale_result(d, r, lo, hi, &t);
    if (operand_omitted(o))
        t.scale = t.scale > 0 ? t.scale : dtype_info[to].quant == QUANT_AFFINE;
    return convert_value(e, index, &t);
}

static bool convert_result(struct mutation *m, struct edit *e, struct draft *d, uint32_t operation,
                           uint32_t k)
{
    const uint32_t index = e->e.model.graph[0].operation[operation].out[k];
    const struct operand *o = &e->e.model.graph[0].operand[index];
    const struct role *r = result_role(d->op, k);
    struct tensor t = { .dtype = role_type(r, d->typing), .shape = o->tensor.shape };
    double lo, hi;
    if (o->tensor.dtype == t.dtype)
        return true;
    scale_preliminary(d, r, &t);
    range_of(&m->value[index], &lo, &hi);
    if (scale_is_free(r, t.dtype))
        scale_result(d, r, lo, hi, &t);
    return convert_value(e, index, &t);
}

/* Converts an operation to a row whose first type is `to`. */
static bool convert_operation(struct mutation *m, struct edit *e, uint32_t operation,
                              struct call_form *s, enum dtype to)
{
    const struct operation *o = &e->e.model.graph[0].operation[operation];
    const int slot = s->op->in[s->role[0]].slot;
    const struct typing *row[64];
    uint32_t n = 0;
    struct draft d;
    for (int i = 0; i < s->op->n_typings && n < COUNT(row); i++)
        if (s->op->typings[i].slot[slot] == to)
            row[n++] = &s->op->typings[i];
    if (!n)
        return false;
    s->typing = row[rng_below(m->b.rng, n)];
    if (!redraft(m, e, operation, s, 0, &d))
        return false;
    for (uint32_t k = 0; k < s->n_in; k++) {
        if (!convert_input(m, e, &d, operation, k))
            return false;
        redraft_next(&d, e, operation, k);
    }
    for (uint32_t k = 0; k < o->n_out; k++)
        if (!convert_result(m, e, &d, operation, k))
            return false;
    return true;
}

/* All operations whose first operand has one type get another. */
bool mutate_types(struct mutation *m, struct edit *e)
{
    static const enum dtype types[] = { DT_F32, DT_F16, DT_U8, DT_S8 };
    const struct graph *g = &e->e.model.graph[0];
    struct call_form *s = arena_alloc(e->arena, g->n_operations + 1, sizeof *s);
    const enum dtype to = types[rng_below(m->b.rng, COUNT(types))];
    uint32_t start = rng_below(m->b.rng, g->n_operations);
    if (!s || e->e.model.n_graphs > 1)
        return false;
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!call_form_of(m->from, i, &s[i]))
            return false;
    if (s[start].op->in[s[start].role[0]].slot < 0)
        return false;
    const enum dtype from = role_type(&s[start].op->in[s[start].role[0]], s[start].typing);
    if (from == to)
        return false;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct role *first = &s[i].op->in[s[i].role[0]];
        if (first->slot >= 0 && role_type(first, s[i].typing) == from &&
            !convert_operation(m, e, i, &s[i], to))
            return false;
    }
    return follow_quantisation(m, e, s);
}

/* ---- quantisation */

static bool new_scales(struct mutation *m, struct edit *e, uint32_t operand)
{
    struct tensor *t = &e->e.model.graph[0].operand[operand].tensor;
    float *scale = arena_alloc(e->arena, t->n_channels + 1, sizeof *scale);
    for (uint32_t i = 0; scale && i < t->n_channels; i++)
        scale[i] = t->channel_scale[i] * (float) (0.5 + rng_unit(m->b.rng));
    t->channel_scale = scale;
    return scale != NULL;
}

bool mutate_quantisation(struct mutation *m, struct edit *e)
{
    const struct graph *g = &e->e.model.graph[0];
    const uint32_t at = rng_below(m->b.rng, g->n_operands);
    const struct operand *o = &g->operand[at];
    struct tensor t = o->tensor;
    enum quant quant = dtype_info[t.dtype].quant;
    double lo, hi;
    if (e->e.model.n_graphs > 1 || o->life == LIFE_NO_VALUE ||
        (quant != QUANT_AFFINE && quant != QUANT_SYMM && quant != QUANT_CHANNEL))
        return false;
    if (quant == QUANT_CHANNEL) {
        if (!t.channel_scale || !new_scales(m, e, at))
            return false;
        return follow_quantisation(m, e, NULL);
    }
    if (o->life == LIFE_TEMPORARY || o->life == LIFE_OUTPUT)
        range_of(&m->value[at], &lo, &hi);
    else
        lo = hi = 0;
    double reach = fmax(fabs(lo), fabs(hi));
    scale_random(&m->b, reach > 0 ? reach : 1 + rng_below(m->b.rng, 4), &t);
    edit_set_quant(e, at, t.scale, t.zero);
    return follow_quantisation(m, e, NULL);
}

/* ---- lifetimes and outputs */

bool mutate_lifetime(struct mutation *m, struct edit *e)
{
    struct graph *g = &e->e.model.graph[0];
    const uint32_t at = rng_below(m->b.rng, g->n_operands);
    const struct operand *o = &g->operand[at];
    const int64_t input = input_of(e, at);
    if (!dtype_info[o->tensor.dtype].tensor)
        return false;
    if (input >= 0)
        return edit_make_constant(e, (uint32_t) input);
    if (!operand_constant(o) || !o->length || dtype_info[o->tensor.dtype].quant == QUANT_CHANNEL)
        return false;
    struct tensor value = o->tensor;
    return edit_add_input(e, at, &value) == 0;
}

bool mutate_outputs(struct mutation *m, struct edit *e)
{
    const struct graph *g = &e->e.model.graph[0];
    const uint32_t at = rng_below(m->b.rng, g->n_operands);
    if (g->operand[at].life == LIFE_TEMPORARY)
        return edit_add_output(e, at) == 0;
    if (g->operand[at].life != LIFE_OUTPUT || g->n_outputs == 1)
        return false;
    for (uint32_t k = 0; k < g->n_outputs; k++)
        if (g->output[k] == at) {
            edit_remove_output(e, k);
            return true;
        }
    return false;
}

bool mutate_relaxed(struct mutation *m, struct edit *e)
{
    const struct graph *g = &e->e.model.graph[0];
    (void) m;
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operand[i].tensor.dtype == DT_F32) {
            e->e.model.relaxed = !e->e.model.relaxed;
            return true;
        }
    return false;
}
