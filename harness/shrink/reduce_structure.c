/* Fewer operations, results and operands. */
#include <string.h>

#include "harness/check/part.h"
#include "harness/shrink/reductions.h"

/* ---- operations */

/* The part of `n` that a site stands for: first runs of half of them, then of a quarter, ..., at
 * last each one.  False: there is no such site. */
static bool part_at(uint32_t n, uint32_t site, uint32_t *ret_from, uint32_t *ret_length)
{
    for (uint32_t length = (n + 1) / 2; n > 1 && length;
         length = length > 1 ? (length + 1) / 2 : 0) {
        uint32_t parts = (n + length - 1) / length;
        if (site < parts) {
            *ret_from = site * length;
            *ret_length = n - *ret_from < length ? n - *ret_from : length;
            return true;
        }
        site -= parts;
    }
    return false;
}

/* The candidate becomes a part of itself. */
static enum reduced take_part(struct edit *c, struct example *part)
{
    struct edit copy;
    struct why why;
    part->name = c->e.name;
    if (edit_copy(part, c->arena, &copy, &why) < 0)
        return REDUCE_NOTHING;
    *c = copy;
    return REDUCE_DONE;
}

enum reduced shrink_operations(struct edit *c, uint32_t site)
{
    uint32_t from, length, n = c->e.model.graph[0].n_operations;
    struct parts p;
    struct example part;
    struct why why;
    if (!part_at(n, site, &from, &length) || parts_find(&c->e, c->arena, &p, &why) < 0)
        return REDUCE_END;
    memmove(p.order + from, p.order + from + length, (n - from - length) * sizeof *p.order);
    if (part_make(&p, p.order, n - length, c->arena, &part, &why) < 0)
        return REDUCE_NOTHING;
    return take_part(c, &part);
}

enum reduced shrink_subgraphs(struct edit *c, uint32_t site)
{
    struct parts p;
    struct example part;
    struct why why;
    if (c->e.model.n_graphs <= 1 || parts_find(&c->e, c->arena, &p, &why) < 0 || site >= p.n_bodies)
        return REDUCE_END;
    if (part_make_body(&p, site, c->arena, &part, &why) < 0)
        return REDUCE_NOTHING;
    return take_part(c, &part);
}

/* ---- outputs */

enum reduced shrink_outputs(struct edit *c, uint32_t site)
{
    uint32_t n = c->e.model.graph[0].n_outputs;
    if (n <= 1 || site >= 2 * n)
        return REDUCE_END;
    if (site >= n) {
        edit_remove_output(c, site - n);
        return REDUCE_DONE;
    }
    for (uint32_t k = n; k-- > 0;) /* only this one stays */
        if (k != site)
            edit_remove_output(c, k);
    return REDUCE_DONE;
}

/* ---- operands of an operation */

/* The operation of a site, if each has `each` sites; *ret_site: the site in it. */
static struct operation *operation_at(struct edit *c, uint32_t site, uint32_t each,
                                      struct call *ret_call, uint32_t *ret_site)
{
    uint32_t index = site / each;
    *ret_site = site % each;
    ret_call->op = NULL;
    for (uint32_t g = 0; g < c->e.model.n_graphs; g++) {
        struct graph *graph = &c->e.model.graph[g];
        if (index < graph->n_operations) {
            if (!edit_bind(c, g, index, ret_call)) {
                ret_call->op = NULL;
                c->next = (site / each + 1) * each;
            }
            return &graph->operation[index];
        }
        index -= graph->n_operations;
    }
    return NULL;
}

enum { MOST_VARIADIC = 16 };

static enum reduced drop_variadic(struct operation *o, const struct call *call, uint32_t site)
{
    if (call->n_many <= 1 || site >= call->n_many)
        return REDUCE_NOTHING;
    uint32_t at = call->many_at + site;
    memmove(&o->in[at], &o->in[at + 1], (o->n_in - at - 1) * sizeof *o->in);
    o->n_in--;
    return REDUCE_DONE;
}

/* Leaves results 0..n-1 of an operation whose number of results an operand holds. */
static enum reduced keep_results(struct edit *c, struct operation *o, const struct call *call,
                                 uint32_t n)
{
    struct graph *g = &c->e.model.graph[0];
    int at = call->op->fanout ? call_arg(call, call->op->fanout - 1) : -1;
    if (at < 0 || n < 1 || n >= o->n_out)
        return REDUCE_NOTHING;
    for (uint32_t k = n; k < o->n_out; k++) {
        if (g->operand[o->out[k]].consumers)
            return REDUCE_NOTHING;
        for (uint32_t i = g->n_outputs; i-- > 0;)
            if (g->output[i] == o->out[k])
                edit_remove_output(c, i);
    }
    o->n_out = n;
    uint32_t scalar = edit_add_scalar(c, 0, DT_INT32, n);
    if (scalar == UINT32_MAX || !g->n_outputs)
        return REDUCE_NOTHING;
    o->in[at] = scalar;
    return REDUCE_DONE;
}

enum reduced shrink_variadic(struct edit *c, uint32_t site)
{
    struct call call;
    uint32_t first = site - site % (2 * MOST_VARIADIC);
    struct operation *o = operation_at(c, site, 2 * MOST_VARIADIC, &call, &site);
    if (!o)
        return REDUCE_END;
    if (!call.op)
        return REDUCE_NOTHING;
    if (!call.n_many && !call.op->fanout)
        c->next = first + 2 * MOST_VARIADIC;
    return site < MOST_VARIADIC ? drop_variadic(o, &call, site)
                                : keep_results(c, o, &call, site - MOST_VARIADIC + 1);
}

/* Omits a run of the operation's optional tensors. */
static enum reduced omit(struct edit *c, const struct call *call, struct operation *o,
                         uint32_t from, uint32_t length)
{
    uint32_t omitted = 0, at = 0;
    for (uint32_t k = 0; k < o->n_in; k++) {
        if (!call->arg[k] || !call_role(call, k)->optional ||
            !dtype_info[call->arg[k]->dtype].tensor)
            continue;
        if (at >= from && at < from + length) {
            if (edit_omit(c, 0, o, k) < 0)
                return REDUCE_NOTHING;
            omitted++;
        }
        at++;
    }
    return omitted ? REDUCE_DONE : REDUCE_NOTHING;
}

enum { OPTIONAL_SITES = 4 * MAX_ROLES };

/* Sites of an operation: leave off the last operands, from `site` on; then omit runs of its
 * optional tensors. */
enum reduced shrink_optional(struct edit *c, uint32_t site)
{
    struct call call;
    uint32_t first = site - site % OPTIONAL_SITES;
    struct operation *o = operation_at(c, site, OPTIONAL_SITES, &call, &site);
    uint32_t from, length, n = 0;
    if (!o)
        return REDUCE_END;
    if (!call.op ||
        (size_t) (o - c->e.model.graph[0].operation) >= c->e.model.graph[0].n_operations)
        return REDUCE_NOTHING;
    for (uint32_t k = 0; k < o->n_in; k++)
        n += call.arg[k] && call_role(&call, k)->optional && dtype_info[call.arg[k]->dtype].tensor;
    if (site < MAX_ROLES) {
        if (site >= o->n_in)
            c->next = first + MAX_ROLES;
        if (site >= o->n_in || !call_role(&call, site)->optional || call_role(&call, site)->placed)
            return REDUCE_NOTHING;
        o->n_in = site;
        return REDUCE_DONE;
    }
    if (n == 1 && site == MAX_ROLES)
        return omit(c, &call, o, 0, 1);
    if (part_at(n, site - MAX_ROLES, &from, &length))
        return omit(c, &call, o, from, length);
    c->next = first + OPTIONAL_SITES;
    return REDUCE_NOTHING;
}

/* ---- forms */

enum { FORM_VALUES = 2 };

/* Rewrites the operands for a shorter form; roles that it has in addition get `value`. */
static enum reduced use_form(struct edit *c, struct operation *o, const struct call *call,
                             const struct form *form, uint32_t value)
{
    uint32_t n = (uint32_t) form_len(form);
    uint32_t *in = arena_alloc(c->arena, n + 1, sizeof *in);
    if (!in || n >= (uint32_t) form_len(call->form) || call->n_many)
        return REDUCE_NOTHING;
    for (uint32_t k = 0; k < n; k++) {
        const struct role *r = &call->op->in[form->role[k]];
        int at = call_arg(call, form->role[k]);
        if (at >= 0) {
            in[k] = o->in[at];
            continue;
        }
        if (r->optional) { /* and all after it */
            n = k;
            break;
        }
        if (r->dims || r->many)
            return REDUCE_NOTHING;
        in[k] = edit_add_scalar(c, 0, role_type(r, call->typing), value);
        if (in[k] == UINT32_MAX)
            return REDUCE_NOTHING;
    }
    o->in = in;
    o->n_in = n;
    return REDUCE_DONE;
}

enum reduced shrink_forms(struct edit *c, uint32_t site)
{
    struct call call;
    struct operation *o = operation_at(c, site, FORM_VALUES * 8, &call, &site);
    if (!o)
        return REDUCE_END;
    if (!call.op || (int) (site / FORM_VALUES) >= call.op->n_forms ||
        (size_t) (o - c->e.model.graph[0].operation) >= c->e.model.graph[0].n_operations)
        return REDUCE_NOTHING;
    return use_form(c, o, &call, &call.op->forms[site / FORM_VALUES], 2 - site % FORM_VALUES);
}
