/* Whether a profile's rules support a call. */
#include "sim/device/profile.h"

#include <string.h>

#define REFUSE(w, ...) return why_fail(w, WHY_UNSUPPORTED, __VA_ARGS__)

static bool lists(const struct rule *r, const struct op *op)
{
    for (uint32_t i = 0; i < r->n_ops; i++)
        if (r->op[i] == op)
            return true;
    return false;
}

/* Checks the limits on single operands. */
static int check_operand(const struct rule *r, const struct role *role, const struct tensor *t,
                         struct why *w)
{
    uint64_t count = 1;

    if (role->slot < 0 || !dtype_info[t->dtype].tensor)
        return 0;
    if (t->dtype < DT_COUNT && !(r->types >> t->dtype & 1u)) /* others: of supported extensions */
        REFUSE(w, "%s has type %s", role->name, dtype_info[t->dtype].name);
    if (r->max_rank && t->shape.rank > r->max_rank)
        REFUSE(w, "%s has rank %u, at most %u", role->name, t->shape.rank, r->max_rank);
    for (uint32_t d = 0; d < t->shape.rank; d++)
        count *= t->shape.dim[d];
    if (r->max_elements && count > r->max_elements)
        REFUSE(w, "%s has %llu elements, at most %llu", role->name, (unsigned long long) count,
               (unsigned long long) r->max_elements);
    return 0;
}

static int check_operands(const struct rule *r, const struct call *c, struct why *w)
{
    for (int i = 0; i < c->op->n_in; i++) {
        const struct role *role = &c->op->in[i];
        if (!c->in[i])
            continue;
        if (!role->many)
            TRY(check_operand(r, role, c->in[i], w));
        for (uint32_t k = 0; role->many && k < c->n_many; k++)
            if (c->arg[c->many_at + k])
                TRY(check_operand(r, role, c->arg[c->many_at + k], w));
    }
    for (uint32_t k = 0; k < c->n_out; k++) {
        int role = (int) k < c->op->n_out ? (int) k : c->op->n_out - 1;
        TRY(check_operand(r, &c->op->out[role], c->out[k], w));
    }
    return 0;
}

static int find_role(const struct op *op, const char *name)
{
    for (int i = 0; i < op->n_in; i++)
        if (strcmp(op->in[i].name, name) == 0)
            return i;
    return -1;
}

/* A scalar's value; 0 if the operation has none, it is omitted or not known. */
static uint32_t scalar(const struct call *c, const char *name)
{
    int role = find_role(c->op, name);

    return role >= 0 && c->in[role] && call_known(c, role) ? (uint32_t) call_int(c, role) : 0;
}

/* Size of the window, from the filter or from scalars; 0 where it is not known. */
static struct window_size window_size(const struct call *c)
{
    int filter = find_role(c->op, "filter");

    if (filter >= 0 && c->in[filter] && c->in[filter]->shape.rank == 4)
        return (struct window_size){ c->in[filter]->shape.dim[1], c->in[filter]->shape.dim[2] };
    return (struct window_size){ scalar(c, "filter_height"), scalar(c, "filter_width") };
}

static int check_window(const struct rule *r, const struct call *c, struct why *w)
{
    struct window_size s = window_size(c);
    bool listed = !r->n_windows || !s.h || !s.w;

    for (uint32_t i = 0; i < r->n_windows; i++)
        listed |= r->windows[i].h == s.h && r->windows[i].w == s.w;
    if (!listed)
        REFUSE(w, "window %ux%u", s.h, s.w);
    if (r->max_window && (s.h > r->max_window || s.w > r->max_window))
        REFUSE(w, "window %ux%u, at most %u", s.h, s.w, r->max_window);
    uint32_t sy = scalar(c, "stride_height"), sx = scalar(c, "stride_width");
    if (r->max_stride && (sy > r->max_stride || sx > r->max_stride))
        REFUSE(w, "stride %ux%u, at most %u", sy, sx, r->max_stride);
    uint32_t dy = scalar(c, "dilation_height"), dx = scalar(c, "dilation_width");
    if (r->max_dilation && (dy > r->max_dilation || dx > r->max_dilation))
        REFUSE(w, "dilation %ux%u, at most %u", dy, dx, r->max_dilation);
    return 0;
}

static int check_rule(const struct rule *r, const struct call *c, const bool *constant,
                      struct why *w)
{
    if (!r->nchw && c->op->layout && scalar(c, c->op->in[c->op->layout - 1].name))
        REFUSE(w, "NCHW");
    TRY(check_operands(r, c, w));
    TRY(check_window(r, c, w));
    if (!r->broadcast && c->n_in >= 2 && c->arg[0] && c->arg[1] &&
        !shape_equal(&c->arg[0]->shape, &c->arg[1]->shape))
        REFUSE(w, "operands of different shapes");
    for (uint32_t i = 0; i < r->n_constants; i++) {
        int role = find_role(c->op, r->constants[i]);
        int at = role >= 0 && c->in[role] ? call_arg(c, role) : -1;
        if (at >= 0 && !constant[at])
            REFUSE(w, "%s is not constant", r->constants[i]);
    }
    return 0;
}

int profile_supports(const struct profile *p, const struct call *c, const bool *constant,
                     struct why *w)
{
    bool known = false;

    if (extension_prefix_of(c->op->code)) /* extensions are supported as a whole */
        return 0;
    for (uint32_t i = 0; i < p->n_rules; i++) {
        if (!lists(&p->rules[i], c->op))
            continue;
        if (check_rule(&p->rules[i], c, constant, w) == 0)
            return 0;
        known = true;
    }
    if (!known)
        REFUSE(w, "%s is not an operation of this device", c->op->name);
    return why_prefix(w, "%s", c->op->name);
}
